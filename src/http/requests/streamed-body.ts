import { AppError, fieldError, invalid } from '../../domain/errors.ts'
import { fileTooLarge, type IncomingFile, type ReceivedFile } from '../../domain/files/files.ts'
import { fromBase64, sha256, toHex } from '../../domain/text/encoding.ts'
import { isStorable } from '../../domain/text/text.ts'
import type { AppContext } from '../env.ts'
import type { FormFields, StreamBody } from '../operations/operation.ts'
import { findRepeatedField, limitBody, sendOnceDetail } from './body.ts'
import { parseBoundary, readHeaderParameter, type FormPart, readParts } from './multipart.ts'

type Received = Pick<ReceivedFile, 'checksum_sha256'>
/** Consumes a file to its end. */
export type Sink<Result extends Received> = (file: IncomingFile) => Promise<Result>

export interface StreamedBody<Result extends Received> {
  /** The other fields of the form, as a JSON body would have them. */
  fields: Record<string, unknown>
  file: Result
  /** Equal fields and equal bytes have equal digests. */
  digest: string
}

const maxParts = 100
const maxFieldBytes = 65_536
/** The maximum size of a form without its file. */
const maxFormBytes = 1_000_000

/** The types that clients send when they do not know the type. */
const unknownTypes = new Set(['application/octet-stream', 'binary/octet-stream', ''])

const parseMediaType = (type: string | null): string => (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const parseDeclaredType = (type: string | null): string | null => {
  const media = parseMediaType(type)
  return unknownTypes.has(media) ? null : media
}

const createFieldError = (name: string, code: 'repeated' | 'max_length' | 'invalid_json', detail: string) =>
  invalid(fieldError([name], code, detail))

async function readText({ name, body }: FormPart): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const createTextError = () =>
    invalid(fieldError([name], 'invalid_characters', 'Must be UTF-8 text without NUL characters.'))
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw createTextError()
    }
  }
  let text = ''
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxFieldBytes) throw createFieldError(name, 'max_length', `Must be at most ${maxFieldBytes} bytes.`)
    text += decode(chunk)
  }
  text += decode()
  if (!isStorable(text)) throw createTextError()
  return text
}

function parseField(name: string, text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw createFieldError(name, 'invalid_json', 'Must be JSON.')
  }
  const repeatedField = findRepeatedField(text)
  if (repeatedField.length > 0) throw invalid(fieldError([name, ...repeatedField], 'repeated', sendOnceDetail))
  return value
}

