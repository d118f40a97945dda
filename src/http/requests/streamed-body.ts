import { fromBase64, sha256, toHex } from '../../domain/text/encoding.ts'
import { AppError, fieldError, invalid } from '../../domain/errors.ts'
import { fileTooLarge, type IncomingFile, type ReceivedFile } from '../../domain/files/files.ts'
import { isStorable } from '../../domain/text/text.ts'
import type { AppContext } from '../env.ts'
import { boundaryOf, headerParameter, type FormPart, partsOf } from './multipart.ts'
import type { FormFields, StreamBody } from '../operations/operation.ts'
import { limitedBody } from './body.ts'

type Received = Pick<ReceivedFile, 'checksum_sha256'>
/** Reads a file to its end. */
export type Sink<Result extends Received> = (file: IncomingFile) => Promise<Result>

export interface StreamedBody<Result extends Received> {
  /** The fields beside the file, as a JSON body would have them. */
  fields: Record<string, unknown>
  file: Result
  /** Equal for equal fields and equal bytes. */
  digest: string
}

const maxParts = 100
const maxFieldBytes = 65_536
/** The most bytes of all fields of a form, with their headers. */
const maxFrameBytes = 1_000_000

/** The type that clients send when they do not know the type. */
const meaningless = new Set(['application/octet-stream', 'binary/octet-stream', ''])

const mediaTypeOf = (type: string | null): string => (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const declaredOf = (type: string | null): string | null => {
  const media = mediaTypeOf(type)
  return meaningless.has(media) ? null : media
}

const refusedField = (name: string, code: 'repeated' | 'max_length' | 'invalid_json', detail: string) =>
  invalid(fieldError([name], code, detail))

async function textOf({ name, body }: FormPart): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const refused = () => invalid(fieldError([name], 'invalid_characters', 'The text of a field is UTF-8 without NUL.'))
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined })
    } catch {
      throw refused()
    }
  }
  let text = ''
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxFieldBytes) throw refusedField(name, 'max_length', `At most ${maxFieldBytes} bytes.`)
    text += decode(chunk)
  }
  text += decode()
  if (!isStorable(text)) throw refused()
  return text
}

function parseField(name: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refusedField(name, 'invalid_json', 'This field is JSON.')
  }
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

/** Each part is one item. One part alone may be the whole list as JSON: an array, or any part that is declared as JSON. */
function listOf(name: string, parts: readonly TextPart[]): unknown {
  const [only, ...others] = parts
  if (only && others.length === 0 && (mediaTypeOf(only.type) === 'application/json' || isJsonArray(only.text)))
    return parseField(name, only.text)
  return parts.map(({ text }) => text)
}

/** Texts stay texts; where the form has a value of another type, its text is JSON. */
function valueOf(name: string, parts: readonly TextPart[], { jsonFields, listFields }: FormFields): unknown {
  if (listFields.includes(name)) return listOf(name, parts)
  const [only, ...others] = parts
  if (!only || others.length) throw refusedField(name, 'repeated', 'A field comes once.')
  return jsonFields.includes(name) ? parseField(name, only.text) : only.text
}

/** By name alone: parts of the same name are a list, which has an order. */
const byName = (one: TextPart, other: TextPart): number => (one.name < other.name ? -1 : Number(one.name > other.name))

const fieldsOf = (texts: readonly TextPart[], form: FormFields): Record<string, unknown> =>
  Object.fromEntries(
    [...Map.groupBy(texts, ({ name }) => name)].map(([name, parts]) => [name, valueOf(name, parts, form)]),
  )

