/** Soft hyphens, joiners, zero-width characters, marks of direction, byte order marks, and blank letters. */
const invisibleRanges = [
  String.raw`\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200F\u202A-\u202E`,
  String.raw`\u2060-\u206F\u2800\u3164\uFEFF\uFFA0`,
].join('')

const invisibleCharacters = new RegExp(`[${invisibleRanges}]+`, 'gu')

/** A character that is trimmed from the ends of a cell. */
export const invisibleOrSpace = new RegExp(`[\\s${invisibleRanges}]`, 'u')

/** The form in which words are compared: small letters without accents, with one apostrophe and one hyphen. */
export const fold = (text: string): string =>
  text
    .replaceAll(invisibleCharacters, '')
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cc}]/gu, '')
    .replaceAll('ł', 'l')
    .replaceAll(/[`\u02B9\u02BB-\u02BD\u2018\u2019\u201B\u2032]/g, "'")
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
