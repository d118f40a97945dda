import { hasColumns } from '../data-imports/files/dialect.ts'
import { readTextHead } from '../data-imports/files/encoding/detect.ts'
import { listHeadEntries } from '../data-imports/files/xlsx/zip.ts'
import { AppError, fieldError } from '../errors.ts'
import { fileTooLarge, maxFileBytes, maxUploadBytes } from './files.ts'
import {
  measureAvif,
  readBrands,
  BrokenImage,
  measureGif,
  type ImageSize,
  measureJpeg,
  measurePng,
  measureWebp,
} from './image-size.ts'
import { matchesDeclaration, parseDeclaredType, type FileFamily, fileTypes, type FileType, xlsxType } from './types.ts'

const maxPixels = 40_000_000
/** The longest side of an image in all formats and browsers: a strip of one pixel's height can exhaust memory too. */
const maxSide = 65_535

export interface ContentType {
  mime_type: FileType
  width: number | null
  height: number | null
}

export type SizeLimits = Readonly<Record<FileFamily, number>>

const megabyte = 1_000_000

/** The most bytes of a file in one request, and of a file in parts. */
const requestLimits: SizeLimits = { image: 10 * megabyte, document: 25 * megabyte, table: maxFileBytes }
export const partsLimits: SizeLimits = { ...requestLimits, table: maxUploadBytes }

const wrong = (code: 'empty_file' | 'invalid_image' | 'type_mismatch', detail: string): AppError =>
  new AppError(code, detail, { errors: [fieldError(['file'], code, detail)] })

const unsupported = (what: string): AppError => {
  const detail = `${what} Taken are PNG, JPEG, WebP, GIF, AVIF, PDF, CSV and XLSX.`
  return new AppError('unsupported_file_type', detail, {
    errors: [fieldError(['file'], 'unsupported_file_type', detail)],
  })
}

const startsWith = (bytes: Uint8Array, start: string, at = 0): boolean =>
  bytes.length >= at + start.length && [...start].every((letter, index) => bytes[at + index] === letter.charCodeAt(0))

interface Head {
  bytes: Uint8Array
  size: number
}

const viewOf = ({ bytes }: Head): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

type Measure = (view: DataView, head: Head) => ImageSize

/** The types of images by their first bytes, with the function that measures each. */
const images: readonly { type: FileType; is: (head: Head) => boolean; measure: Measure }[] = [
  { type: 'image/png', is: ({ bytes }) => startsWith(bytes, '\u0089PNG\r\n\u001a\n'), measure: measurePng },
  { type: 'image/jpeg', is: ({ bytes }) => startsWith(bytes, '\u00ff\u00d8\u00ff'), measure: measureJpeg },
  {
    type: 'image/gif',
    is: ({ bytes }) => startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a'),
    measure: (view, { bytes, size }) => measureGif(view, bytes.length >= size),
  },
  {
    type: 'image/webp',
    is: ({ bytes }) => startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8),
    measure: (view, { size }) => measureWebp(view, size),
  },
  {
    type: 'image/avif',
    is: (head) =>
      startsWith(head.bytes, 'ftyp', 4) &&
      head.bytes.length >= 16 &&
      readBrands(viewOf(head)).some((brand) => brand === 'avif' || brand === 'avis'),
    measure: (view, { size }) => measureAvif(view, size),
  },
]

function measured(type: FileType, head: Head, measure: Measure): ContentType {
  const name = type.slice('image/'.length).toUpperCase()
  let size: ImageSize
  try {
    size = measure(viewOf(head), head)
  } catch (error) {
    if (error instanceof BrokenImage) throw wrong('invalid_image', `This is no whole ${name} image: ${error.message}.`)
    if (!(error instanceof RangeError)) throw error
    const cut = head.bytes.length < head.size ? `in its first ${head.bytes.length} bytes` : 'before it ends'
    throw wrong('invalid_image', `This ${name} image does not state its width and height ${cut}.`)
  }
  const { width, height } = size
  if (width === 0 || height === 0) throw wrong('invalid_image', `This ${name} image has no pixels.`)
  if (width * height > maxPixels || width > maxSide || height > maxSide)
    throw wrong('invalid_image', `The image has ${width} × ${height} pixels; at most ${maxPixels} are taken.`)
  return { mime_type: type, width, height }
}

