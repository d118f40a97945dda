import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { mountFile, type Router } from './mount.ts'
import type { Operation } from './operation.ts'
import type { Located } from './permission.ts'

const pauseMs = 1000
/** An idle connection gets a comment this often, so that proxies keep it open. */
const keepAliveMs = 15_000

interface StreamedEvent {
  /** The client sends it as `Last-Event-ID` when it connects again. */
  id?: string
  name?: string
  /** One line. Without data the event only sets the id. */
  data?: string
}

interface StreamPoll {
  events: readonly StreamedEvent[]
  /** True if the next events are there already. */
  hasMore?: boolean
  /** True if the stream ends after these events. */
  isLast?: boolean
}

interface EventStream {
  /** Returns what has happened since the last call. */
  poll: () => Promise<StreamPoll>
  close?: () => Promise<void>
}

interface StreamHandle {
  /** The service closes the connection after this time, and the client connects again. */
  maxMs: number
  /** Can refuse the request. HEAD does not call it. */
  open: () => Promise<EventStream>
}

/** Mounts an operation that sends server-sent events. */
export const mountStream = <P extends z.ZodType, Q extends z.ZodType, Resource extends Located>(
  router: Router,
  operation: Operation<P, Q>,
  handling: {
    load: (ctx: Ctx, params: z.output<P>, query: z.output<Q>) => Promise<Resource>
    handle: (ctx: Ctx, input: { query: z.output<Q>; resource: Resource; lastEventId: string | null }) => StreamHandle
  },
): void =>
  mountFile(router, operation, {
    load: handling.load,
    handle: (ctx, input) => {
      const { maxMs, open } = handling.handle(ctx, input)
      return {
        name: null,
        headers: { 'cache-control': 'private, no-store, no-transform', 'x-accel-buffering': 'no' },
        open: async () => {
          const events = sendEvents(await open(), maxMs)
          // A generator that has not started runs no `finally`.
          await events.next()
          return events
        },
      }
    },
  })

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const formatEvent = ({ id, name, data }: StreamedEvent): string => {
  const fields = [
    ['id', id],
    ['event', name],
    ['data', data],
  ]
  const lines = fields.filter(([, value]) => value !== undefined).map(([field, value]) => `${field}: ${value}\n`)
  return `${lines.join('')}\n`
}

async function* sendEvents({ poll, close }: EventStream, maxMs: number): AsyncGenerator<string, void> {
  try {
    yield ''
    yield `retry: ${pauseMs}\n\n`
    let sentAt = Date.now()
    const endsAt = sentAt + maxMs
    while (Date.now() < endsAt) {
      const { events, hasMore, isLast } = await poll()
      if (events.length > 0) yield events.map(formatEvent).join('')
      if (isLast) return
      const isSilent = events.length === 0 && Date.now() - sentAt >= keepAliveMs
      if (isSilent) yield ': still connected\n\n'
      if (isSilent || events.length > 0) sentAt = Date.now()
      if (!hasMore) await pause(pauseMs)
    }
  } finally {
    await close?.()
  }
}