async function readForm<Result extends Received>(
  stream: ReadableStream<Uint8Array>,
  { boundary, most, form }: { boundary: string; most: number; form: FormFields },
  sink: Sink<Result>,
): Promise<Omit<StreamedBody<Result>, 'digest'> & { said: unknown }> {
  const texts: TextPart[] = []
  let received: { file: Result; said: unknown } | undefined
  for await (const part of partsOf(stream, boundary)) {
    const { name, fileName, type, body } = part
    if (name === 'file') {
      if (received) throw refusedField('file', 'repeated', 'A form brings one file.')
      const given = { name: fileName ?? '', declared: declaredOf(type) }
      const file = await sink({ body, size: null, most, digest: null, ...given })
      received = { file, said: given }
      continue
    }
    if (texts.length >= maxParts) throw refusedField(name, 'repeated', `A form has at most ${maxParts} fields.`)
    texts.push({ name, text: await textOf(part), type })
  }
  if (!received) throw invalid(fieldError(['file'], 'required', 'This field is required.'))
  const said = texts.toSorted(byName).map(({ name, text }) => [name, text])
  return { fields: fieldsOf(texts, form), file: received.file, said: [received.said, said] }
}

const unsupported = ({ types, form }: StreamBody) =>
  new AppError(
    'unsupported_media_type',
    `Send ${form ? 'a form (multipart/form-data) with the file, or ' : ''}the file itself as ${types.slice(0, 8).join(', ')}.`,
  )

/** RFC 9530, its SHA-256 in hexadecimal. */
function digestOf(header: string | undefined): string | null {
  if (header === undefined) return null
  const [, text] = /(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):/.exec(header) ?? []
  if (text === undefined)
    throw new AppError('validation_error', 'Content-Digest has no SHA-256: `sha-256=:<base64>:`.', {
      errors: [{ code: 'invalid', detail: 'As in `sha-256=:<base64>:`.', attr: 'Content-Digest', pointer: null }],
    })
  return toHex(fromBase64(text))
}

/** Reads a body whose file goes to `sink` while it comes in. */
export async function readStreamed<Result extends Received>(
  c: AppContext,
  spec: StreamBody,
  sink: Sink<Result>,
): Promise<StreamedBody<Result>> {
  const type = c.req.header('content-type') ?? ''
  const boundary = boundaryOf(type)
  const encoding = c.req.header('content-encoding')?.trim() ?? ''
  if (!/^(?:identity)?$/i.test(encoding))
    throw new AppError('unsupported_media_type', 'Send the body without a Content-Encoding.', {
      headers: { 'accept-encoding': 'identity' },
    })
  const form = boundary !== null && spec.form ? { boundary, form: spec.form } : null
  if (!form && !spec.types.includes(mediaTypeOf(type))) throw unsupported(spec)
  const most = spec.most + (form ? maxFrameBytes : 0)
  const length = c.req.header('content-length')
  const stream = limitedBody(c, { most, maxReadMs: spec.maxReadMs, tooLarge: () => fileTooLarge(spec.most) })
  const { fields, file, said } = form
    ? await readForm(stream, { ...form, most: spec.most }, sink)
    : await readRaw(c, { body: stream, size: length === undefined ? null : Number(length), most }, sink)
  const digest = toHex(await sha256(JSON.stringify([said, file.checksum_sha256])))
  return { fields, file, digest }
}

async function readRaw<Result extends Received>(
  c: AppContext,
  incoming: Pick<IncomingFile, 'body' | 'size' | 'most'>,
  sink: Sink<Result>,
) {
  const given = {
    name: headerParameter(`;${(c.req.header('content-disposition') ?? '').replace(/^[^;]*;?/, '')}`, 'filename') ?? '',
    declared: declaredOf(c.req.header('content-type') ?? null),
  }
  const file = await sink({ ...incoming, ...given, digest: digestOf(c.req.header('content-digest')) })
  return { fields: {}, file, said: given }
}

/** Reads a file without keeping it. */
export const hashOnly: Sink<Received> = async ({ body }) => {
  const stream = new crypto.DigestStream('SHA-256')
  await body.pipeTo(stream)
  return { checksum_sha256: toHex(await stream.digest) }
}
