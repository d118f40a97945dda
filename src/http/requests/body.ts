import { AppError, fieldError, invalid } from '../../domain/errors.ts'
import { joinBytes } from '../../domain/text/encoding.ts'
import { isStorable } from '../../domain/text/text.ts'
import type { AppContext } from '../env.ts'

const maxBytes = 1_000_000
const maxDepth = 64
/** No operation accepts longer lists, and zod fails on the errors of some hundred thousand items. */
const maxEntries = 20_000
/** The time for a whole body, so that a slow client cannot hold a request for longer. */
const maxReadMs = 15_000

const tooLarge = (maxSize: number) => new AppError('body_too_large', `The body has more than ${maxSize} bytes.`)

const tooSlow = (ms: number) => new AppError('request_timeout', `The body did not arrive within ${ms / 1000} seconds.`)

/** The client closed the connection, which is not an error of the service. */
const hungUp = () => new AppError('client_closed_request', 'The connection was closed before the whole body arrived.')

/** Reads the whole body. Throws 413 as soon as it is too large, and 408 if it takes too long. */
export async function readBody(c: AppContext, maxSize = maxBytes): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(c.req.header('content-length') ?? 0) > maxSize) throw tooLarge(maxSize)
  const stream = c.req.raw.body
  if (!stream) return new Uint8Array()
  return joinBytes(await readChunks(stream, maxSize))
}

async function readChunks(stream: ReadableStream<Uint8Array>, maxSize: number): Promise<Uint8Array[]> {
  const reader = stream.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow(maxReadMs)), maxReadMs)
  })
  try {
    for (;;) {
      const { value, done } = await Promise.race([reader.read(), timeout])
      if (done) return chunks
      size += value.byteLength
      if (size > maxSize) throw tooLarge(maxSize)
      chunks.push(value)
    }
  } catch (error) {
    // The rest of the body is not read.
    reader.cancel(error).catch(() => {})
    if (error instanceof AppError) throw error
    throw hungUp()
  } finally {
    clearTimeout(timer)
  }
}

/** The bytes of one read. By default the runtime reads 4 KiB at a time, and each read has a fixed cost. */
const bytesPerRead = 65_536

/** Reads large chunks if the stream supports it. Request bodies do, and streams built in JavaScript do not. */
function createLargeReader(stream: ReadableStream<Uint8Array>) {
  let reader: ReadableStreamBYOBReader
  try {
    reader = stream.getReader({ mode: 'byob' })
  } catch (error) {
    if (error instanceof TypeError) return stream.getReader()
    throw error
  }
  let buffer = new ArrayBuffer(bytesPerRead)
  return {
    async read(): Promise<{ done: boolean; value?: Uint8Array }> {
      const { value, done } = await reader.read(new Uint8Array(buffer))
      if (done) return { done }
      buffer = value.buffer
      return { done, value: value.slice() }
    },
    cancel: (reason: unknown): Promise<void> => reader.cancel(reason),
  }
}

interface BodyLimits {
  maxSize: number
  maxReadMs: number
  tooLarge: () => AppError
}

/** Streams the body. The stream fails with 413 or 408 beyond a limit, and with 499 if the client closes the connection. */
export function limitBody(
  c: AppContext,
  { maxSize, maxReadMs: ms, tooLarge: refuse }: BodyLimits,
): ReadableStream<Uint8Array> {
  if (Number(c.req.header('content-length') ?? 0) > maxSize) throw refuse()
  const reader = createLargeReader(c.req.raw.body ?? new Blob([]).stream())
  let size = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  const stop = (controller: ReadableStreamDefaultController<Uint8Array>, error: AppError) => {
    if (isStopped) return
    isStopped = true
    clearTimeout(timer)
    // The rest of the body is not read.
    reader.cancel(error).catch(() => undefined)
    controller.error(error)
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // Racing the reads with the timer would keep every chunk in memory until the timer ends.
        timer ??= setTimeout(() => stop(controller, tooSlow(ms)), ms)
        try {
          const { value, done } = await reader.read()
          if (isStopped) return
          if (done || !value) {
            clearTimeout(timer)
            return controller.close()
          }
          size += value.byteLength
          if (size > maxSize) return stop(controller, refuse())
          controller.enqueue(value)
        } catch {
          stop(controller, hungUp())
        }
      },
      cancel(reason) {
        clearTimeout(timer)
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

const createBodyError = (code: string, detail: string) =>
  new AppError('malformed_body', detail, { errors: [fieldError([], code, detail)] })

const unreadable = (detail: string, headers: Record<string, string> = {}) =>
  new AppError('unsupported_media_type', detail, { headers })

const mediaType = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i
const charset = /;\s*charset\s*=\s*"?([^\s";]*)/i

