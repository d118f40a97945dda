/**
 * Soft hyphens, joiners, zero-width characters, marks of direction, byte order marks, and the blank letters of Hangul,
 * Khmer and Braille, which people type into fields that must not be empty.
 */
const invisibleRanges = [
  String.raw`\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200F\u202A-\u202E`,
  String.raw`\u2060-\u206F\u2800\u3164\uFEFF\uFFA0`,
].join('')

const invisibleCharacter = new RegExp(`[${invisibleRanges}]`, 'u')
const invisibleCharacters = new RegExp(`[${invisibleRanges}]+`, 'gu')

const notPlain = /[^\x21-\x7e]/

/**
 * Scripts such as Persian and Hindi need joiners between letters, and emoji are joined by them. Elsewhere nobody can see
 * them.
 */
const beforeJoiner = String.raw`[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]`
const afterJoiner = String.raw`[\p{L}\p{Extended_Pictographic}]`
const invisibleInNames = new RegExp(
  `(?!(?<=${beforeJoiner})[\\u200C\\u200D](?=${afterJoiner}))[${invisibleRanges}]`,
  'gu',
)

const collapseSpaces = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/[\s\p{Z}]+/gu, ' ')
    .trim()

export const hasInvisible = (text: string): boolean => invisibleCharacter.test(text)

export const dropInvisible = (text: string): string =>
  notPlain.test(text) ? text.replaceAll(invisibleCharacters, '') : text

/** Converts an id, an address or a number to the form that is compared: NFC, and nothing in it is invisible. */
export const cleanKey = (text: string): string => (notPlain.test(text) ? collapseSpaces(dropInvisible(text)) : text)

/** Converts a name to the form that is stored: as `cleanKey`, with the joiners that belong to its script. */
export const cleanName = (text: string): string =>
  notPlain.test(text) ? collapseSpaces(text.replaceAll(invisibleInNames, '')) : text
