const detectUtf16 = (bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  // Without a byte order mark, the digits and separators of a table have a zero in every second byte.
  const sample = bytes.subarray(0, Math.min(512, bytes.length - (bytes.length % 2)))
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > sample.length / 5 && even === 0) return 'utf-16le'
  return even > sample.length / 5 && odd === 0 ? 'utf-16be' : null
}

/** Characters that no text contains. Control-Z is allowed, because it ends files of old programs. */
// oxlint-disable-next-line no-control-regex -- the pattern looks for them
const controls = /[\u0000-\u0008\u000e-\u0019\u001b-\u001f\u007f]/

/** Decodes text in any encoding. Null: the content is not text. The last character can be incomplete. */
export function decodeText(bytes: Uint8Array): string | null {
  const encoding = detectUtf16(bytes)
  if (encoding) {
    const text = new TextDecoder(encoding).decode(bytes.subarray(0, bytes.length - (bytes.length % 2)))
    // Programs that shorten texts cut some surrogate pairs in half.
    const broken = text.slice(0, -1).split('\u{FFFD}').length - 1
    return controls.test(text) || broken * 20 > text.length ? null : text
  }
  const text = new TextDecoder('utf-8').decode(bytes)
  const readable = text.includes('\u{FFFD}') ? new TextDecoder('windows-1252').decode(bytes) : text
  // Characters above 127 are not checked, because Windows-1252 has letters there.
  return controls.test(readable) ? null : readable
}

const separators = [',', ';', '\t', '|']
const maxRecords = 50

/** The number of fields in each of the first records. An incomplete last record is left out. */
function countFields(text: string, separator: string, isWhole: boolean): number[] {
  const counts: number[] = []
  let fields = 1
  let isQuoted = false
  let isEmpty = true
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted
    if (!isQuoted && character === separator) fields++
    if (!isQuoted && (character === '\n' || character === '\r')) {
      if (!isEmpty) counts.push(fields)
      if (counts.length >= maxRecords) return counts
      fields = 1
      isEmpty = true
    } else isEmpty = false
  }
  if (!isEmpty && (isWhole || counts.length === 0)) counts.push(fields)
  return counts
}

/** True if a separator splits most records into the same number of fields, at least two. */
export function hasColumns(text: string, isWhole: boolean): boolean {
  return separators.some((separator) => {
    const counts = countFields(text, separator, isWhole)
    const groups = Map.groupBy(counts, (count) => count)
    const [columns = 1, records = []] = [...groups].toSorted((one, other) => other[1].length - one[1].length)[0] ?? []
    return columns > 1 && records.length * 10 >= counts.length * 6
  })
}

const decoder = new TextDecoder('latin1')
const localHeader = [0x50, 0x4b, 0x03, 0x04]

const findHeader = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at + 30 <= bytes.length; at++)
    if (localHeader.every((byte, index) => bytes[at + index] === byte)) return at
  return -1
}

export interface NamedZipEntry {
  name: string
  isEncrypted: boolean
}

/** The entries of a ZIP archive, by their headers in these bytes. Nothing is unpacked. */
export function listZipEntries(bytes: Uint8Array): NamedZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries: NamedZipEntry[] = []
  for (let at = 0; at >= 0 && at + 30 <= bytes.length;) {
    const nameLength = view.getUint16(at + 26, true)
    const nameAt = at + 30
    if (nameAt + nameLength > bytes.length) break
    const name = decoder.decode(bytes.subarray(nameAt, nameAt + nameLength))
    entries.push({ name, isEncrypted: (view.getUint16(at + 6, true) & 1) === 1 })
    // The size is 0 if it is written after the data, so the next header is searched for.
    const packed = view.getUint32(at + 18, true)
    at = findHeader(bytes, nameAt + nameLength + view.getUint16(at + 28, true) + packed)
  }
  return entries
}