function checkHeaders(headers: Headers): void {
  const type = headers.get('content-type') ?? ''
  if (!mediaType.test(type)) throw unreadable('Send the body as application/json.')
  const [, charsetName = 'utf-8'] = charset.exec(type) ?? []
  if (!/^utf-?8$/i.test(charsetName)) throw unreadable('Send the body in UTF-8.')
  const encoding = headers.get('content-encoding')?.trim() ?? ''
  if (!/^(?:identity)?$/i.test(encoding))
    throw unreadable('Send the body without a Content-Encoding.', { 'accept-encoding': 'identity' })
}

/**
 * Parses the body as a JSON object. An empty body is an object without fields. Throws for text that D1 cannot store (NUL,
 * half surrogate pairs), for deep nesting, and for long lists.
 */
export function parseJson(bytes: Uint8Array, headers: Headers): Record<string, unknown> {
  if (bytes.length === 0) return {}
  checkHeaders(headers)
  const text = decode(bytes)
  if (text.trim() === '') throw createBodyError('required', 'A JSON body is required.')
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw createBodyError('invalid_type', 'The body must be a JSON object.')
  const names = checkText(value)
  if (countNames(text) !== names) throw invalid(fieldError(findRepeatedField(text), 'repeated', sendOnceDetail))
  return value as Record<string, unknown>
}

export const sendOnceDetail = 'Send this field once.'

/** The last quotation mark is optional, so that no text takes quadratic time. Valid JSON always has it. */
const textPattern = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"?(?:\s*:)?`
const textOrName = new RegExp(textPattern, 'g')
const anyToken = new RegExp(String.raw`${textPattern}|[{}[\],]`, 'g')

/** Parses a JSON body of any type, with the limits of `parseJson`. */
export function parseJsonValue(bytes: Uint8Array, headers: Headers): unknown {
  checkHeaders(headers)
  const value = parse(decode(bytes))
  if (typeof value === 'object' && value !== null) checkText(value)
  return value
}

/** Counts the names of all objects in valid JSON. Names that stand twice in an object count twice. */
const countNames = (json: string): number =>
  (json.match(textOrName) ?? []).reduce((count, token) => count + Number(token.endsWith(':')), 0)

/** Finds the path of the first field that stands twice in its object. */
export function findRepeatedField(json: string): PropertyKey[] {
  const containers: { names: Set<string>; at: string | number }[] = []
  for (const [token] of json.matchAll(anyToken)) {
    const last = containers.at(-1)
    if (token === '{' || token === '[') containers.push({ names: new Set(), at: 0 })
    else if (token === '}' || token === ']') containers.pop()
    else if (token === ',' && typeof last?.at === 'number') last.at++
    else if (token.endsWith(':') && last) {
      last.at = JSON.parse(token.slice(0, -1)) as string
      if (last.names.has(last.at)) return containers.map(({ at }) => at)
      last.names.add(last.at)
    }
  }
  return []
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw createBodyError('invalid_utf8', 'The body is not valid UTF-8.')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw createBodyError(
      'invalid_json',
      `The body is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`,
    )
  }
}

/** A list or object of the body, with the way to it. */
interface Container {
  value: object
  parent: Container | null
  /** The place in its parent. */
  key: PropertyKey
  depth: number
}

const buildPath = ({ parent, key }: Container): PropertyKey[] => (parent ? [...buildPath(parent), key] : [])

/** Returns how many names the objects have. A path is built for an error alone: most bodies have thousands of values. */
function checkText(root: object): number {
  let names = 0
  const stack: Container[] = [{ value: root, parent: null, key: '', depth: 0 }]
  for (let container = stack.pop(); container; container = stack.pop()) {
    const { value, depth } = container
    if (depth >= maxDepth)
      throw invalid(fieldError(buildPath(container).slice(0, 8), 'too_deep', `Must have at most ${maxDepth} levels.`))
    const entries = Object.entries(value)
    if (entries.length > maxEntries)
      throw invalid(fieldError(buildPath(container), 'max_items', `Must have at most ${maxEntries} items.`))
    if (!Array.isArray(value)) names += entries.length
    for (const [key, child] of entries) {
      if (!isStorable(key) || (typeof child === 'string' && !isStorable(child)))
        throw invalid(
          fieldError(
            [...buildPath(container), key],
            'invalid_characters',
            'Must not contain NUL characters or half surrogate pairs.',
          ),
        )
      if (typeof child === 'object' && child !== null)
        stack.push({ value: child, parent: container, key, depth: depth + 1 })
    }
  }
  return names
}
