/** `iso-8859-1` is read as windows-1252, which contains it, as browsers do. */
export const encodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-15',
  'macintosh',
] as const

export type Encoding = (typeof encodings)[number]

export const getUnitSize = (encoding: Encoding): 1 | 2 => (encoding.startsWith('utf-16') ? 2 : 1)

/** Each call decodes whole lines. Bytes that the encoding lacks become U+FFFD. */
export const createDecoder = (encoding: Encoding): TextDecoder =>
  new TextDecoder(encoding, { fatal: false, ignoreBOM: true })

const marks: [Encoding, number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

export function readByteOrderMark(bytes: Uint8Array): { encoding: Encoding; length: number } | null {
  const mark = marks.find(([, expected]) => expected.every((byte, index) => bytes[index] === byte))
  return mark ? { encoding: mark[0], length: mark[1].length } : null
}

export function getByteOrderMark(encoding: Encoding): Uint8Array<ArrayBuffer> {
  return new Uint8Array(marks.find(([name]) => name === encoding)?.[1] ?? [])
}
