import { utf8 } from '../../domain/text/encoding.ts'
import { AppError, fieldError } from '../../domain/errors.ts'

/** The most bytes of the headers of one part. */
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

const malformed = (detail: string) =>
  new AppError('malformed_body', detail, { errors: [fieldError([], 'invalid', detail)] })

/** The boundary that a Content-Type names, or null where it is no form. */
export function boundaryOf(type: string): string | null {
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(type)) return null
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;,"]{1,70}))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed('The Content-Type names no boundary.')
  return boundary
}

function indexOf(bytes: Uint8Array, needle: Uint8Array, from = 0): number {
  const [first = 0] = needle
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    if (at + needle.length > bytes.length) return -1
    if (needle.every((byte, index) => bytes[at + index] === byte)) return at
  }
  return -1
}

const joined = (one: Uint8Array, other: Uint8Array): Uint8Array => {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

/** Bytes that were read and do not belong to a part yet. */
class BodyInput {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  rest: Uint8Array = new Uint8Array()

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>) {
    this.#reader = reader
  }

  async more(): Promise<void> {
    const { value, done } = await this.#reader.read()
    if (done) throw malformed('The form ends before its last boundary.')
    this.rest = this.rest.length ? joined(this.rest, value) : value
  }

  take(length: number): Uint8Array {
    const taken = this.rest.subarray(0, length)
    this.rest = this.rest.subarray(length)
    return taken
  }

  /** The bytes before the needle, which is dropped; at most `most`. */
  async upTo(needle: Uint8Array, most: number): Promise<Uint8Array> {
    for (;;) {
      const at = indexOf(this.rest, needle)
      if (at > most || (at === -1 && this.rest.length > most + needle.length))
        throw malformed('The headers of a part of the form are too long.')
      if (at !== -1) {
        const found = this.take(at)
        this.take(needle.length)
        return found
      }
      await this.more()
    }
  }
}

const unquoted = (text: string): string =>
  text.replaceAll(/%22|%0D|%0A|\\"|\\\\/gi, (one) => plain[one.toUpperCase()] ?? one)
const plain: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n', '\\"': '"', '\\\\': '\\' }

const parameter = /;\s*([^\s=;"]+)=(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))/g

/** A parameter of a header, in its extended form (RFC 5987) where it has one. */
export function headerParameter(header: string, name: 'name' | 'filename'): string | null {
  const parameters = [...header.matchAll(parameter)]
  const find = (key: string) => parameters.find(([, known]) => known?.toLowerCase() === key) ?? []
  const [, extended] = /^UTF-8''(.+)$/i.exec(find(`${name}*`)[3] ?? '') ?? []
  if (extended !== undefined)
    try {
      return decodeURIComponent(extended)
    } catch {
      throw malformed(`The ${name} is not encoded as UTF-8.`)
    }
  const [, , quoted, token] = find(name)
  return quoted === undefined ? (token ?? null) : unquoted(quoted)
}

function headersOf(bytes: Uint8Array): Omit<FormPart, 'body'> {
  const lines = new TextDecoder().decode(bytes).split('\r\n')
  const find = (name: string) => lines.find((line) => line.toLowerCase().startsWith(`${name}:`))?.slice(name.length + 1)
  const disposition = find('content-disposition') ?? ''
  const name = headerParameter(disposition, 'name')
  if (!/^\s*form-data\b/i.test(disposition) || name === null) throw malformed('A part of the form has no name.')
  return { name, fileName: headerParameter(disposition, 'filename'), type: find('content-type')?.trim() ?? null }
}

/** The bytes of one part. A possible beginning of the boundary waits for the next bytes. */
function bodyOf(
  input: BodyInput,
  delimiter: Uint8Array,
): { stream: ReadableStream<Uint8Array>; isRead: () => boolean } {
  let isRead = false
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const at = indexOf(input.rest, delimiter)
          const length = at === -1 ? input.rest.length - delimiter.length + 1 : at
          if (length > 0) controller.enqueue(input.take(length).slice())
          if (at !== -1) {
            input.take(delimiter.length)
            isRead = true
            controller.close()
            return
          }
          if (length > 0) return
          await input.more()
        }
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, isRead: () => isRead }
}

/** The parts of a form in their order, each while it comes in. Throws `malformed_body`. */
export async function* partsOf(body: ReadableStream<Uint8Array>, boundary: string): AsyncGenerator<FormPart, void> {
  const delimiter = utf8(`\r\n--${boundary}`)
  const input = new BodyInput(body.getReader())
  // The first boundary begins the body, or a line of it.
  input.rest = lineBreak
  await input.upTo(delimiter, maxHeaderBytes)
  for (;;) {
    while (input.rest.length < 2) await input.more()
    const mark = new TextDecoder().decode(input.take(2))
    if (mark === '--') return
    if (mark !== '\r\n') throw malformed('A boundary of the form is not followed by a line break.')
    const headers = headersOf(await input.upTo(headersEnd, maxHeaderBytes))
    // An empty part has its boundary directly behind the headers, whose last line break it shares.
    const { stream, isRead } = bodyOf(input, delimiter)
    yield { ...headers, body: stream }
    if (!isRead()) throw new Error('A part of a form was not read to its end.')
  }
}
