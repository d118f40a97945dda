import { createDecoder, type Encoding } from './names.ts'

const tables = new Map<Encoding, Map<string, readonly number[]>>()

const wideEncodings: ReadonlySet<Encoding> = new Set(['shift_jis', 'euc-jp', 'gbk', 'gb18030', 'big5', 'euc-kr'])

/** Lists the bytes of all characters of one or two bytes. */
function listByteSequences(encoding: Encoding): number[][] {
  const bytes = Array.from({ length: 256 }, (_, byte) => byte)
  const singleBytes = bytes.map((byte) => [byte])
  if (!wideEncodings.has(encoding)) return singleBytes
  const leadBytes = bytes.filter((byte) => byte > 0x80)
  return [
    ...singleBytes,
    ...leadBytes.flatMap((lead) => bytes.filter((byte) => byte >= 0x40).map((trail) => [lead, trail])),
  ]
}

function getTable(encoding: Encoding): Map<string, readonly number[]> {
  const cachedTable = tables.get(encoding)
  if (cachedTable) return cachedTable
  const decoder = createDecoder(encoding)
  const table = new Map<string, readonly number[]>()
  for (const bytes of listByteSequences(encoding)) {
    const text = decoder.decode(Uint8Array.from(bytes))
    const [letter = '', ...others] = text
    if (letter !== '\ufffd' && letter !== '' && others.length === 0 && !table.has(letter)) table.set(letter, bytes)
  }
  tables.set(encoding, table)
  return table
}

function encodeUtf16(text: string, littleEndian: boolean): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2)
  const view = new DataView(bytes.buffer)
  for (let index = 0; index < text.length; index++) view.setUint16(index * 2, text.charCodeAt(index), littleEndian)
  return bytes
}

const questionMark = [0x3f]

function encodeLetter(letter: string, table: Map<string, readonly number[]>): readonly number[] {
  const bytes = table.get(letter)
  if (bytes) return bytes
  const baseLetters = letter.normalize('NFKD').replaceAll(/\p{M}/gu, '')
  return Array.from(baseLetters === letter ? '?' : baseLetters).flatMap((part) => table.get(part) ?? questionMark)
}

const japaneseSequence = [0x1b, 0x24, 0x42]
const asciiSequence = [0x1b, 0x28, 0x42]

/** The letters of ISO-2022-JP are those of EUC-JP without the high bits, between two escape sequences. */
function joinEscaped(letters: readonly (readonly number[])[]): number[] {
  const bytes: number[] = []
  let isJapanese = false
  for (const letter of [...letters, []]) {
    const isNextJapanese = letter.length === 2
    if (isNextJapanese !== isJapanese) bytes.push(...(isNextJapanese ? japaneseSequence : asciiSequence))
    bytes.push(...letter.map((byte) => byte & 0x7f))
    isJapanese = isNextJapanese
  }
  return bytes
}

/** EUC-JP has katakana of half the width, which ISO-2022-JP lacks. */
const isHalfWidth = (letter: string): boolean => letter >= '\uff61' && letter <= '\uff9f'

/** A letter that the encoding lacks loses its accent, or becomes a question mark. */
export function encodeText(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  if (encoding === 'utf-8') return new Uint8Array(new TextEncoder().encode(text))
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return encodeUtf16(text, encoding === 'utf-16le')
  if (encoding === 'iso-2022-jp') {
    const table = getTable('euc-jp')
    const letters = Array.from(text, (letter) => (isHalfWidth(letter) ? questionMark : encodeLetter(letter, table)))
    return Uint8Array.from(joinEscaped(letters))
  }
  const table = getTable(encoding)
  return Uint8Array.from(Array.from(text).flatMap((letter) => encodeLetter(letter, table)))
}

export function canEncode(text: string, encoding: Encoding): boolean {
  if (encoding.startsWith('utf')) return text.isWellFormed()
  const table = getTable(encoding === 'iso-2022-jp' ? 'euc-jp' : encoding)
  return Array.from(text).every((letter) => table.has(letter) && !(encoding === 'iso-2022-jp' && isHalfWidth(letter)))
}
