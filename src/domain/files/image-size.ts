/**
 * Width and height by the header of an image, before anything is decoded. Libraries answer one of the sizes that a file
 * states; a file may state several, and a decoder may believe any of them, so these functions answer the largest.
 */

export interface ImageSize {
  width: number
  height: number
}

/** A fault of an image. Reading past the end of the bytes is a RangeError. */
export class BrokenImage extends Error {}

const text = (view: DataView, at: number, length: number): string => {
  let found = ''
  for (let index = 0; index < length; index++) found += String.fromCharCode(view.getUint8(at + index))
  return found
}

const larger = (one: ImageSize | null, other: ImageSize): ImageSize =>
  one && one.width * one.height >= other.width * other.height ? one : other

export function measurePng(view: DataView): ImageSize {
  if (view.getUint32(8) !== 13 || text(view, 12, 4) !== 'IHDR') throw new BrokenImage('its first chunk is no IHDR')
  const [depth, color] = [view.getUint8(24), view.getUint8(25)]
  if (![1, 2, 4, 8, 16].includes(depth) || ![0, 2, 3, 4, 6].includes(color))
    throw new BrokenImage('its IHDR names an unknown colour type')
  // The checksum, and the beginning of a next chunk.
  view.getUint32(33)
  return largestFrame(view, { width: view.getUint32(16), height: view.getUint32(20) })
}

/** The standard requires frames of an animation within the size of the first IHDR. A file may break this rule. */
function largestFrame(view: DataView, first: ImageSize): ImageSize {
  let size = first
  for (let at = 33; at + 8 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const name = text(view, at + 4, 4)
    if (name === 'IHDR') throw new BrokenImage('it has two IHDR chunks')
    if (name === 'fcTL' && at + 20 <= view.byteLength)
      size = larger(size, { width: view.getUint32(at + 12), height: view.getUint32(at + 16) })
  }
  return size
}

const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** True where another frame comes before the image. Programs differ in which of the two they show. */
function hasFrame(view: DataView, from: number): boolean {
  for (let at = from; at + 4 <= view.byteLength && view.getUint8(at) === 0xff;) {
    const marker = view.getUint8(at + 1)
    if (isFrameHeader(marker)) return true
    if (marker === 0xda || marker === 0xd9) return false
    at += marker === 0xff ? 1 : 2 + Math.max(2, view.getUint16(at + 2))
  }
  return false
}

export function measureJpeg(view: DataView): ImageSize {
  let orientation = 1
  for (let at = 2; ;) {
    if (view.getUint8(at) !== 0xff) throw new BrokenImage('there is no marker where one must be')
    const marker = view.getUint8(at + 1)
    at += 1
    if (marker === 0xff) continue
    if (marker === 0xda || marker === 0xd9) throw new BrokenImage('it has no frame')
    const length = view.getUint16(at + 1)
    if (length < 2) throw new BrokenImage('a segment has no length')
    if (isFrameHeader(marker)) {
      const size = { height: view.getUint16(at + 4), width: view.getUint16(at + 6) }
      view.getUint8(at + length)
      if (hasFrame(view, at + 1 + length)) throw new BrokenImage('it has two frames')
      return orientation > 4 ? { width: size.height, height: size.width } : size
    }
    if (marker === 0xe1) orientation = readOrientation(view, at + 3, length - 2) ?? orientation
    at += 1 + length
  }
}

/** Where the sub-blocks end that begin here; past the end of the bytes where they do not. */
function afterBlocks(view: DataView, from: number): number {
  let at = from
  for (let length = -1; length !== 0 && at < view.byteLength; at += length + 1) length = view.getUint8(at)
  return at
}

const tableBytes = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

/** A frame may reach beyond the screen; programs then show it on a larger one. Frames are looked at as far as the bytes go. */
export function measureGif(view: DataView, isWhole: boolean): ImageSize {
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) }
  let frames = 0
  for (let at = 13 + tableBytes(view.getUint8(10)); at < view.byteLength;) {
    const kind = view.getUint8(at)
    if (kind === 0x21) at = afterBlocks(view, at + 2)
    else if (kind === 0x2c && at + 11 <= view.byteLength) {
      frames++
      size.width = Math.max(size.width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true))
      size.height = Math.max(size.height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true))
      at = afterBlocks(view, at + 11 + tableBytes(view.getUint8(at + 9)))
    } else if (kind === 0x3b || kind === 0x2c || frames > 0) break
    else throw new BrokenImage('there is no block where one must be')
  }
  if (frames === 0) throw isWhole ? new BrokenImage('it has no frame') : new RangeError('no frame so far')
  return size
}

