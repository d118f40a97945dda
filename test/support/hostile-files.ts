import {
  makeAvif,
  joinBytes,
  makeGif,
  jpegMetadata,
  makeJpeg,
  latin,
  makePng,
  vp8,
  makeWebp,
  encodeUtf16,
  makeZip,
} from './file-bytes.ts'
import { type HostileFile, hostileFile as file } from './hostile-file.ts'
import { bombs, truncated } from './hostile-images.ts'
import { image } from './images.ts'

export type { Expected, HostileFile } from './hostile-file.ts'

const xlsx = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const zip = 'application/zip'
const workbook = makeZip('[Content_Types].xml', '_rels/.rels', 'xl/workbook.xml')

const wrongType: HostileFile[] = [
  file('SVG', latin('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), ['unsupported_file_type', /SVG/]),
  file('SVG behind an XML declaration', latin('<?xml version="1.0"?>\n<!-- , -->\n<svg></svg>'), [
    'unsupported_file_type',
    /SVG/,
  ]),
  file('SVG declared as PNG', latin('<svg/>'), ['unsupported_file_type', /SVG/], { declared: 'image/png' }),
  file('SVG in UTF-16', joinBytes([0xff, 0xfe], encodeUtf16('<svg onload="x">')), ['unsupported_file_type', /SVG/]),
  file(
    'SVG in UTF-16 without a mark, declared as CSV',
    encodeUtf16('\n<svg onload="x,y">'),
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
  file('HEIC', makeAvif([[16, 9]], 'heic\0\0\0\0heicmif1'), ['unsupported_file_type', /HEIC/]),
  file('a video', makeAvif([], 'isom\0\0\0\0isommp41'), ['unsupported_file_type', /video/]),
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
  file('random bytes', joinBytes([1, 2, 3, 200, 0, 7, 9]), ['unsupported_file_type', /unknown/]),
  file('random bytes, declared as CSV', joinBytes([1, 2, 3, 200, 0, 7, 9]), ['unsupported_file_type', /unknown/], {
    declared: 'text/csv',
  }),
  file('PNG declared as a table', image('png'), ['type_mismatch', /image\/png.*text\/csv/], { declared: 'text/csv' }),
  file('PNG declared as SVG', image('png'), ['type_mismatch', /svg/], { declared: 'image/svg+xml' }),
  file('CSV declared as PDF', latin('a,b\n1,2\n'), ['type_mismatch', /text\/csv/], { declared: 'application/pdf' }),
]

const archives: HostileFile[] = [
  file('a ZIP archive', makeZip('a.txt'), ['unsupported_file_type', /not an XLSX/]),
  file('a ZIP archive declared as XLSX', makeZip('a.txt'), ['unsupported_file_type', /not an XLSX/], {
    declared: xlsx,
  }),
  file('a DOCX document', makeZip('[Content_Types].xml', 'word/document.xml'), [
    'unsupported_file_type',
    /not an XLSX/,
  ]),
  file('a workbook with macros', makeZip('xl/workbook.xml', 'xl/vbaProject.bin'), ['unsupported_file_type', /macros/]),
  file('a workbook whose macros stand elsewhere', makeZip('xl/workbook.xml', 'xl/deep/VBAProject.bin'), [
    'unsupported_file_type',
    /macros/,
  ]),
  file('a Java program that names a workbook', makeZip('META-INF/MANIFEST.MF', 'xl/workbook.xml'), [
    'unsupported_file_type',
    /not an XLSX/,
  ]),
  file(
    'a page in an archive that is declared as XLSX',
    makeZip('index.html', 'app.js'),
    ['unsupported_file_type', /not an XLSX/],
    {
      declared: xlsx,
    },
  ),
  file('a binary workbook', makeZip('[Content_Types].xml', 'xl/workbook.bin'), ['unsupported_file_type', /binary/]),
  file('an encrypted workbook', workbook.with(6, 1), ['unsupported_file_type', /encrypted/]),
  file('an archive whose entry names a size of 4 GB', workbook.with(20, 255).with(21, 255), [
    'unsupported_file_type',
    /not an XLSX/,
  ]),
  file('a program in an archive of tables', makeZip('a.csv', 'run.exe'), ['unsupported_file_type', /not all.*CSV/]),
  file('a table on a path out of its archive', makeZip('a.csv', '../b.csv'), ['unsupported_file_type', /not all.*CSV/]),
  file('an encrypted archive of tables', makeZip('a.csv').with(6, 1), ['unsupported_file_type', /encrypted/]),
  file('a Java program beside a table', makeZip('a.csv', 'META-INF/MANIFEST.MF'), [
    'unsupported_file_type',
    /not an XLSX/,
  ]),
  file('an archive that ends in its first name', workbook.slice(0, 33), ['unsupported_file_type', /not an XLSX/]),
  file(
    'an empty archive',
    joinBytes(
      'PK\u0005\u0006',
      Array.from({ length: 18 }, () => 0),
    ),
    ['unsupported_file_type', /broken archive/],
  ),
]

const tooLarge: HostileFile[] = [
  file('an image of more than 10 MB', image('png'), ['file_too_large', /10000000/], { size: 10_000_001 }),
  file('a PDF of more than 25 MB', latin('%PDF-1.7\n'), ['file_too_large', /25000000/], { size: 25_000_001 }),
  file('a CSV of more than 50 MB', latin('a,b\n1,2\n'), ['file_too_large', /50000000/], { size: 50_000_001 }),
  file('a workbook of more than 50 MB', workbook, ['file_too_large', /50000000/], { size: 50_000_001 }),
]

/** A file that is two things at once is accepted as its beginning, and served with only that type. */
const polyglots: HostileFile[] = [
  file('GIF that is JavaScript', joinBytes(makeGif(10_799, 1, [{ width: 1, height: 1 }]), '*/=1;alert(1)//'), [
    'image/gif',
    10_799,
    1,
  ]),
  file(
    'JPEG with HTML in its metadata',
    makeJpeg(16, 9, [0xff, 0xfe, 0, 18, ...latin('<script>x</script')].slice(0, 20)),
    ['image/jpeg', 16, 9],
  ),
  file('PNG with HTML behind it', joinBytes(image('png'), '<html><script>alert(1)</script>'), ['image/png', 16, 9]),
  file('PDF with HTML in it', latin('%PDF-1.4\n<script>alert(1)</script>'), ['application/pdf']),
  file('PDF that does not begin as one', latin('<html>%PDF-1.4'), ['unsupported_file_type', /HTML/]),
  file('PDF of no known version', latin('%PDF-9.9'), ['unsupported_file_type', /columns/]),
  file('an image with an archive behind it', joinBytes(image('png'), makeZip('a.jar')), ['image/png', 16, 9]),
  file('an archive with a workbook in it and a program behind it', joinBytes(workbook, 'MZ'), [xlsx]),
  file('GIF whose comment is HTML', joinBytes(makeGif(9, 9, [{ width: 9, height: 9 }]), '<script>alert(1)</script>'), [
    'image/gif',
    9,
    9,
  ]),
  file('WebP with a page behind it', joinBytes(makeWebp(vp8(16, 9)), '<!DOCTYPE html><script>x</script>'), [
    'image/webp',
    16,
    9,
  ]),
  file('AVIF with a program behind it', joinBytes(makeAvif([[16, 9]]), 'MZ'), ['image/avif', 16, 9]),
  file('PDF with a form of HTML and JavaScript', latin('%PDF-1.7\n<html><!--\n/OpenAction /S /JavaScript'), [
    'application/pdf',
  ]),
  file('CSV with formulas and HTML', latin('name,note\n=cmd|calc,<script>alert(1)</script>\n'), ['text/csv']),
]

const good: HostileFile[] = [
  file('PNG', image('png'), ['image/png', 16, 9]),
  file('PNG of exactly 40 megapixels', makePng(8000, 5000), ['image/png', 8000, 5000]),
  file('PNG of exactly 10 MB', image('png'), ['image/png', 16, 9], { size: 10_000_000 }),
  file('JPEG', image('jpeg'), ['image/jpeg', 16, 9], { declared: 'image/jpg' }),
  file('JPEG that is shown turned', image('turnedJpeg'), ['image/jpeg', 9, 16]),
  file('JPEG with much metadata', makeJpeg(16, 9, jpegMetadata(30_000, 30_000)), ['image/jpeg', 16, 9]),
  file(
    'JPEG for print, with its colours before its frame',
    makeJpeg(16, 9, jpegMetadata(...Array.from({ length: 10 }, () => 60_000))),
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
  file('CSV in UTF-16', joinBytes([0xff, 0xfe], encodeUtf16('navn;pris\nSøren;1\n')), ['text/csv']),
  file('CSV in UTF-16, the big end first', joinBytes([0xfe, 0xff], encodeUtf16('navn\tpris\nSøren\t1\n', true)), [
    'text/csv',
  ]),
  file('CSV that is cut inside a character', latin('navn;pris\nS\u00c3\u00b8ren;1\nS\u00c3'), ['text/csv'], {
    size: 99,
  }),
  file('CSV with line ends inside of quotes', latin('a,b\r\n"1\r\n2",3\r\n"x, y",4\r\n'), ['text/csv']),
  file('CSV of one column, declared', latin('email\na@example.com\n'), ['text/csv'], { declared: 'text/plain' }),
  file('CSV as Windows declares it', latin('a,b\n1,2\n'), ['text/csv'], { declared: 'application/vnd.ms-excel' }),
  file('a workbook', workbook, [xlsx], { declared: xlsx }),
  file('an archive of tables', makeZip('a.csv', 'b.csv', '__MACOSX/._a.csv', 'README.txt'), [zip], { declared: zip }),
  file('an archive of tables as Windows declares it', makeZip('a.csv'), [zip], {
    declared: 'application/x-zip-compressed',
  }),
  file(
    'a workbook whose list of types comes last',
    makeZip('docProps/app.xml', 'xl/workbook.xml', '[Content_Types].xml'),
    [xlsx],
  ),
]

/** At least 60 files are malicious or broken, and others must be accepted. */
export const hostileFiles: readonly HostileFile[] = [
  ...wrongType,
  ...archives,
  ...truncated,
  ...bombs,
  ...tooLarge,
  ...polyglots,
]
export const harmlessFiles: readonly HostileFile[] = good