const isJsonArray = (text: string): boolean => {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

interface TextPart {
  name: string
  text: string
  type: string | null
}

/** Each part is an item. A single part can be the whole list as a JSON array. */
function parseList(name: string, parts: readonly TextPart[]): unknown {
  const [first, ...others] = parts
  if (first && others.length === 0 && (parseMediaType(first.type) === 'application/json' || isJsonArray(first.text)))
    return parseField(name, first.text)
  return parts.map(({ text }) => text)
}

/** The value of a field, which is JSON if the field has another type than text. */
function parseValue(name: string, parts: readonly TextPart[], { jsonFields, listFields }: FormFields): unknown {
  if (listFields.includes(name)) return parseList(name, parts)
  const [first, ...others] = parts
  if (!first || others.length) throw createFieldError(name, 'repeated', sendOnceDetail)
  return jsonFields.includes(name) ? parseField(name, first.text) : first.text
}

/** Compares only names, so that the items of a list keep their order. */
const compareNames = (one: TextPart, other: TextPart): number =>
  one.name < other.name ? -1 : Number(one.name > other.name)

const parseFields = (texts: readonly TextPart[], form: FormFields): Record<string, unknown> =>
  Object.fromEntries(
    [...Map.groupBy(texts, ({ name }) => name)].map(([name, parts]) => [name, parseValue(name, parts, form)]),
  )

async function readForm<Result extends Received>(
  stream: ReadableStream<Uint8Array>,
  { boundary, maxBytes, form }: { boundary: string; maxBytes: number; form: FormFields },
  sink: Sink<Result>,
): Promise<Omit<StreamedBody<Result>, 'digest'> & { identity: unknown }> {
  const texts: TextPart[] = []
  let receivedFile: { file: Result; identity: unknown } | undefined
  for await (const part of readParts(stream, boundary)) {
    const { name, fileName, type, body } = part
    if (name === 'file') {
      if (receivedFile) throw createFieldError('file', 'repeated', 'Send one file.')
      const description = { name: fileName ?? '', declaredType: parseDeclaredType(type) }
      const file = await sink({ body, size: null, maxBytes, digest: null, ...description })
      receivedFile = { file, identity: description }
      continue
    }
    if (texts.length >= maxParts) throw createFieldError(name, 'repeated', `Send at most ${maxParts} fields.`)
    texts.push({ name, text: await readText(part), type })
  }
  if (!receivedFile) throw invalid(fieldError(['file'], 'required', 'This field is required.'))
  const sortedTexts = texts.toSorted(compareNames).map(({ name, text }) => [name, text])
  return { fields: parseFields(texts, form), file: receivedFile.file, identity: [receivedFile.identity, sortedTexts] }
}

const createTypeError = ({ types, form }: StreamBody) =>
  new AppError(
    'unsupported_media_type',
    `Send ${form ? 'a form (multipart/form-data) with the file, or ' : ''}the file itself as ${types.slice(0, 8).join(', ')}.`,
  )

/** The SHA-256 of a Content-Digest header (RFC 9530) in hexadecimal. */
function parseContentDigest(header: string | undefined): string | null {
  if (header === undefined) return null
  const [, text] = /(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header) ?? []
  if (text === undefined)
    throw new AppError('validation_error', 'Content-Digest must contain a SHA-256.', {
      errors: [
        { code: 'invalid', detail: 'Must look like `sha-256=:<base64>:`.', attr: 'Content-Digest', pointer: null },
      ],
    })
  return toHex(fromBase64(text))
}

/** Reads a body and passes its file to `sink` while it is received. */
export async function readStreamed<Result extends Received>(
  c: AppContext,
  spec: StreamBody,
  sink: Sink<Result>,
): Promise<StreamedBody<Result>> {
  const type = c.req.header('content-type') ?? ''
  const boundary = parseBoundary(type)
  const encoding = c.req.header('content-encoding')?.trim() ?? ''
  if (!/^(?:identity)?$/i.test(encoding))
    throw new AppError('unsupported_media_type', 'Send the body without a Content-Encoding.', {
      headers: { 'accept-encoding': 'identity' },
    })
  const form = boundary !== null && spec.form ? { boundary, form: spec.form } : null
  if (!form && !spec.types.includes(parseMediaType(type))) throw createTypeError(spec)
  const maxBytes = spec.maxBytes + (form ? maxFormBytes : 0)
  const length = c.req.header('content-length')
  const stream = limitBody(c, {
    maxSize: maxBytes,
    maxReadMs: spec.maxReadMs,
    tooLarge: () => fileTooLarge(spec.maxBytes),
  })
  const { fields, file, identity } = form
    ? await readForm(stream, { ...form, maxBytes: spec.maxBytes }, sink)
    : await readRaw(c, { body: stream, size: length === undefined ? null : Number(length), maxBytes }, sink)
  const digest = toHex(await sha256(JSON.stringify([identity, file.checksum_sha256])))
  return { fields, file, digest }
}

async function readRaw<Result extends Received>(
  c: AppContext,
  incomingFile: Pick<IncomingFile, 'body' | 'size' | 'maxBytes'>,
  sink: Sink<Result>,
) {
  const description = {
    name:
      readHeaderParameter(`;${(c.req.header('content-disposition') ?? '').replace(/^[^;]*;?/, '')}`, 'filename') ?? '',
    declaredType: parseDeclaredType(c.req.header('content-type') ?? null),
  }
  const file = await sink({
    ...incomingFile,
    ...description,
    digest: parseContentDigest(c.req.header('content-digest')),
  })
  return { fields: {}, file, identity: description }
}

/** Reads a file without storing it. */
export const hashOnly: Sink<Received> = async ({ body }) => {
  const stream = new crypto.DigestStream('SHA-256')
  await body.pipeTo(stream)
  return { checksum_sha256: toHex(await stream.digest) }
}