function judgePackage({ bytes }: Head): FileType {
  const entries = listHeadEntries(bytes)
  const has = (pattern: RegExp) => entries.some(({ name }) => pattern.test(name))
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw unsupported('This archive is encrypted.')
  if (has(/(?:^|[/\\])(?:vbaProject\.bin$|macrosheets[/\\])/i)) throw unsupported('This workbook has macros.')
  if (has(/^xl\/workbook\.bin$/i)) throw unsupported('This is a binary workbook.')
  if (has(/^(?:word|ppt|META-INF)\//i) || !has(/^xl\//)) throw unsupported('This archive is no XLSX workbook.')
  return xlsxType
}

/** The bytes of a text that are enough to detect its type. */
const textBytes = 65_536

/** Drops the last row, which the end of the bytes may have cut. */
const dropLastRow = (text: string): string => text.slice(0, text.search(/[\r\n][^\r\n]*$/)) || text

function judgeText(head: Head, declared: string | null): FileType {
  const start = head.bytes.subarray(0, textBytes)
  const text = readTextHead(start)
  const refusal = findRefusal(start, text)
  if (refusal !== null) throw unsupported(refusal)
  if (text === null) throw unsupported('What this content is, is not known.')
  if (text.replace('\u{FEFF}', '').trim() === '') throw wrong('empty_file', 'The file has no text.')
  const isDeclared = declared !== null && matchesDeclaration(declared, 'text/csv')
  if (!isDeclared && !hasColumns(start.length < head.size ? dropLastRow(text) : text))
    throw unsupported('This text has no columns, and was not declared as text/csv.')
  return 'text/csv'
}

function judgeType(head: Head, declared: string | null): ContentType {
  const image = images.find(({ is }) => is(head))
  if (image) return measured(image.type, head, image.measure)
  const other = (mime_type: FileType): ContentType => ({ mime_type, width: null, height: null })
  if (/^%PDF-[12]\.\d/.test(String.fromCharCode(...head.bytes.subarray(0, 8)))) return other('application/pdf')
  if (startsWith(head.bytes, 'PK\u0003\u0004')) return other(judgePackage(head))
  return other(judgeText(head, declared))
}

/**
 * What content is, by its beginning and never by its name; `head` is at most `headBytes` of it. Refuses what is empty,
 * too large, broken, of a type that is not taken, or not what the `Content-Type` in `declared` says.
 */
export function checkContent(
  head: Uint8Array,
  size: number,
  declared?: string | null,
  limits: SizeLimits = requestLimits,
): ContentType {
  if (size === 0 || head.length === 0) throw wrong('empty_file', 'The file has no bytes.')
  const declaration = parseDeclaredType(declared)
  const content = judgeType({ bytes: head, size }, declaration)
  const most = limits[fileTypes[content.mime_type].family]
  if (declaration !== null && !matchesDeclaration(declaration, content.mime_type))
    throw wrong(
      'type_mismatch',
      `The content is ${content.mime_type}, and was declared as ${declaration.slice(0, 100)}.`,
    )
  if (size > most) throw fileTooLarge(most)
  return content
}

/* oxlint-disable no-control-regex -- files of programs begin with controls */
/** Known types that are refused, by their first bytes, with the text of the refusal. */
const beginnings: readonly [pattern: RegExp, reason: string][] = [
  [/^MZ/, 'This is a program of Windows.'],
  [/^\u007fELF/, 'This is a program.'],
  [/^(?:\u00ca\u00fe\u00ba\u00be|\u00cf\u00fa\u00ed\u00fe)/, 'This is a program.'],
  [/^\0asm/, 'This is a program.'],
  [/^#!/, 'This is a script.'],
  [
    /^\u00d0\u00cf\u0011\u00e0/,
    'This is a workbook with a password, or a document of an old Office: save it as XLSX without a password.',
  ],
  [/^BM[\s\S]{4}\0\0\0\0/, 'This is a BMP image.'],
  [/^(?:II\*\0|MM\0\*)/, 'This is a TIFF image.'],
  [/^\0\0\u0001\0/, 'This is an icon.'],
  [/^(?:\u00ff\u000a|\0\0\0\u000cJXL )/, 'This is a JPEG XL image.'],
  [/^[\s\S]{4}ftyp(?:hei|hev|mif1|msf1)/, 'This is a HEIC image: save it as JPEG.'],
  [/^[\s\S]{4}ftyp/, 'This is a video.'],
  [/^8BPS/, 'This is a Photoshop document.'],
  [/^%!PS/, 'This is PostScript.'],
  [/^\{\\rtf/, 'This is an RTF document.'],
  [/^(?:\u001f\u008b|BZh|\u00fd7zXZ|7z\u00bc\u00af|Rar!|\u0028\u00b5\u002f\u00fd)/, 'This is an archive.'],
  [/^PK/, 'This is a broken archive.'],
  [/^(?:OggS|ID3|RIFF|fLaC|\u001aE\u00df\u00a3)/, 'This is a sound or a video.'],
  [/^SQLite format 3\0/, 'This is a database.'],
]

const markup = (text: string): string => {
  if (/<svg[\s>/]/i.test(text)) return 'SVG images may hold programs.'
  if (/^<(?:!doctype\s+html|html|head|body|script|style|iframe|img|a|div|p|br|h1|title|meta|link|!--)\b/i.test(text))
    return 'HTML pages may hold programs.'
  return 'This is XML or another markup.'
}

/** The reason why content is refused; null for no known reason. `text` is the content as text, or null. */
function findRefusal(bytes: Uint8Array, text: string | null): string | null {
  const start = String.fromCharCode(...bytes.subarray(0, 32))
  const known = beginnings.find(([pattern]) => pattern.test(start))
  if (known) return known[1]
  const shown = (text ?? new TextDecoder('latin1').decode(bytes)).replace(/^[\u{FEFF}\s\0]+/u, '')
  // A browser that sniffs the type ignores white space.
  if (shown.startsWith('<')) return markup(shown)
  if (text !== null && /^(?:\{\s*["}]|\[\s*[[{"\]])/.test(shown)) return 'This is JSON.'
  return null
}
