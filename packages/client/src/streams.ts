import { type HeadersOptions, mergeHeaders } from 'openapi-fetch'
import type { Client, Init } from './client.ts'
import { ApiError } from './errors.ts'
import { readParts, wait } from './retries.ts'

export type StreamPath = '/v1/webhooks/events/stream' | '/v1/data-imports/{id}/events'

export interface StreamedEvent {
  /** Send it as `lastEventId` to continue behind the event. Null if the stream has no positions. */
  id: string | null
  /** `message` unless the stream names its events. */
  event: string
  /** Null if the event only moves the position. */
  data: string | null
}

export interface StreamOptions {
  /** Continues behind this event. */
  lastEventId?: string
  signal?: AbortSignal
  /** Is called with each lost connection, before it is made again. */
  onReconnect?: (error: unknown) => void
}

const reconnectMs = 1000
const maxReconnectMs = 30_000

/** Yields server-sent events, and connects again when the connection ends. It ends with the event `end`. */
export async function* streamEvents<Path extends StreamPath>(
  client: Client,
  path: Path,
  init: NonNullable<Init<Path, 'get'>> & StreamOptions,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const { lastEventId, signal, onReconnect, ...request } = init as StreamOptions & { headers?: HeadersOptions }
  const get = client.GET as unknown as (path: string, init: object) => Promise<{ data: ReadableStream<Uint8Array> }>
  let position = lastEventId ?? null
  let pause = reconnectMs
  for (;;) {
    try {
      const headers = mergeHeaders(request.headers)
      if (position !== null) headers.set('Last-Event-ID', position)
      const { data } = await get(path, { ...request, headers, signal, parseAs: 'stream' })
      for await (const event of parseEvents(data, signal)) {
        pause = reconnectMs
        position = event.id ?? position
        yield event
        if (event.event === 'end') return
      }
      onReconnect?.(null)
    } catch (error) {
      if (signal?.aborted || error instanceof ApiError) throw error
      onReconnect?.(error)
    }
    await wait(pause, signal)
    pause = Math.min(pause * 2, maxReconnectMs)
  }
}

/** Reads the lines of a stream of events. Libraries leave out events without data, which move the position here. */
async function* parseEvents(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamedEvent, void, undefined> {
  let fields = new Map<string, string>()
  for await (const line of readLines(body, signal)) {
    if (line === '') {
      if (fields.has('data') || fields.has('id'))
        yield {
          id: fields.get('id') ?? null,
          event: fields.get('event') ?? 'message',
          data: fields.get('data') ?? null,
        }
      fields = new Map()
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    const previous = name === 'data' ? fields.get('data') : undefined
    fields.set(name, previous === undefined ? value : `${previous}\n${value}`)
  }
}

async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of readParts(body, signal)) {
    const lines = (rest + decoder.decode(part, { stream: true })).split(/\r?\n/)
    rest = lines.pop() ?? ''
    yield* lines
  }
}
