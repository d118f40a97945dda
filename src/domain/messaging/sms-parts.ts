export interface SmsSize {
  encoding: 'gsm7' | 'ucs2'
  characters: number
  parts: number
}

/** The letters of GSM 03.38. Those in `extended` need an escape before them and count as two units. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extendedCharacters = new Set('\f^{}\\[~]|€')

/** The units that fit into a single SMS, and into each part of a longer one, which has a header. */
const gsm = { single: 160, part: 153 }
const ucs = { single: 70, part: 67 }

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function countParts(sizes: readonly number[], { single, part }: typeof gsm): number {
  if (sizes.reduce((sum, size) => sum + size, 0) <= single) return 1
  let [parts, left] = [0, 0]
  for (const size of sizes) {
    if (size > left) {
      // A letter with hundreds of marks fits into no part, so it is split.
      parts += Math.ceil(size / part)
      left = Math.ceil(size / part) * part - size
    } else left -= size
  }
  return parts
}

/** Measures each letter in units. Returns null when a letter is not in GSM-7. */
function measureGsmLetters(text: string): number[] | null {
  const sizes: number[] = []
  for (const letter of text) {
    if (basic.has(letter)) sizes.push(1)
    else if (extendedCharacters.has(letter)) sizes.push(2)
    else return null
  }
  return sizes
}

const maxListedCharacters = 20

/** Lists the characters of a text that GSM-7 does not have, each once. One of them makes every part shorter. */
export function listUcs2Characters(text: string): string[] {
  const characters = new Set<string>()
  for (const { segment } of graphemes.segment(text)) {
    if (characters.size === maxListedCharacters) break
    if (measureGsmLetters(segment) === null) characters.add(segment)
  }
  return [...characters]
}

/**
 * Measures a text as an SMS. Polish letters and emoji make each part shorter, and no part ends within a letter. The
 * result equals that of `sms-segments-calculator`, which a test checks, but takes linear time: texts may have 100,000
 * characters.
 */
export function measureSms(text: string): SmsSize {
  const gsmSizes = measureGsmLetters(text)
  if (gsmSizes)
    return {
      encoding: 'gsm7',
      characters: gsmSizes.reduce((sum, size) => sum + size, 0),
      parts: countParts(gsmSizes, gsm),
    }
  const sizes = [...graphemes.segment(text)].flatMap(({ segment }) => (segment === '\r\n' ? [1, 1] : [segment.length]))
  return { encoding: 'ucs2', characters: sizes.length, parts: countParts(sizes, ucs) }
}
