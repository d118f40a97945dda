/** A file whose parts can be read: an object of a store, a file of a browser, or bytes. */
export interface FileSource {
  /** In bytes. */
  size: number
  /** Returns at most `length` bytes from `offset`. */
  stream(offset: number, length: number): AsyncIterable<Uint8Array>
}

export async function readBytes(file: FileSource, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Math.max(0, Math.min(length, file.size - offset)))
  let filledLength = 0
  for await (const chunk of file.stream(offset, bytes.length)) {
    const part = chunk.subarray(0, bytes.length - filledLength)
    bytes.set(part, filledLength)
    filledLength += part.length
    if (filledLength === bytes.length) break
  }
  return bytes.subarray(0, filledLength)
}

/** @param chunkLength the number of bytes that a stream hands over at once */
export const openBytes = (bytes: Uint8Array, chunkLength = 65_536): FileSource => ({
  size: bytes.length,
  async *stream(offset, length) {
    const end = Math.min(bytes.length, offset + length)
    for (let at = offset; at < end; at += chunkLength) yield bytes.subarray(at, Math.min(end, at + chunkLength))
  },
})
