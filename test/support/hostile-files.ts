import { image } from './images.ts'
import {
  anmf,
  avifOf,
  avifTrack,
  type Bytes,
  bytesOf,
  gifOf,
  jpegFrame,
  jpegMetadata,
  jpegOf,
  latin,
  pngFrame,
  pngHeader,
  pngOf,
  utf16Of,
  vp8,
  vp8l,
  vp8x,
  webpOf,
  zipOf,
} from './made-files.ts'

/** What is to come of a file: a type, with its pixels for images, or the code of the refusal and words of its detail. */
export type Expected =
  | readonly [type: string]
  | readonly [type: string, width: number, height: number]
  | readonly [
      code: 'empty_file' | 'invalid_image' | 'type_mismatch' | 'file_too_large' | 'unsupported_file_type',
      RegExp,
    ]

export interface HostileFile {
  name: string
  content: Bytes
  /** Of the whole file, where it is longer than `content`. */
  size?: number
  declared?: string
  expected: Expected
}

const file = (name: string, content: Bytes, expected: Expected, more: Partial<HostileFile> = {}): HostileFile => ({
  name,
  content,
  expected,
  ...more,
})

const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const workbook = zipOf('[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml')
const bomb = /4000[01]|pixels/

const wrongType: HostileFile[] = [
  file('SVG', latin('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), ['unsupported_file_type', /SVG/]),
  file('SVG behind an XML declaration', latin('<?xml version="1.0"?>\n<!-- , -->\n<svg></svg>'), [
    'unsupported_file_type',
    /SVG/,
  ]),
  file('SVG declared as PNG', latin('<svg/>'), ['unsupported_file_type', /SVG/], { declared: 'image/png' }),
  file('SVG in UTF-16', bytesOf([0xff, 0xfe], utf16Of('<svg onload="x">')), ['unsupported_file_type', /SVG/]),
  file(
    'SVG in UTF-16 without a mark, declared as CSV',
    utf16Of('\n<svg onload="x,y">'),
    ['unsupported_file_type', /SVG/],
    {
      declared: 'text/csv',
    },
  ),
  file('HTML', latin('<!DOCTYPE html><script>alert(1)</script>'), ['unsupported_file_type', /HTML/]),
  file(
    'HTML behind white space, declared as CSV',
    latin(' \r\n\t<script>a,b</script>\na,b'),
    ['unsupported_file_type', /HTML/],
    { declared: 'text/csv' },
  ),
  file('HTML behind NUL, declared as CSV', latin('\0<script>a,b</script>'), ['unsupported_file_type', /HTML/], {
    declared: 'text/csv',
  }),
  file('HTML behind a byte order mark', latin('\u00ef\u00bb\u00bf<html>'), ['unsupported_file_type', /HTML/]),
  file('XML', latin('<?xml version="1.0"?><a>1,2</a>'), ['unsupported_file_type', /XML/]),
  file('JSON', latin('{"a": 1, "b": 2}'), ['unsupported_file_type', /JSON/]),
  file('a list of JSON', latin('[{"a": 1}, {"a": 2}]'), ['unsupported_file_type', /JSON/], { declared: 'text/csv' }),
  file('a program of Windows', latin('MZ\u0090\0\u0003\0\0\0'), ['unsupported_file_type', /program/]),
  file('a program of Windows, declared as PNG', latin('MZ\u0090\0'), ['unsupported_file_type', /program/], {
    declared: 'image/png',
  }),
  file('a program of Linux', latin('\u007fELF\u0002\u0001'), ['unsupported_file_type', /program/]),
  file('WebAssembly', latin('\0asm\u0001\0\0\0'), ['unsupported_file_type', /program/]),
  file('a shell script with columns', latin('#!/bin/sh\necho a,b\necho c,d\n'), ['unsupported_file_type', /script/]),
  file('JavaScript', latin('alert(document.cookie)\n'), ['unsupported_file_type', /columns/]),
  file('plain text', latin('Dear all\nsee you\n'), ['unsupported_file_type', /columns/]),
  file('BMP', latin('BM\u0036\0\0\0\0\0\0\0'), ['unsupported_file_type', /BMP/]),
  file('TIFF', latin('II*\0\u0008\0\0\0'), ['unsupported_file_type', /TIFF/]),
  file('an icon', latin('\0\0\u0001\0\u0001\0'), ['unsupported_file_type', /icon/]),
  file('HEIC', avifOf([[16, 9]], 'heic\0\0\0\0heicmif1'), ['unsupported_file_type', /HEIC/]),
  file('a video', avifOf([], 'isom\0\0\0\0isommp41'), ['unsupported_file_type', /video/]),
  file('JPEG XL', latin('\u00ff\u000a\u00fa'), ['unsupported_file_type', /JPEG XL/]),
  file('a Photoshop document', latin('8BPS\0\u0001'), ['unsupported_file_type', /Photoshop/]),
  file('PostScript', latin('%!PS-Adobe-3.0\na,b\n'), ['unsupported_file_type', /PostScript/]),
  file('RTF', latin('{\\rtf1\\ansi'), ['unsupported_file_type', /RTF/]),
  file('gzip', latin('\u001f\u008b\u0008\0'), ['unsupported_file_type', /archive/]),
  file('RAR', latin('Rar!\u001a\u0007'), ['unsupported_file_type', /archive/]),
  file('a workbook of an old Excel', latin('\u00d0\u00cf\u0011\u00e0'), ['unsupported_file_type', /XLSX/], {
    declared: 'application/vnd.ms-excel',
  }),
  file('a sound', latin('ID3\u0003\0'), ['unsupported_file_type', /sound/]),
  file('RIFF that is a sound', latin('RIFF\u0024\0\0\0WAVEfmt '), ['unsupported_file_type', /sound/]),
  file('random bytes', bytesOf([1, 2, 3, 200, 0, 7, 9]), ['unsupported_file_type', /not known/]),
  file('random bytes, declared as CSV', bytesOf([1, 2, 3, 200, 0, 7, 9]), ['unsupported_file_type', /not known/], {
    declared: 'text/csv',
  }),
  file('PNG declared as JPEG', image('png'), ['type_mismatch', /image\/png.*image\/jpeg/], { declared: 'image/jpeg' }),
  file('PNG declared as SVG', image('png'), ['type_mismatch', /svg/], { declared: 'image/svg+xml' }),
  file('CSV declared as PDF', latin('a,b\n1,2\n'), ['type_mismatch', /text\/csv/], { declared: 'application/pdf' }),
]

const archives: HostileFile[] = [
  file('a ZIP archive', zipOf('a.txt'), ['unsupported_file_type', /no XLSX/]),
  file('a ZIP archive declared as XLSX', zipOf('a.txt'), ['unsupported_file_type', /no XLSX/], { declared: xlsx }),
  file('a DOCX document', zipOf('[Content_Types].xml', 'word/document.xml'), ['unsupported_file_type', /no XLSX/]),
  file('a workbook with macros', zipOf('xl/workbook.xml', 'xl/vbaProject.bin'), ['unsupported_file_type', /macros/]),
  file('a workbook whose macros stand elsewhere', zipOf('xl/workbook.xml', 'xl/deep/VBAProject.bin'), [
    'unsupported_file_type',
    /macros/,
  ]),
  file('a Java program that names a workbook', zipOf('META-INF/MANIFEST.MF', 'xl/workbook.xml'), [
    'unsupported_file_type',
    /no XLSX/,
  ]),
  file(
    'a page in an archive that is declared as XLSX',
    zipOf('index.html', 'app.js'),
    ['unsupported_file_type', /no XLSX/],
    {
      declared: xlsx,
    },
  ),
  file('a binary workbook', zipOf('[Content_Types].xml', 'xl/workbook.bin'), ['unsupported_file_type', /binary/]),
  file('an encrypted workbook', workbook.with(6, 1), ['unsupported_file_type', /encrypted/]),
  file('an archive whose entry names a size of 4 GB', workbook.with(20, 255).with(21, 255), [
    'unsupported_file_type',
    /no XLSX/,
  ]),
  file('an archive that ends in its first name', workbook.slice(0, 33), ['unsupported_file_type', /no XLSX/]),
  file(
    'an empty archive',
    bytesOf(
      'PK\u0005\u0006',
      Array.from({ length: 18 }, () => 0),
    ),
    ['unsupported_file_type', /broken archive/],
  ),
]

const truncated: HostileFile[] = [
  file('nothing', bytesOf(), ['empty_file', /no bytes/]),
  file('white space declared as CSV', latin(' \n \n'), ['empty_file', /no text/], { declared: 'text/csv' }),
  file('a byte order mark alone', latin('\u00ef\u00bb\u00bf'), ['empty_file', /no text/]),
  file('PNG of its signature alone', image('png').slice(0, 8), ['invalid_image', /before it ends/]),
  file('PNG without the end of its IHDR', image('png').slice(0, 30), ['invalid_image', /before it ends/]),
  file('PNG whose first chunk is another', bytesOf(image('png').slice(0, 12), 'IDAT', image('png').slice(16)), [
    'invalid_image',
    /IHDR/,
  ]),
  file('PNG with an unknown colour type', pngOf(16, 9, [8, 9, 0, 0, 0]), ['invalid_image', /colour/]),
  file('JPEG of its first marker alone', latin('\u00ff\u00d8\u00ff'), ['invalid_image', /before it ends/]),
  file('JPEG without a frame', bytesOf([0xff, 0xd8, 0xff, 0xda, 0, 4, 0, 0]), ['invalid_image', /no frame/]),
  file('JPEG whose segment has no length', bytesOf([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0]), ['invalid_image', /length/]),
  file('JPEG with bytes between its segments', bytesOf([0xff, 0xd8, 0xff, 0xe0, 0, 2, 7, 7]), [
    'invalid_image',
    /marker/,
  ]),
  file('JPEG whose frame comes too late', jpegOf(16, 9, jpegMetadata(...Array.from({ length: 18 }, () => 60_000))), [
    'invalid_image',
    /first 1048576/,
  ]),
  file('GIF of its name alone', latin('GIF89a'), ['invalid_image', /before it ends/]),
  file('GIF without a frame', gifOf(16, 9, []), ['invalid_image', /frame/]),
  file('GIF with bytes where a block must be', bytesOf('GIF89a', [1, 0, 1, 0, 0, 0, 0, 7, 7, 7]), [
    'invalid_image',
    /block/,
  ]),
  file('WebP of its name alone', latin('RIFF\u0004\0\0\0WEBP'), ['invalid_image', /before it ends/]),
  file('WebP that is shorter than it says', image('webp').slice(0, 100), ['invalid_image', /shorter/]),
  file('WebP whose VP8 has no start code', webpOf(vp8(16, 9)).with(23, 0), ['invalid_image', /start code/]),
  file('WebP that begins with metadata', webpOf([...latin('EXIF'), 0, 0, 0, 0], vp8(16, 9)), [
    'invalid_image',
    /image/,
  ]),
  file('AVIF without properties', avifOf([]), ['invalid_image', /before it ends/]),
  file('AVIF whose properties are cut off', image('avif').slice(0, 120), ['invalid_image', /before it ends/]),
  file('AVIF with a box of no length', bytesOf(avifOf([[16, 9]]).slice(0, 24), [0, 0, 0, 2], 'meta'), [
    'invalid_image',
    /length/,
  ]),
]

const manySmall = Array.from({ length: 10_000 }, (): [number, number] => [1, 1])

const bombs: HostileFile[] = [
  file('PNG of 20000 × 20000', pngOf(20_000, 20_000), ['invalid_image', bomb]),
  file('PNG of 2147483647 × 2147483647', pngOf(2_147_483_647, 2_147_483_647), ['invalid_image', bomb]),
  file('PNG of one row of 30 million', pngOf(30_000_000, 1), ['invalid_image', bomb]),
  file('PNG of no width', pngOf(0, 9), ['invalid_image', /no pixels/]),
  file('PNG of 40000001 pixels', pngOf(40_000_001, 1), ['invalid_image', bomb]),
  file('JPEG of 65535 × 65535', jpegOf(65_535, 65_535), ['invalid_image', bomb]),
  file('JPEG without a height', jpegOf(16, 0), ['invalid_image', /no pixels/]),
  file('GIF of 65535 × 65535', gifOf(65_535, 65_535, [{ width: 1, height: 1 }]), ['invalid_image', bomb]),
  file('GIF of 1 × 1 with a frame of 65535 × 65535', gifOf(1, 1, [{ width: 65_535, height: 65_535 }]), [
    'invalid_image',
    bomb,
  ]),
  file(
    'GIF whose second frame stands far out',
    gifOf(1, 1, [
      { width: 1, height: 1 },
      { left: 60_000, top: 60_000, width: 9, height: 9 },
    ]),
    ['invalid_image', bomb],
  ),
  file('PNG with a second IHDR of 65535 × 65535', bytesOf(pngOf(1, 1).slice(0, 33), pngHeader(65_535, 65_535)), [
    'invalid_image',
    /two IHDR/,
  ]),
  file('PNG of 1 × 1 with a frame of 60000 × 60000', bytesOf(pngOf(1, 1).slice(0, 33), pngFrame(60_000, 60_000)), [
    'invalid_image',
    bomb,
  ]),
  file(
    'JPEG with a second frame of 65535 × 65535',
    bytesOf(jpegOf(16, 9).slice(0, -2), jpegFrame(65_535, 65_535), [0xff, 0xda]),
    ['invalid_image', /two frames/],
  ),
  file('AVIF whose large picture stands behind 10000 small ones', avifOf([...manySmall, [30_000, 30_000]]), [
    'invalid_image',
    /too many/,
  ]),
  file('AVIF of 1 × 1 with a track of 60000 × 60000', bytesOf(avifOf([[1, 1]]), avifTrack(60_000, 60_000)), [
    'invalid_image',
    bomb,
  ]),
  file('AVIF with properties longer than what holds them', avifOf([[1, 1]]).with(55, 255), [
    'invalid_image',
    /longer than/,
  ]),
  file('WebP of 16383 × 16383', webpOf(vp8l(16_383, 16_383)), ['invalid_image', bomb]),
  file('WebP of a canvas of 16777216 × 1', webpOf(vp8x(16_777_216, 1), vp8(1, 1)), ['invalid_image', bomb]),
  file('WebP of 1 × 1 with a picture of 16383 × 16383', webpOf(vp8x(1, 1), vp8(16_383, 16_383)), [
    'invalid_image',
    bomb,
  ]),
  file('WebP of 1 × 1 with a frame of 16383 × 16383', webpOf(vp8x(1, 1), anmf(1, 1, vp8(16_383, 16_383))), [
    'invalid_image',
    bomb,
  ]),
  file('AVIF of 60000 × 60000', avifOf([[60_000, 60_000]]), ['invalid_image', bomb]),
  file(
    'AVIF with a small picture before a large one',
    avifOf([
      [1, 1],
      [30_000, 30_000],
      [2, 2],
    ]),
    ['invalid_image', bomb],
  ),
]

const tooLarge: HostileFile[] = [
  file('an image of more than 10 MB', image('png'), ['file_too_large', /10000000/], { size: 10_000_001 }),
  file('a PDF of more than 25 MB', latin('%PDF-1.7\n'), ['file_too_large', /25000000/], { size: 25_000_001 }),
  file('a CSV of more than 50 MB', latin('a,b\n1,2\n'), ['file_too_large', /50000000/], { size: 50_000_001 }),
  file('a workbook of more than 50 MB', workbook, ['file_too_large', /50000000/], { size: 50_000_001 }),
]

/** Files that are two things at once are taken as what they begin as, and served so that they are nothing else. */
const polyglots: HostileFile[] = [
  file('GIF that is JavaScript', bytesOf(gifOf(10_799, 1, [{ width: 1, height: 1 }]), '*/=1;alert(1)//'), [
    'image/gif',
    10_799,
    1,
  ]),
  file(
    'JPEG with HTML in its metadata',
    jpegOf(16, 9, [0xff, 0xfe, 0, 18, ...latin('<script>x</script')].slice(0, 20)),
    ['image/jpeg', 16, 9],
  ),
  file('PNG with HTML behind it', bytesOf(image('png'), '<html><script>alert(1)</script>'), ['image/png', 16, 9]),
  file('PDF with HTML in it', latin('%PDF-1.4\n<script>alert(1)</script>'), ['application/pdf']),
  file('PDF that does not begin as one', latin('<html>%PDF-1.4'), ['unsupported_file_type', /HTML/]),
  file('PDF of no known version', latin('%PDF-9.9'), ['unsupported_file_type', /columns/]),
  file('an image with an archive behind it', bytesOf(image('png'), zipOf('a.jar')), ['image/png', 16, 9]),
  file('an archive with a workbook in it and a program behind it', bytesOf(workbook, 'MZ'), [xlsx]),
  file('GIF whose comment is HTML', bytesOf(gifOf(9, 9, [{ width: 9, height: 9 }]), '<script>alert(1)</script>'), [
    'image/gif',
    9,
    9,
  ]),
  file('WebP with a page behind it', bytesOf(webpOf(vp8(16, 9)), '<!DOCTYPE html><script>x</script>'), [
    'image/webp',
    16,
    9,
  ]),
  file('AVIF with a program behind it', bytesOf(avifOf([[16, 9]]), 'MZ'), ['image/avif', 16, 9]),
  file('PDF with a form of HTML and JavaScript', latin('%PDF-1.7\n<html><!--\n/OpenAction /S /JavaScript'), [
    'application/pdf',
  ]),
  file('CSV with formulas and HTML', latin('name,note\n=cmd|calc,<script>alert(1)</script>\n'), ['text/csv']),
]

const good: HostileFile[] = [
  file('PNG', image('png'), ['image/png', 16, 9]),
  file('PNG of exactly 40 megapixels', pngOf(8000, 5000), ['image/png', 8000, 5000]),
  file('PNG of exactly 10 MB', image('png'), ['image/png', 16, 9], { size: 10_000_000 }),
  file('JPEG', image('jpeg'), ['image/jpeg', 16, 9], { declared: 'image/jpg' }),
  file('JPEG that is shown turned', image('turnedJpeg'), ['image/jpeg', 9, 16]),
  file('JPEG with much metadata', jpegOf(16, 9, jpegMetadata(30_000, 30_000)), ['image/jpeg', 16, 9]),
  file(
    'JPEG for print, with its colours before its frame',
    jpegOf(16, 9, jpegMetadata(...Array.from({ length: 10 }, () => 60_000))),
    ['image/jpeg', 16, 9],
  ),
  file('WebP', image('webp'), ['image/webp', 16, 9]),
  file('WebP without loss', image('losslessWebp'), ['image/webp', 16, 9]),
  file('WebP with transparency', image('alphaWebp'), ['image/webp', 16, 9]),
  file('GIF', image('gif'), ['image/gif', 16, 9]),
  file('AVIF', image('avif'), ['image/avif', 16, 9], { declared: 'application/octet-stream' }),
  file('PDF', latin('%PDF-2.0\n%\u00e2\u00e3'), ['application/pdf']),
  file('CSV', latin('name,price\nÆ,1\n'), ['text/csv']),
  file('CSV with semicolons in Windows-1252', latin('navn;pris\nS\u00f8ren;1\n'), ['text/csv']),
  file('CSV in UTF-8 with a mark', latin('\u00ef\u00bb\u00bfnavn;pris\nS\u00c3\u00b8ren;1\n'), ['text/csv']),
  file('CSV in UTF-16', bytesOf([0xff, 0xfe], utf16Of('navn;pris\nSøren;1\n')), ['text/csv']),
  file('CSV in UTF-16, the big end first', bytesOf([0xfe, 0xff], utf16Of('navn\tpris\nSøren\t1\n', true)), [
    'text/csv',
  ]),
  file('CSV that is cut inside a character', latin('navn;pris\nS\u00c3\u00b8ren;1\nS\u00c3'), ['text/csv'], {
    size: 99,
  }),
  file('CSV with line ends inside of quotes', latin('a,b\r\n"1\r\n2",3\r\n"x, y",4\r\n'), ['text/csv']),
  file('CSV of one column, declared', latin('email\na@example.com\n'), ['text/csv'], { declared: 'text/plain' }),
  file('CSV as Windows declares it', latin('a,b\n1,2\n'), ['text/csv'], { declared: 'application/vnd.ms-excel' }),
  file('a workbook', workbook, [xlsx], { declared: xlsx }),
  file(
    'a workbook whose list of types comes last',
    zipOf('docProps/app.xml', 'xl/workbook.xml', '[Content_Types].xml'),
    [xlsx],
  ),
]

/** At least 60 that mean harm or are broken, and those that must still be taken. */
export const hostileFiles: readonly HostileFile[] = [
  ...wrongType,
  ...archives,
  ...truncated,
  ...bombs,
  ...tooLarge,
  ...polyglots,
]
export const harmlessFiles: readonly HostileFile[] = good
