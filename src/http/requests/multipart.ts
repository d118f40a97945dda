import { AppError, fieldError } from '../../domain/errors.ts'
import { joinBytes, utf8 } from '../../domain/text/encoding.ts'

/** The limit of the headers of one part. */
const maxHeaderBytes = 8192
const lineBreak = utf8('\r\n')
const headersEnd = utf8('\r\n\r\n')

export interface FormPart {
  name: string
  /** Null for a plain field. */
  fileName: string | null
  type: string | null
  /** Must be read to its end before the next part is read. */
  body: ReadableStream<Uint8Array>
}

const createFormError = (detail: string) =>
  new AppError('malformed_body', detail, { errors: [fieldError([], 'invalid', detail)] })

/** Parses the boundary of a Content-Type. Null: it is not the type of a form. */
export function parseBoundary(type: string): string | null {
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(type)) return null
  const [, quotedText, plainText] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(type) ?? []
  const boundary = quotedText ?? plainText
  if (boundary === undefined) throw createFormError('The Content-Type of a form must name its `boundary`.')
  return boundary
}

function findBytes(bytes: Uint8Array, needle: Uint8Array, from = 0): number {
  const [first = 0] = needle
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (at + needle.length > bytes.length) return -1
    if (needle.every((byte, index) => bytes[at + index] === byte)) return at
  }
  return -1
}

/** Buffers bytes of the body until it is known which part they belong to. */
class BodyBuffer {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  bytes: Uint8Array = new Uint8Array()

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader
  }

  async readMore(): Promise<void> {
    const { value, done } = await this.#reader.read()
    if (done) throw createFormError('The form ends before its last boundary.')
    this.bytes = this.bytes.length ? joinBytes([this.bytes, value]) : value
  }

  take(length: number): Uint8Array {
    const start = this.bytes.subarray(0, length)
    this.bytes = this.bytes.subarray(length)
    return start
  }

  /** Takes the bytes before the needle, and drops the needle. Throws when they are more than `maxBytes`. */
  async takeUntil(needle: Uint8Array, maxBytes: number): Promise<Uint8Array> {
    for (;;) {
      const at = findBytes(this.bytes, needle)
      if (at > maxBytes || (at === -1 && this.bytes.length > maxBytes + needle.length))
        throw createFormError('The headers of a part of the form are too long.')
      if (at !== -1) {
        const start = this.take(at)
        this.take(needle.length)
        return start
      }
      await this.readMore()
    }
  }
}

const unescape = (text: string): string =>
  text.replaceAll(/%22|%0D|%0A|\\"|\\\\/gi, (escape) => escapes[escape.toUpperCase()] ?? escape)
const escapes: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n', '\\"': '"', '\\\\': '\\' }

const parameter = /;\s*([^\s=;"]+)=(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))/g

/** Prefers the extended form (RFC 5987), such as `filename*=UTF-8''…`. */
export function readHeaderParameter(header: string, name: 'name' | 'filename'): string | null {
  const parameters = [...header.matchAll(parameter)]
  const find = (key: string) => parameters.find(([, parameterName]) => parameterName?.toLowerCase() === key) ?? []
  const [, extendedName] = /^UTF-8''(.+)$/i.exec(find(`${name}*`)[3] ?? '') ?? []
  if (extendedName !== undefined)
    try {
      return decodeURIComponent(extendedName)
    } catch {
      throw createFormError(`Encode the ${name} in the header of a part as UTF-8.`)
    }
  const [, , quotedText, token] = find(name)
  return quotedText === undefined ? (token ?? null) : unescape(quotedText)
}

function parseHeaders(bytes: Uint8Array): Omit<FormPart, 'body'> {
  const lines = new TextDecoder().decode(bytes).split('\r\n')
  const find = (name: string) => lines.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1)
  const disposition = find('content-disposition') ?? ''
  const name = readHeaderParameter(disposition, 'name')
  if (!/^\s*form-data\b/i.test(disposition) || name === null)
    throw createFormError('Every part of the form must have a `Content-Disposition: form-data` with a name.')
  return { name, fileName: readHeaderParameter(disposition, 'filename'), type: find('content-type')?.trim() ?? null }
}

/** Streams one part. Bytes that may begin the boundary are held back until the next bytes have come. */
function streamPart(
  input: BodyBuffer,
  delimiter: Uint8Array,
): { stream: ReadableStream<Uint8Array>; isConsumed: () => boolean } {
  let isConsumed = false
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const at = findBytes(input.bytes, delimiter)
          const length = at === -1 ? input.bytes.length - delimiter.length + 1 : at
          if (length > 0) controller.enqueue(input.take(length).slice())
          if (at !== -1) {
            input.take(delimiter.length)
            isConsumed = true
            controller.close()
            return
          }
          if (length > 0) return
          await input.readMore()
        }
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, isConsumed: () => isConsumed }
}

/** Yields each part while it is received. Throws `malformed_body`. */
export async function* readParts(body: ReadableStream<Uint8Array>, boundary: string): AsyncGenerator<FormPart, void> {
  const delimiter = utf8(`\r\n--${boundary}`)
  const input = new BodyBuffer(body.getReader())
  // The first boundary has no line break before it when it begins the body.
  input.bytes = lineBreak
  await input.takeUntil(delimiter, maxHeaderBytes)
  for (;;) {
    while (input.bytes.length < 2) await input.readMore()
    const mark = new TextDecoder().decode(input.take(2))
    if (mark === '--') return
    if (mark !== '\r\n') throw createFormError('A boundary of the form is not followed by a line break.')
    const headers = parseHeaders(await input.takeUntil(headersEnd, maxHeaderBytes))
    // An empty part has its boundary directly behind the headers, whose last line break it shares.
    const { stream, isConsumed } = streamPart(input, delimiter)
    yield { ...headers, body: stream }
    if (!isConsumed()) throw new Error('A part of a form was not read to its end.')
  }
}
