import { crc32 } from './bytes.ts'
import { TableError } from './faults.ts'
import { readBytes, type FileSource } from './source.ts'

/*
 * Archives are read by range, because a workbook may have 500 MB. Of the libraries, fflate wants the whole archive in
 * memory or in one pass, and zip.js asks the file store for every 64 KB and reads a directory of any length.
 */

export interface ZipEntry {
  name: string
  /** 0: stored, 8: deflated. */
  method: number
  compressedSize: number
  size: number
  checksum: number
  headerOffset: number
}

const endMark = 0x06054b50
const entryMark = 0x02014b50
const localMark = 0x04034b50
const endLength = 22
const localLength = 30
const longestComment = 65_535
const maxDirectoryLength = 4_194_304
const encryptedFlag = 1
const inZip64 = 0xffffffff

export const buildDamageError = (detail: string): TableError =>
  new TableError(
    'broken_xlsx',
    `The file is damaged: ${detail}. Open it in the program that made it and save it again.`,
  )

const openView = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length)

/** Sizes and offsets beyond 32 bits have a field of their own, in this order. */
function readZip64(extraField: DataView, entry: ZipEntry): ZipEntry {
  let at = 0
  while (at + 4 <= extraField.byteLength) {
    const id = extraField.getUint16(at, true)
    const length = extraField.getUint16(at + 2, true)
    if (id === 1) {
      let field = at + 4
      const end = Math.min(field + length, extraField.byteLength)
      const next = (value: number): number => {
        if (value !== inZip64 || field + 8 > end) return value
        field += 8
        return Number(extraField.getBigUint64(field - 8, true))
      }
      const size = next(entry.size)
      const compressedSize = next(entry.compressedSize)
      return { ...entry, size, compressedSize, headerOffset: next(entry.headerOffset) }
    }
    at += 4 + length
  }
  return entry
}

const decodeName = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes).replaceAll('\\', '/').replace(/^\//, '')

function readDirectory(bytes: Uint8Array): ZipEntry[] {
  const view = openView(bytes)
  const entries: ZipEntry[] = []
  let at = 0
  while (at + 46 <= bytes.length && view.getUint32(at, true) === entryMark) {
    const nameLength = view.getUint16(at + 28, true)
    const extraLength = view.getUint16(at + 30, true)
    const commentLength = view.getUint16(at + 32, true)
    const extraStart = at + 46 + nameLength
    if (extraStart + extraLength > bytes.length) break
    if (view.getUint16(at + 8, true) & encryptedFlag)
      throw new TableError('password_protected', 'The file is protected by a password. Save it without one.')
    const entry = {
      name: decodeName(bytes.subarray(at + 46, extraStart)),
      method: view.getUint16(at + 10, true),
      checksum: view.getUint32(at + 16, true),
      compressedSize: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      headerOffset: view.getUint32(at + 42, true),
    }
    entries.push(readZip64(openView(bytes.subarray(extraStart, extraStart + extraLength)), entry))
    at = extraStart + extraLength + commentLength
  }
  return entries
}

/** The directory is at the end of the archive, before a comment of any length. */
export async function readEntries(file: FileSource): Promise<ZipEntry[]> {
  const tailLength = Math.min(file.size, endLength + longestComment)
  const tail = await readBytes(file, file.size - tailLength, tailLength)
  const view = openView(tail)
  for (let at = tail.length - endLength; at >= 0; at--) {
    if (view.getUint32(at, true) !== endMark) continue
    const length = view.getUint32(at + 12, true)
    const offset = view.getUint32(at + 16, true)
    if (length > maxDirectoryLength || offset + length > file.size) break
    const entries = readDirectory(await readBytes(file, offset, length))
    if (entries.length === view.getUint16(at + 10, true)) return entries
    break
  }
  throw buildDamageError('its directory is missing or cut off')
}

/** Refuses an entry whose declared size is too large before it unpacks it, and one with a wrong size while it does. */
export async function* openEntry(file: FileSource, entry: ZipEntry, maxSize: number): AsyncGenerator<Uint8Array> {
  if (entry.size > maxSize) throw buildSizeError(entry, maxSize)
  const localHeader = openView(await readBytes(file, entry.headerOffset, localLength))
  if (localHeader.byteLength < localLength || localHeader.getUint32(0, true) !== localMark)
    throw buildDamageError(`${entry.name} is not where it should be`)
  const start = entry.headerOffset + localLength + localHeader.getUint16(26, true) + localHeader.getUint16(28, true)
  if (entry.method !== 0 && entry.method !== 8) throw buildDamageError(`${entry.name} is packed in an unknown way`)
  if (start + entry.compressedSize > file.size) throw buildDamageError(`${entry.name} is cut off`)
  const packedChunks = file.stream(start, entry.compressedSize)
  let size = 0
  let checksum = 0
  for await (const chunk of entry.method === 0 ? packedChunks : inflate(packedChunks, entry.name)) {
    size += chunk.length
    if (size > maxSize) throw buildSizeError(entry, maxSize)
    checksum = crc32(chunk, checksum)
    yield chunk
  }
  if (checksum !== entry.checksum) throw buildDamageError(`${entry.name} does not match its checksum`)
}

const buildSizeError = ({ name }: ZipEntry, maxSize: number): TableError =>
  new TableError(
    'broken_xlsx',
    `${name} in the file is larger than ${maxSize} bytes once it is unpacked. Save it as CSV.`,
  )

function toStream(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

async function* inflate(packedChunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const decompression = new DecompressionStream('deflate-raw') as ReadableWritablePair<Uint8Array, Uint8Array>
  const reader = toStream(packedChunks).pipeThrough(decompression).getReader()
  try {
    for (;;) {
      const { value, done } = await readOrThrowDamage(reader, name)
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function readOrThrowDamage(reader: ReadableStreamDefaultReader<Uint8Array>, name: string) {
  try {
    return await reader.read()
  } catch {
    throw buildDamageError(`${name} cannot be unpacked`)
  }
}
