/**
 * These functions read the size of an image without decoding it. A file can state several sizes, and a decoder may believe
 * any of them, so they return the largest one. Libraries return only one.
 */
export interface ImageSize {
  width: number
  height: number
}

/** The image is broken. Reading past the end of the bytes throws a RangeError instead. */
export class BrokenImage extends Error {}

const readText = (view: DataView, at: number, length: number): string => {
  let text = ''
  for (let index = 0; index < length; index++) text += String.fromCharCode(view.getUint8(at + index))
  return text
}

const pickLarger = (one: ImageSize | null, other: ImageSize): ImageSize =>
  one && one.width * one.height >= other.width * other.height ? one : other

export function measurePng(view: DataView): ImageSize {
  if (view.getUint32(8) !== 13 || readText(view, 12, 4) !== 'IHDR') throw new BrokenImage('its first chunk is not IHDR')
  const [depth, color] = [view.getUint8(24), view.getUint8(25)]
  if (![1, 2, 4, 8, 16].includes(depth) || ![0, 2, 3, 4, 6].includes(color))
    throw new BrokenImage('its IHDR has an unknown colour type')
  // This throws if the checksum and the next chunk are missing.
  view.getUint32(33)
  return findLargestFrame(view, { width: view.getUint32(16), height: view.getUint32(20) })
}

/** The frames of an animation must fit into the first IHDR, but a file can break this rule. */
function findLargestFrame(view: DataView, first: ImageSize): ImageSize {
  let size = first
  for (let at = 33; at + 8 <= view.byteLength; at += 12 + view.getUint32(at)) {
    const name = readText(view, at + 4, 4)
    if (name === 'IHDR') throw new BrokenImage('it has two IHDR chunks')
    if (name === 'fcTL' && at + 20 <= view.byteLength)
      size = pickLarger(size, { width: view.getUint32(at + 12), height: view.getUint32(at + 16) })
  }
  return size
}

const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** True if a second frame follows. Programs differ in which frame they show. */
function hasSecondFrame(view: DataView, from: number): boolean {
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
    if (view.getUint8(at) !== 0xff) throw new BrokenImage('a marker is missing')
    const marker = view.getUint8(at + 1)
    at += 1
    if (marker === 0xff) continue
    if (marker === 0xda || marker === 0xd9) throw new BrokenImage('it has no frame')
    const length = view.getUint16(at + 1)
    if (length < 2) throw new BrokenImage('a segment has no length')
    if (isFrameHeader(marker)) {
      const size = { height: view.getUint16(at + 4), width: view.getUint16(at + 6) }
      view.getUint8(at + length)
      if (hasSecondFrame(view, at + 1 + length)) throw new BrokenImage('it has two frames')
      return orientation > 4 ? { width: size.height, height: size.width } : size
    }
    if (marker === 0xe1) orientation = readOrientation(view, at + 3, length - 2) ?? orientation
    at += 1 + length
  }
}

/** The position after the sub-blocks that begin at `from`, or past the end of the bytes. */
function skipBlocks(view: DataView, from: number): number {
  let at = from
  for (let length = -1; length !== 0 && at < view.byteLength; at += length + 1) length = view.getUint8(at)
  return at
}

const getTableSize = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)

/** A frame can be larger than the stated screen, and programs then enlarge the screen. */
export function measureGif(view: DataView, isWhole: boolean): ImageSize {
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) }
  let frames = 0
  for (let at = 13 + getTableSize(view.getUint8(10)); at < view.byteLength;) {
    const kind = view.getUint8(at)
    if (kind === 0x21) at = skipBlocks(view, at + 2)
    else if (kind === 0x2c && at + 11 <= view.byteLength) {
      frames++
      size.width = Math.max(size.width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true))
      size.height = Math.max(size.height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true))
      at = skipBlocks(view, at + 11 + getTableSize(view.getUint8(at + 9)))
    } else if (kind === 0x3b || kind === 0x2c || frames > 0) break
    else throw new BrokenImage('a block is missing')
  }
  if (frames === 0) throw isWhole ? new BrokenImage('it has no frame') : new RangeError('no frame so far')
  return size
}

