import { detectUtf16, hasJapaneseEscapes } from './encoding/detect.ts'
import { readByteOrderMark } from './encoding/names.ts'
import { TableError } from './faults.ts'
import { readBytes, type FileSource } from './source.ts'

const headLength = 65_536
const compoundLength = 1_048_576

const startsWith = (bytes: Uint8Array, signature: readonly number[]): boolean =>
  signature.every((byte, index) => bytes[index] === byte)

const zip = [0x50, 0x4b, 0x03, 0x04]
const emptyZip = [0x50, 0x4b, 0x05, 0x06]
const compound = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]

const otherKinds: [string, number[]][] = [
  ['a PDF document', [0x25, 0x50, 0x44, 0x46]],
  ['a PNG image', [0x89, 0x50, 0x4e, 0x47]],
  ['a JPEG image', [0xff, 0xd8, 0xff]],
  ['a GIF image', [0x47, 0x49, 0x46, 0x38]],
  ['a gzip archive', [0x1f, 0x8b]],
  ['a 7-Zip archive', [0x37, 0x7a, 0xbc, 0xaf]],
  ['a RAR archive', [0x52, 0x61, 0x72, 0x21]],
]

/** Names in a compound file are UTF-16. */
const encryptedStream = Array.from('EncryptedPackage', (letter) => `${letter}\0`).join('')

/** A workbook with a password and a file of Excel before 2007 are both compound files. */
async function buildCompoundError(file: FileSource): Promise<TableError> {
  const bytes = await readBytes(file, 0, compoundLength)
  const tail = await readBytes(file, Math.max(0, file.size - compoundLength), compoundLength)
  const text = new TextDecoder('latin1').decode(bytes) + new TextDecoder('latin1').decode(tail)
  return text.includes(encryptedStream)
    ? new TableError('password_protected', 'The workbook is protected by a password. Save it without one.')
    : new TableError('unreadable_file', 'The file has the format of Excel before 2007. Save it as .xlsx or as CSV.')
}

const markup = /^\s*(<!doctype html|<html|<table|<\?xml|<head|<meta)/i

const endOfFile = 26
const escape = 27

function measureControls(head: Uint8Array): number {
  const allowedControls = hasJapaneseEscapes(head) ? [endOfFile, escape] : [endOfFile]
  const isControl = (byte: number): boolean => byte < 9 || (byte > 13 && byte < 32 && !allowedControls.includes(byte))
  const controls = head.reduce((sum, byte) => sum + (isControl(byte) ? 1 : 0), 0)
  return controls / head.length
}

const toleratedControls = 0.002

const isUtf16 = (head: Uint8Array): boolean =>
  (readByteOrderMark(head)?.encoding ?? detectUtf16(head) ?? 'utf-8') !== 'utf-8'

/** A text may have this many zero bytes by mistake. */
const fewZeros = 3

function buildZeroError(head: Uint8Array): TableError {
  const before = new TextDecoder('latin1').decode(head.subarray(0, head.indexOf(0)))
  const line = before.split(/\r\n|\n|\r/).length
  return new TableError('binary', `The file is not text: line ${line} contains a NUL character.`, { line })
}

export async function detectFileKind(file: FileSource): Promise<'csv' | 'zip'> {
  if (file.size === 0) throw new TableError('empty_file', 'The file is empty.')
  const head = await readBytes(file, 0, headLength)
  if (startsWith(head, zip)) return 'zip'
  if (startsWith(head, emptyZip)) throw new TableError('broken_xlsx', 'The archive is empty.')
  if (startsWith(head, compound)) throw await buildCompoundError(file)
  const other = otherKinds.find(([, signature]) => startsWith(head, signature))
  if (other) throw new TableError('binary', `The file is ${other[0]}, not a table.`)
  if (isUtf16(head)) return 'csv'
  const zeros = head.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0)
  if (zeros > 0 && zeros <= fewZeros) throw buildZeroError(head)
  if (zeros > 0 || measureControls(head) > toleratedControls) throw new TableError('binary', 'The file is not text.')
  if (markup.test(new TextDecoder().decode(head.subarray(0, 200))))
    throw new TableError('unreadable_file', 'The file is a web page or XML, not a table. Save it as CSV or .xlsx.')
  return 'csv'
}
