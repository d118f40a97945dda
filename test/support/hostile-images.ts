import {
  anmf,
  makeAvif,
  avifTrack,
  joinBytes,
  makeGif,
  jpegFrame,
  jpegMetadata,
  makeJpeg,
  latin,
  pngFrame,
  pngHeader,
  makePng,
  vp8,
  vp8l,
  vp8x,
  makeWebp,
} from './file-bytes.ts'
import { type HostileFile, hostileFile as file } from './hostile-file.ts'
import { image } from './images.ts'

const bomb = /4000[01]|pixels/

/** Images without their end, and broken images. */
export const truncated: HostileFile[] = [
  file('nothing', joinBytes(), ['empty_file', /no bytes/]),
  file('white space declared as CSV', latin(' \n \n'), ['empty_file', /no text/], { declared: 'text/csv' }),
  file('a byte order mark alone', latin('\u00ef\u00bb\u00bf'), ['empty_file', /no text/]),
  file('PNG of its signature alone', image('png').slice(0, 8), ['invalid_image', /before it ends/]),
  file('PNG without the end of its IHDR', image('png').slice(0, 30), ['invalid_image', /before it ends/]),
  file('PNG whose first chunk is another', joinBytes(image('png').slice(0, 12), 'IDAT', image('png').slice(16)), [
    'invalid_image',
    /IHDR/,
  ]),
  file('PNG with an unknown colour type', makePng(16, 9, [8, 9, 0, 0, 0]), ['invalid_image', /colour/]),
  file('JPEG of its first marker alone', latin('\u00ff\u00d8\u00ff'), ['invalid_image', /before it ends/]),
  file('JPEG without a frame', joinBytes([0xff, 0xd8, 0xff, 0xda, 0, 4, 0, 0]), ['invalid_image', /no frame/]),
  file('JPEG whose segment has no length', joinBytes([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0]), [
    'invalid_image',
    /length/,
  ]),
  file('JPEG with bytes between its segments', joinBytes([0xff, 0xd8, 0xff, 0xe0, 0, 2, 7, 7]), [
    'invalid_image',
    /marker/,
  ]),
  file('JPEG whose frame comes too late', makeJpeg(16, 9, jpegMetadata(...Array.from({ length: 18 }, () => 60_000))), [
    'invalid_image',
    /first 1048576/,
  ]),
  file('GIF of its name alone', latin('GIF89a'), ['invalid_image', /before it ends/]),
  file('GIF without a frame', makeGif(16, 9, []), ['invalid_image', /frame/]),
  file('GIF with bytes where a block must be', joinBytes('GIF89a', [1, 0, 1, 0, 0, 0, 0, 7, 7, 7]), [
    'invalid_image',
    /block/,
  ]),
  file('WebP of its name alone', latin('RIFF\u0004\0\0\0WEBP'), ['invalid_image', /before it ends/]),
  file('WebP that is shorter than it says', image('webp').slice(0, 100), ['invalid_image', /shorter/]),
  file('WebP whose VP8 has no start code', makeWebp(vp8(16, 9)).with(23, 0), ['invalid_image', /start code/]),
  file('WebP that begins with metadata', makeWebp([...latin('EXIF'), 0, 0, 0, 0], vp8(16, 9)), [
    'invalid_image',
    /image/,
  ]),
  file('AVIF without properties', makeAvif([]), ['invalid_image', /before it ends/]),
  file('AVIF whose properties are cut off', image('avif').slice(0, 120), ['invalid_image', /before it ends/]),
  file('AVIF with a box of no length', joinBytes(makeAvif([[16, 9]]).slice(0, 24), [0, 0, 0, 2], 'meta'), [
    'invalid_image',
    /length/,
  ]),
]

const manySmall = Array.from({ length: 10_000 }, (): [number, number] => [1, 1])

/** Images that take far more memory than they have bytes. */
export const bombs: HostileFile[] = [
  file('PNG of 20000 × 20000', makePng(20_000, 20_000), ['invalid_image', bomb]),
  file('PNG of 2147483647 × 2147483647', makePng(2_147_483_647, 2_147_483_647), ['invalid_image', bomb]),
  file('PNG of one row of 30 million', makePng(30_000_000, 1), ['invalid_image', bomb]),
  file('PNG of no width', makePng(0, 9), ['invalid_image', /no pixels/]),
  file('PNG of 40000001 pixels', makePng(40_000_001, 1), ['invalid_image', bomb]),
  file('JPEG of 65535 × 65535', makeJpeg(65_535, 65_535), ['invalid_image', bomb]),
  file('JPEG without a height', makeJpeg(16, 0), ['invalid_image', /no pixels/]),
  file('GIF of 65535 × 65535', makeGif(65_535, 65_535, [{ width: 1, height: 1 }]), ['invalid_image', bomb]),
  file('GIF of 1 × 1 with a frame of 65535 × 65535', makeGif(1, 1, [{ width: 65_535, height: 65_535 }]), [
    'invalid_image',
    bomb,
  ]),
  file(
    'GIF whose second frame stands far out',
    makeGif(1, 1, [
      { width: 1, height: 1 },
      { left: 60_000, top: 60_000, width: 9, height: 9 },
    ]),
    ['invalid_image', bomb],
  ),
  file('PNG with a second IHDR of 65535 × 65535', joinBytes(makePng(1, 1).slice(0, 33), pngHeader(65_535, 65_535)), [
    'invalid_image',
    /two IHDR/,
  ]),
  file('PNG of 1 × 1 with a frame of 60000 × 60000', joinBytes(makePng(1, 1).slice(0, 33), pngFrame(60_000, 60_000)), [
    'invalid_image',
    bomb,
  ]),
  file(
    'JPEG with a second frame of 65535 × 65535',
    joinBytes(makeJpeg(16, 9).slice(0, -6), jpegFrame(65_535, 65_535), [0xff, 0xda]),
    ['invalid_image', /two frames/],
  ),
  file('AVIF whose large picture stands behind 10000 small ones', makeAvif([...manySmall, [30_000, 30_000]]), [
    'invalid_image',
    /too many/,
  ]),
  file('AVIF of 1 × 1 with a track of 60000 × 60000', joinBytes(makeAvif([[1, 1]]), avifTrack(60_000, 60_000)), [
    'invalid_image',
    bomb,
  ]),
  file('AVIF with properties longer than what holds them', makeAvif([[1, 1]]).with(55, 255), [
    'invalid_image',
    /longer than/,
  ]),
  file('WebP of 16383 × 16383', makeWebp(vp8l(16_383, 16_383)), ['invalid_image', bomb]),
  file('WebP of a canvas of 16777216 × 1', makeWebp(vp8x(16_777_216, 1), vp8(1, 1)), ['invalid_image', bomb]),
  file('WebP of 1 × 1 with a picture of 16383 × 16383', makeWebp(vp8x(1, 1), vp8(16_383, 16_383)), [
    'invalid_image',
    bomb,
  ]),
  file('WebP of 1 × 1 with a frame of 16383 × 16383', makeWebp(vp8x(1, 1), anmf(1, 1, vp8(16_383, 16_383))), [
    'invalid_image',
    bomb,
  ]),
  file('AVIF of 60000 × 60000', makeAvif([[60_000, 60_000]]), ['invalid_image', bomb]),
  file(
    'AVIF with a small picture before a large one',
    makeAvif([
      [1, 1],
      [30_000, 30_000],
      [2, 2],
    ]),
    ['invalid_image', bomb],
  ),
]