const readUint24 = (view: DataView, at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 65_536

/** The size in a chunk of a WebP file, or null. */
function readWebpChunk(view: DataView, name: string, at: number): ImageSize | null {
  if (name === 'VP8X') return { width: readUint24(view, at + 4) + 1, height: readUint24(view, at + 7) + 1 }
  if (name === 'ANMF') return { width: readUint24(view, at + 6) + 1, height: readUint24(view, at + 9) + 1 }
  if (name === 'VP8 ') {
    if (readUint24(view, at + 3) !== 0x2a019d) throw new BrokenImage('its VP8 frame has no start code')
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
    const name = readText(view, at, 4)
    if (at === 12 && !['VP8 ', 'VP8L', 'VP8X'].includes(name)) throw new BrokenImage('its first chunk is not an image')
    // Only the first chunk must be readable if the bytes end within it.
    const isCut = at + 18 > view.byteLength
    const chunkSize = size && isCut ? null : readWebpChunk(view, name, at + 8)
    if (chunkSize) size = pickLarger(size, chunkSize)
    const length = view.getUint32(at + 4, true)
    // The frames of an animation are nested chunks, whose sizes count too.
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

function* listBoxes(view: DataView, from: number, to: number): Generator<Box> {
  for (let at = from, count = 0; at + 8 <= Math.min(to, view.byteLength); count++) {
    if (count === maxBoxes) throw new BrokenImage('it has too many boxes')
    const shortLength = view.getUint32(at)
    const length = shortLength === 1 ? Number(view.getBigUint64(at + 8)) : shortLength || to - at
    const header = shortLength === 1 ? 16 : 8
    if (length < header) throw new BrokenImage('a box has no length')
    yield { name: readText(view, at + 4, 4), from: at + header, to: at + length }
    at += length
  }
}

function* findBoxes(view: DataView, { from, to }: Omit<Box, 'name'>, name: string): Generator<Box> {
  for (const box of listBoxes(view, from, to)) if (box.name === name) yield box
}

/** Finds boxes in a box. A box that is longer than its parent would be read again and again. */
function* findInnerBoxes(view: DataView, parent: Omit<Box, 'name'>, name: string): Generator<Box> {
  for (const box of findBoxes(view, parent, name)) {
    if (box.to > parent.to) throw new BrokenImage('a box is longer than its parent')
    yield box
  }
}

/** The sizes of an animation's tracks: 16.16 bits at the end of their headers. */
function* listTrackSizes(view: DataView, fileSize: number): Generator<ImageSize> {
  for (const movie of findBoxes(view, { from: 0, to: fileSize }, 'moov'))
    for (const track of findInnerBoxes(view, movie, 'trak'))
      for (const { from, to } of findInnerBoxes(view, track, 'tkhd'))
        if (to - from >= 8 && to <= view.byteLength)
          yield { width: view.getUint16(to - 8), height: view.getUint16(to - 4) }
}

export const readBrands = (view: DataView): string[] => {
  const length = Math.min(view.getUint32(0), 256, view.byteLength - 3)
  const brands = [readText(view, 8, 4)]
  for (let at = 16; at + 4 <= length; at += 4) brands.push(readText(view, at, 4))
  return brands
}

/** The pixels are in the box `mdat`, or for a small image in `idat` of `meta`. */
function checkLastBox(view: DataView, fileSize: number): void {
  const boxes = [...listBoxes(view, 0, fileSize)]
  if (boxes.some(({ to }) => to > fileSize)) throw new BrokenImage('it is shorter than its boxes say')
  if (view.byteLength < fileSize || boxes.some(({ name }) => name === 'mdat')) return
  const metas = boxes.filter(({ name }) => name === 'meta')
  const hasData = metas.some(({ from, to }) => [...findBoxes(view, { from: from + 4, to }, 'idat')].length > 0)
  if (!hasData) throw new BrokenImage('its pixels are missing')
}

/** The largest size of an image or a tile in the file. */
export function measureAvif(view: DataView, fileSize: number): ImageSize {
  let size: ImageSize | null = null
  for (const meta of findBoxes(view, { from: 0, to: fileSize }, 'meta')) {
    if (meta.to > view.byteLength) throw new RangeError('the properties are cut off')
    for (const properties of findInnerBoxes(view, { from: meta.from + 4, to: meta.to }, 'iprp'))
      for (const container of findInnerBoxes(view, properties, 'ipco'))
        for (const { from } of findInnerBoxes(view, container, 'ispe'))
          size = pickLarger(size, { width: view.getUint32(from + 4), height: view.getUint32(from + 8) })
  }
  if (!size) throw new RangeError('no property with a size')
  checkLastBox(view, fileSize)
  for (const track of listTrackSizes(view, fileSize)) size = pickLarger(size, track)
  return size
}

const orientationTag = 0x0112
const shortType = 3

/** The orientation in an Exif segment of a JPEG, from 1 to 8, or null. */
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