const uint24 = (view: DataView, at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536

/** The size that a chunk of a WebP file states; null for chunks without one. */
function webpChunkSize(view: DataView, name: string, at: number): ImageSize | null {
  if (name === 'VP8X') return { width: uint24(view, at + 4) + 1, height: uint24(view, at + 7) + 1 }
  if (name === 'ANMF') return { width: uint24(view, at + 6) + 1, height: uint24(view, at + 9) + 1 }
  if (name === 'VP8 ') {
    if (uint24(view, at + 3) !== 0x2a019d) throw new BrokenImage('its VP8 frame has no start code')
    return { width: view.getUint16(at + 6, true) & 0x3fff, height: view.getUint16(at + 8, true) & 0x3fff }
  }
  if (name !== 'VP8L') return null
  if (view.getUint8(at) !== 0x2f) throw new BrokenImage('its VP8L frame has no signature')
  const bits = view.getUint32(at + 1, true)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

export function measureWebp(view: DataView, fileSize: number): ImageSize {
  if (view.getUint32(4, true) + 8 > fileSize) throw new BrokenImage('it is shorter than its header says')
  let size: ImageSize | null = null
  for (let at = 12; at + 8 <= view.byteLength;) {
    const name = text(view, at, 4)
    if (at === 12 && !['VP8 ', 'VP8L', 'VP8X'].includes(name)) throw new BrokenImage('its first chunk is no image')
    // Of a chunk that the bytes cut off only the first must be readable.
    const isCut = at + 18 > view.byteLength
    const stated = size && isCut ? null : webpChunkSize(view, name, at + 8)
    if (stated) size = larger(size, stated)
    const length = view.getUint32(at + 4, true)
    // Frames of animations are nested chunks, whose sizes count too.
    at += name === 'ANMF' ? 24 : 8 + length + (length % 2)
  }
  if (!size) throw new RangeError('no chunk with a size')
  return size
}

interface Box {
  name: string
  from: number
  to: number
}

const maxBoxes = 10_000

function* boxesIn(view: DataView, from: number, to: number): Generator<Box> {
  for (let at = from, count = 0; at + 8 <= Math.min(to, view.byteLength); count++) {
    if (count === maxBoxes) throw new BrokenImage('it has too many boxes')
    const short = view.getUint32(at)
    const length = short === 1 ? Number(view.getBigUint64(at + 8)) : short || to - at
    const header = short === 1 ? 16 : 8
    if (length < header) throw new BrokenImage('a box has no length')
    yield { name: text(view, at + 4, 4), from: at + header, to: at + length }
    at += length
  }
}

function* boxesNamed(view: DataView, { from, to }: Omit<Box, 'name'>, name: string): Generator<Box> {
  for (const box of boxesIn(view, from, to)) if (box.name === name) yield box
}

/** Boxes in a box. One that claims more than what holds it would be read again for each that does so. */
function* boxesInside(view: DataView, parent: Omit<Box, 'name'>, name: string): Generator<Box> {
  for (const box of boxesNamed(view, parent, name)) {
    if (box.to > parent.to) throw new BrokenImage('a box is longer than what holds it')
    yield box
  }
}

/** Sizes that the tracks of an animation state, in 16.16 bits at the end of their headers. */
function* trackSizes(view: DataView, fileSize: number): Generator<ImageSize> {
  for (const movie of boxesNamed(view, { from: 0, to: fileSize }, 'moov'))
    for (const track of boxesInside(view, movie, 'trak'))
      for (const { from, to } of boxesInside(view, track, 'tkhd'))
        if (to - from >= 8 && to <= view.byteLength)
          yield { width: view.getUint16(to - 8), height: view.getUint16(to - 4) }
}

export const readBrands = (view: DataView): string[] => {
  const length = Math.min(view.getUint32(0), 256, view.byteLength - 3)
  const brands = [text(view, 8, 4)]
  for (let at = 16; at + 4 <= length; at += 4) brands.push(text(view, at, 4))
  return brands
}

/** The largest size that a picture of the file, or a tile of one, states. */
export function measureAvif(view: DataView, fileSize: number): ImageSize {
  let size: ImageSize | null = null
  for (const meta of boxesNamed(view, { from: 0, to: fileSize }, 'meta')) {
    if (meta.to > view.byteLength) throw new RangeError('the properties are cut off')
    for (const properties of boxesInside(view, { from: meta.from + 4, to: meta.to }, 'iprp'))
      for (const container of boxesInside(view, properties, 'ipco'))
        for (const { from } of boxesInside(view, container, 'ispe'))
          size = larger(size, { width: view.getUint32(from + 4), height: view.getUint32(from + 8) })
  }
  if (!size) throw new RangeError('no property with a size')
  for (const track of trackSizes(view, fileSize)) size = larger(size, track)
  return size
}

const orientationTag = 0x0112
const shortType = 3

/** The orientation in an Exif segment of a JPEG file, 1 to 8; null without a readable one. */
function readOrientation(view: DataView, from: number, length: number): number | null {
  try {
    const segment = new DataView(view.buffer, view.byteOffset + from, length)
    const isExif = segment.getUint32(0) === 0x45786966 && segment.getUint16(4) === 0
    if (!isExif) return null
    const tiff = new DataView(segment.buffer, segment.byteOffset + 6, length - 6)
    const isLittle = tiff.getUint16(0) === 0x4949
    const directory = tiff.getUint32(4, isLittle)
    for (let index = 0; index < tiff.getUint16(directory, isLittle); index++) {
      const entry = directory + 2 + 12 * index
      if (tiff.getUint16(entry, isLittle) !== orientationTag) continue
      if (tiff.getUint16(entry + 2, isLittle) !== shortType) return null
      const value = tiff.getUint16(entry + 8, isLittle)
      return value >= 1 && value <= 8 ? value : null
    }
    return null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
