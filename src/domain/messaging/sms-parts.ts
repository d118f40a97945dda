export interface SmsSize {
  encoding: 'GSM-7' | 'UCS-2'
  characters: number
  parts: number
}

/** GSM 03.38: letters of one unit, and those that take an escape before them. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extended = new Set('\f^{}\\[~]|€')

/** Units of a message alone, and of each of several: they have a header. */
const gsm = { alone: 160, each: 153 }
const ucs = { alone: 70, each: 67 }

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

function countParts(sizes: readonly number[], { alone, each }: typeof gsm): number {
  if (sizes.reduce((sum, size) => sum + size, 0) <= alone) return 1
  let [parts, left] = [0, 0]
  for (const size of sizes) {
    if (size > left) {
      // A letter with hundreds of marks fits into no part, so it is cut.
      parts += Math.ceil(size / each)
      left = Math.ceil(size / each) * each - size
    } else left -= size
  }
  return parts
}

/** The units of each letter; null when one of them is not in GSM-7. */
function measureGsmLetters(text: string): number[] | null {
  const sizes: number[] = []
  for (const letter of text) {
    if (basic.has(letter)) sizes.push(1)
    else if (extended.has(letter)) sizes.push(2)
    else return null
  }
  return sizes
}

/**
 * The size of a text as an SMS: Polish letters and emoji make each part shorter, and no part ends within a letter.
 * Linear in the text, which may have 100,000 characters: what `sms-segments-calculator` says of it, and a test holds
 * the two together.
 */
export function measureSms(text: string): SmsSize {
  const plain = measureGsmLetters(text)
  if (plain)
    return { encoding: 'GSM-7', characters: plain.reduce((sum, size) => sum + size, 0), parts: countParts(plain, gsm) }
  const sizes = [...graphemes.segment(text)].flatMap(({ segment }) => (segment === '\r\n' ? [1, 1] : [segment.length]))
  return { encoding: 'UCS-2', characters: sizes.length, parts: countParts(sizes, ucs) }
}
