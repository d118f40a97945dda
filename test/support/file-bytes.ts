import { strToU8, zipSync } from 'fflate'

/** Builds the beginnings of files, byte by byte. */

export type Bytes = Uint8Array<ArrayBuffer>

export const latin = (text: string): Bytes => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

export const joinBytes = (...parts: (string | readonly number[] | Uint8Array)[]): Bytes =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...latin(part)] : [...part])))

const big = (length: number, value: number): number[] =>
  Array.from({ length }, (_, index) => Math.floor(value / 256 ** (length - 1 - index)) % 256)
const little = (length: number, value: number): number[] => big(length, value).toReversed()

/** Makes a chunk of a PNG without a valid checksum, which nothing reads. */
const pngChunk = (name: string, content: readonly number[]): Bytes =>
  joinBytes(big(4, content.length), name, content, big(4, 0))

export const makePng = (width: number, height: number, rest: readonly number[] = [8, 2, 0, 0, 0]): Bytes =>
  joinBytes(
    '\u0089PNG\r\n\u001a\n',
    pngChunk('IHDR', [...big(4, width), ...big(4, height), ...rest]),
    pngChunk('IEND', []),
  )

/** Makes an IHDR with another size, to follow the first. */
export const pngHeader = (width: number, height: number): Bytes =>
  pngChunk('IHDR', [...big(4, width), ...big(4, height), 8, 2, 0, 0, 0])

/** Makes the size of a frame in an animated PNG. */
export const pngFrame = (width: number, height: number): Bytes =>
  pngChunk('fcTL', [...big(4, 0), ...big(4, width), ...big(4, height), ...big(4, 0), ...big(4, 0), 0, 1, 0, 1, 0, 0])

const segment = (marker: number, content: readonly number[]): number[] => [
  0xff,
  marker,
  ...big(2, content.length + 2),
  ...content,
]

const frame = (width: number, height: number) => [8, ...big(2, height), ...big(2, width), 1, 1, 0x11, 0]

export const makeJpeg = (width: number, height: number, before: readonly number[] = []): Bytes =>
  joinBytes([0xff, 0xd8], before, segment(0xc0, frame(width, height)), segment(0xda, []), [0xff, 0xd9])

/** Makes another frame for a JPEG that has one already. */
export const jpegFrame = (width: number, height: number): number[] => segment(0xc2, frame(width, height))

/** Makes segments of metadata of this many bytes each. */
export const jpegMetadata = (...lengths: number[]): number[] =>
  lengths.flatMap((length) =>
    segment(
      0xe2,
      Array.from({ length }, () => 0),
    ),
  )

interface GifFrame {
  left?: number
  top?: number
  width: number
  height: number
}

export const makeGif = (width: number, height: number, frames: readonly GifFrame[]): Bytes =>
  joinBytes(
    'GIF89a',
    little(2, width),
    little(2, height),
    [0, 0, 0],
    ...frames.flatMap(({ left = 0, top = 0, width: w, height: h }) => [
      [0x21, 0xf9, 4, 0, 0, 0, 0, 0],
      [0x2c, ...little(2, left), ...little(2, top), ...little(2, w), ...little(2, h), 0, 2, 2, 0x4c, 1, 0],
    ]),
    [0x3b],
  )

const chunk = (name: string, content: readonly number[]): number[] => [
  ...latin(name),
  ...little(4, content.length),
  ...content,
  ...(content.length % 2 ? [0] : []),
]

export const vp8 = (width: number, height: number) =>
  chunk('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, ...little(2, width), ...little(2, height), 0, 0])
export const vp8l = (width: number, height: number) =>
  chunk('VP8L', [0x2f, ...little(4, (width - 1 + (height - 1) * 0x4000) >>> 0), 0, 0, 0, 0, 0])
export const vp8x = (width: number, height: number) =>
  chunk('VP8X', [0, 0, 0, 0, ...little(3, width - 1), ...little(3, height - 1)])
export const anmf = (width: number, height: number, content: readonly number[]) =>
  chunk('ANMF', [...little(6, 0), ...little(3, width - 1), ...little(3, height - 1), ...little(4, 0), ...content])

export const makeWebp = (...chunks: (readonly number[])[]): Bytes => {
  const content = chunks.flat()
  return joinBytes('RIFF', little(4, content.length + 4), 'WEBP', content)
}

const box = (name: string, content: readonly number[]): number[] => [
  ...big(4, content.length + 8),
  ...latin(name),
  ...content,
]

export const makeAvif = (sizes: readonly (readonly [number, number])[], brands = 'avif\0\0\0\0avifmif1'): Bytes => {
  const properties = sizes.flatMap(([width, height]) =>
    box('ispe', [...big(4, 0), ...big(4, width), ...big(4, height)]),
  )
  const meta = box('meta', [...big(4, 0), ...box('hdlr', []), ...box('iprp', box('ipco', properties))])
  return joinBytes(box('ftyp', [...latin(brands)]), meta, box('mdat', [0, 0]))
}

/** Makes the track of an animated AVIF, which states a size of its own in 16.16 bits. */
export const avifTrack = (width: number, height: number): Bytes => {
  const zeros = Array.from({ length: 76 }, () => 0)
  return joinBytes(box('moov', box('trak', box('tkhd', [...zeros, ...big(2, width), 0, 0, ...big(2, height), 0, 0]))))
}

/**
 * Makes boxes that each claim to contain everything after them, so that a careless reader reads the file once for each.
 */
export const nestedAvif = (count: number): Bytes => {
  const rest = 20 * count
  const opened = Array.from({ length: count }, (_, index) => [
    ...big(4, 20),
    ...latin('meta'),
    ...big(4, 0),
    ...big(4, rest - 20 * index),
    ...latin('iprp'),
  ]).flat()
  return joinBytes(
    box('ftyp', [...latin('avif\0\0\0\0avifmif1')]),
    opened,
    Array.from({ length: rest }, () => 0),
  )
}

/** Makes a ZIP archive whose entries contain their own names. */
export const makeZip = (...names: string[]): Bytes =>
  zipSync(Object.fromEntries(names.map((name) => [name, strToU8(name)])))

export const encodeUtf16 = (text: string, isBig = false): Bytes =>
  Uint8Array.from([...text].flatMap((letter) => (isBig ? big : little)(2, letter.charCodeAt(0))))
