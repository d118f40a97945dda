import { findForeignEntry, hasColumns, isArchiveOfTables, readTextHead } from '@ecms/table-reader'
import { AppError, fieldError } from '../errors.ts'
import { fileTooLarge, maxFileBytes, maxUploadBytes, type ReceivedFile } from './files.ts'
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
import {
  isDeclarationOfFamily,
  matchesDeclaration,
  parseDeclaredType,
  type FileFamily,
  fileTypes,
  type FileType,
  xlsxType,
  zipType,
} from './types.ts'
import { listHeadEntries } from './zip-entries.ts'

const maxPixels = 40_000_000
/** The longest side of an image in all browsers. A strip of one pixel's height can exhaust memory too. */
const maxSide = 65_535

export interface ContentType {
  mime_type: FileType
  width: number | null
  height: number | null
}

export type SizeLimits = Readonly<Record<FileFamily, number>>

const megabyte = 1_000_000

/** The maximum sizes of a file in one request, and of a file in parts. */
const requestLimits: SizeLimits = { image: 10 * megabyte, document: 25 * megabyte, table: maxFileBytes }
export const partsLimits: SizeLimits = { ...requestLimits, table: maxUploadBytes }

const createContentError = (code: 'empty_file' | 'invalid_image' | 'type_mismatch', detail: string): AppError =>
  new AppError(code, detail, { errors: [fieldError(['file'], code, detail)] })

const createTypeError = (what: string): AppError => {
  const detail = `${what} Upload PNG, JPEG, WebP, GIF, AVIF, PDF, CSV, XLSX or a ZIP archive of CSV files.`
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

const createView = ({ bytes }: Head): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

type Measure = (view: DataView, head: Head) => ImageSize

/** The image types, how to recognise their first bytes, and how to measure them. */
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
      readBrands(createView(head)).some((brand) => brand === 'avif' || brand === 'avis'),
    measure: (view, { size }) => measureAvif(view, size),
  },
]

function measureImage(type: FileType, head: Head, measure: Measure): ContentType {
  const name = type.slice('image/'.length).toUpperCase()
  let size: ImageSize
  try {
    size = measure(createView(head), head)
  } catch (error) {
    if (error instanceof BrokenImage)
      throw createContentError('invalid_image', `This ${name} image is broken: ${error.message}.`)
    if (!(error instanceof RangeError)) throw error
    const where = head.bytes.length < head.size ? `in its first ${head.bytes.length} bytes` : 'before it ends'
    throw createContentError('invalid_image', `This ${name} image does not state its width and height ${where}.`)
  }
  const { width, height } = size
  if (width === 0 || height === 0) throw createContentError('invalid_image', `This ${name} image has no pixels.`)
  if (width * height > maxPixels || width > maxSide || height > maxSide)
    throw createContentError(
      'invalid_image',
      `The image has ${width} × ${height} pixels; at most ${maxPixels} are allowed.`,
    )
  return { mime_type: type, width, height }
}

