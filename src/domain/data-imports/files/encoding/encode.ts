import { createDecoder, type Encoding } from './names.ts'

const tables = new Map<Encoding, Map<string, number>>()

function getTable(encoding: Encoding): Map<string, number> {
  const cached = tables.get(encoding)
  if (cached) return cached
  const all = createDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))
  const table = new Map(Array.from(all, (letter, byte) => [letter, byte]))
  tables.set(encoding, table)
  return table
}

function encodeUtf16(text: string, littleEndian: boolean): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length * 2)
  const view = new DataView(bytes.buffer)
  for (let index = 0; index < text.length; index++) view.setUint16(index * 2, text.charCodeAt(index), littleEndian)
  return bytes
}

const questionMark = 0x3f

function encodeLetter(letter: string, table: Map<string, number>): number[] {
  const byte = table.get(letter)
  if (byte !== undefined) return [byte]
  const baseLetters = letter.normalize('NFKD').replaceAll(/\p{M}/gu, '')
  return Array.from(baseLetters === letter ? '?' : baseLetters, (part) => table.get(part) ?? questionMark)
}

/** A letter that the encoding lacks loses its accent, or becomes a question mark. */
export function encodeText(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  if (encoding === 'utf-8') return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return encodeUtf16(text, encoding === 'utf-16le')
  const table = getTable(encoding)
  return Uint8Array.from(Array.from(text).flatMap((letter) => encodeLetter(letter, table)))
}

export const canEncode = (text: string, encoding: Encoding): boolean =>
  encoding.startsWith('utf') ? text.isWellFormed() : Array.from(text).every((letter) => getTable(encoding).has(letter))
