/** Detects tables: CSV text, or the parts of an xlsx package. */

const utf16 = (bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  // Without a mark: the digits and separators of a table have a zero in every second byte.
  const sample = bytes.subarray(0, Math.min(512, bytes.length - (bytes.length % 2)))
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > sample.length / 5 && even === 0) return 'utf-16le'
  return even > sample.length / 5 && odd === 0 ? 'utf-16be' : null
}

/** Characters that no text contains. Control-Z ends files of old programs and is allowed. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const controls = /[\u0000-\u0008\u000e-\u0019\u001b-\u001f\u007f]/

/** The content as text, in any encoding; null for other content. The last character may be cut off. */
export function decodeText(bytes: Uint8Array): string | null {
  const wide = utf16(bytes)
  if (wide) {
    const text = new TextDecoder(wide).decode(bytes.subarray(0, bytes.length - (bytes.length % 2)))
    // Programs that shorten texts cut some characters of two units in half.
    const broken = text.slice(0, -1).split('\u{FFFD}').length - 1
    return controls.test(text) || broken * 20 > text.length ? null : text
  }
  const text = new TextDecoder('utf-8').decode(bytes)
  const readable = text.includes('\u{FFFD}') ? new TextDecoder('windows-1252').decode(bytes) : text
  // Windows-1252 has characters where others have controls above 127: these are let be.
  return controls.test(readable) ? null : readable
}

const separators = [',', ';', '\t', '|']
const mostRecords = 50

/** How many fields each of the first records has. A record that the text cuts off is left out. */
function fieldCounts(text: string, separator: string, isWhole: boolean): number[] {
  const counts: number[] = []
  let fields = 1
  let isQuoted = false
  let isEmpty = true
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    if (!isQuoted && character === separator) fields++
    if (!isQuoted && (character === '\n' || character === '\r')) {
      if (!isEmpty) counts.push(fields)
      if (counts.length >= mostRecords) return counts
      fields = 1
      isEmpty = true
    } else isEmpty = false
  }
  if (!isEmpty && (isWhole || counts.length === 0)) counts.push(fields)
  return counts
}

/** True where one separator cuts most records into the same number of fields, two at least. */
export function hasColumns(text: string, isWhole: boolean): boolean {
  return separators.some((separator) => {
    const counts = fieldCounts(text, separator, isWhole)
    const groups = Map.groupBy(counts, (count) => count)
    const [columns = 1, records = []] = [...groups].toSorted((one, other) => other[1].length - one[1].length)[0] ?? []
    return columns > 1 && records.length * 10 >= counts.length * 6
  })
}

const decoder = new TextDecoder('latin1')
const localHeader = [0x50, 0x4b, 0x03, 0x04]

const nextHeader = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at + 30 <= bytes.length; at++)
    if (localHeader.every((byte, index) => bytes[at + index] === byte)) return at
  return -1
}

export interface NamedZipEntry {
  name: string
  isEncrypted: boolean
}

/** The entries of a ZIP archive whose headers are in these bytes. Nothing is unpacked. */
export function listZipEntries(bytes: Uint8Array): NamedZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries: NamedZipEntry[] = []
  for (let at = 0; at >= 0 && at + 30 <= bytes.length;) {
    const nameLength = view.getUint16(at + 26, true)
    const nameAt = at + 30
    if (nameAt + nameLength > bytes.length) break
    const name = decoder.decode(bytes.subarray(nameAt, nameAt + nameLength))
    entries.push({ name, isEncrypted: (view.getUint16(at + 6, true) & 1) === 1 })
    // A size that is written behind the data is 0 here: the next header is looked for.
    const packed = view.getUint32(at + 18, true)
    at = nextHeader(bytes, nameAt + nameLength + view.getUint16(at + 28, true) + packed)
  }
  return entries
}