function checkPackage({ bytes }: Head): FileType {
  const entries = listHeadEntries(bytes)
  const names = entries.map(({ name }) => name)
  const has = (pattern: RegExp) => entries.some(({ name }) => pattern.test(name))
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw createTypeError('This archive is encrypted.')
  if (has(/(?:^|[/\\])(?:vbaProject\.bin$|macrosheets[/\\])/i)) throw createTypeError('This workbook has macros.')
  if (has(/^xl\/workbook\.bin$/i)) throw createTypeError('This is a binary workbook.')
  if (isArchiveOfTables(names)) {
    if (findForeignEntry(names) === undefined) return zipType
    throw createTypeError('This archive is not an XLSX workbook, and not all of its files are CSV.')
  }
  if (has(/^(?:word|ppt|META-INF)\//i) || !has(/^xl\//)) throw createTypeError('This archive is not an XLSX workbook.')
  return xlsxType
}

/** This many bytes of a text are enough to detect its type. */
const textBytes = 65_536

/** Drops the last row, which the end of the bytes can have cut. */
const dropLastRow = (text: string): string => text.slice(0, text.search(/[\r\n][^\r\n]*$/)) || text

function checkText(head: Head, declaredType: string | null): FileType {
  const start = head.bytes.subarray(0, textBytes)
  const text = readTextHead(start)
  const refusal = findRefusal(start, text)
  if (refusal !== null) throw createTypeError(refusal)
  if (text === null) throw createTypeError('The type of this content is unknown.')
  if (text.replace('\u{FEFF}', '').trim() === '') throw createContentError('empty_file', 'The file has no text.')
  const isDeclared = declaredType !== null && matchesDeclaration(declaredType, 'text/csv')
  if (!isDeclared && !hasColumns(start.length < head.size ? dropLastRow(text) : text))
    throw createTypeError('This text has no columns and was not declared as text/csv.')
  return 'text/csv'
}

function checkType(head: Head, declaredType: string | null): ContentType {
  const image = images.find(({ is }) => is(head))
  if (image) return measureImage(image.type, head, image.measure)
  const other = (mime_type: FileType): ContentType => ({ mime_type, width: null, height: null })
  if (/^%PDF-[12]\.\d/.test(String.fromCharCode(...head.bytes.subarray(0, 8)))) return other('application/pdf')
  if (startsWith(head.bytes, 'PK\u0003\u0004')) return other(checkPackage(head))
  return other(checkText(head, declaredType))
}

/** The first bytes of a file, at most `headBytes` of it, and what was found out about the whole. */
export type ReceivedContent = Pick<ReceivedFile, 'head' | 'size' | 'declaredType' | 'is_cut_off'>

/**
 * Detects the type of content by its bytes, never by its name. Throws if the content is empty, too large, broken, of
 * another family than `declaredType`, or of a type that is not supported.
 */
export function checkContent(
  { head, size, declaredType, is_cut_off = false }: ReceivedContent,
  limits: SizeLimits = requestLimits,
): ContentType {
  if (size === 0 || head.length === 0) throw createContentError('empty_file', 'The file has no bytes.')
  const declaration = parseDeclaredType(declaredType)
  const content = checkType({ bytes: head, size }, declaration)
  const { family } = fileTypes[content.mime_type]
  if (declaration !== null && !isDeclarationOfFamily(declaration, family))
    throw createContentError(
      'type_mismatch',
      `The content is ${content.mime_type}, but was declared as ${declaration.slice(0, 100)}.`,
    )
  if (family === 'image' && is_cut_off)
    throw createContentError('invalid_image', 'This image is cut off: its last part is missing. Upload it again.')
  if (size > limits[family]) throw fileTooLarge(limits[family])
  return content
}

/* oxlint-disable no-control-regex -- files of programs begin with controls */
/** The first bytes of known types that are refused, and the error text. */
const refusedTypes: readonly [pattern: RegExp, reason: string][] = [
  [/^MZ/, 'This is a Windows program.'],
  [/^\u007fELF/, 'This is a program.'],
  [/^(?:\u00ca\u00fe\u00ba\u00be|\u00cf\u00fa\u00ed\u00fe)/, 'This is a program.'],
  [/^\0asm/, 'This is a program.'],
  [/^#!/, 'This is a script.'],
  [
    /^\u00d0\u00cf\u0011\u00e0/,
    'This is a workbook with a password or a document of an old Office version. Save it as XLSX without a password.',
  ],
  [/^BM[\s\S]{4}\0\0\0\0/, 'This is a BMP image.'],
  [/^(?:II\*\0|MM\0\*)/, 'This is a TIFF image.'],
  [/^\0\0\u0001\0/, 'This is an icon.'],
  [/^(?:\u00ff\u000a|\0\0\0\u000cJXL )/, 'This is a JPEG XL image.'],
  [/^[\s\S]{4}ftyp(?:hei|hev|mif1|msf1)/, 'This is a HEIC image. Save it as JPEG.'],
  [/^[\s\S]{4}ftyp/, 'This is a video.'],
  [/^8BPS/, 'This is a Photoshop document.'],
  [/^%!PS/, 'This is PostScript.'],
  [/^\{\\rtf/, 'This is an RTF document.'],
  [/^(?:\u001f\u008b|BZh|\u00fd7zXZ|7z\u00bc\u00af|Rar!|\u0028\u00b5\u002f\u00fd)/, 'This is an archive.'],
  [/^PK/, 'This is a broken archive.'],
  [/^(?:OggS|ID3|RIFF|fLaC|\u001aE\u00df\u00a3)/, 'This is a sound or a video.'],
  [/^SQLite format 3\0/, 'This is a database.'],
]

const describeMarkup = (text: string): string => {
  if (/<svg[\s>/]/i.test(text)) return 'SVG images can contain scripts.'
  if (/^<(?:!doctype\s+html|html|head|body|script|style|iframe|img|a|div|p|br|h1|title|meta|link|!--)\b/i.test(text))
    return 'HTML pages can contain scripts.'
  return 'This is XML or another markup language.'
}

/** The reason to refuse the content, or null. `text` is the content as text, or null. */
function findRefusal(bytes: Uint8Array, text: string | null): string | null {
  const start = String.fromCharCode(...bytes.subarray(0, 32))
  const refusedType = refusedTypes.find(([pattern]) => pattern.test(start))
  if (refusedType) return refusedType[1]
  const visibleText = (text ?? new TextDecoder('latin1').decode(bytes)).replace(/^[\u{FEFF}\s\0]+/u, '')
  // A browser that sniffs the type ignores white space.
  if (visibleText.startsWith('<')) return describeMarkup(visibleText)
  if (text !== null && /^(?:\{\s*["}]|\[\s*[[{"\]])/.test(visibleText)) return 'This is JSON.'
  return null
}
