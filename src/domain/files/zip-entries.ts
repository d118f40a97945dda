const localMark = 0x04034b50
const localLength = 30
const encryptedFlag = 1

const decodeName = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes).replaceAll('\\', '/').replace(/^\//, '')

/** Lists the entries whose headers are in the first bytes of an archive. Nothing is unpacked. */
export function listHeadEntries(head: Uint8Array): { name: string; isEncrypted: boolean }[] {
  const view = new DataView(head.buffer, head.byteOffset, head.length)
  const entries: { name: string; isEncrypted: boolean }[] = []
  let at = 0
  while (at + localLength <= head.length) {
    // The size may follow the data and is 0 here, so the next header is searched for.
    if (view.getUint32(at, true) !== localMark) {
      at++
      continue
    }
    const start = at + localLength
    const nameLength = view.getUint16(at + 26, true)
    if (start + nameLength > head.length) break
    const name = decodeName(head.subarray(start, start + nameLength))
    entries.push({ name, isEncrypted: (view.getUint16(at + 6, true) & encryptedFlag) !== 0 })
    at = start + nameLength + view.getUint16(at + 28, true) + view.getUint32(at + 18, true)
  }
  return entries
}
