const orientationTag = 0x0112
const shortType = 3

/** The orientation in an Exif segment of a JPEG file, 1 to 8; null without a readable one. */
export function readOrientation(view: DataView, from: number, length: number): number | null {
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
