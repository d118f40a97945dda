import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import type { Meter } from '../../domain/meter.ts'
import { mountFile, type Router } from './mount.ts'
import type { Operation } from './operation.ts'
import type { Located } from './permission.ts'

const pauseMs = 1000
/** Each poll without events makes the pause a second longer, up to this one. */
const maxPauseMs = 5000
/** An idle connection gets a comment at the first poll after this time, so that proxies keep it open. */
const keepAliveMs = 15_000
/** D1 answers 1,000 queries of an invocation. A stream ends well before, so that its last poll and its end succeed. */
const maxQueries = 800

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
  /** The service closes the connection after this time at the latest, and the client connects again. */
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
    handle: (ctx, { query, resource, header }) => {
      const lastEventId = header('last-event-id') || null
      const { maxMs, open } = handling.handle(ctx, { query, resource, lastEventId })
      return {
        name: null,
        headers: { 'cache-control': 'private, no-store, no-transform', 'x-accel-buffering': 'no' },
        open: async () => {
          const events = sendEvents(ctx.db.meter, await open(), maxMs)
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

async function* sendEvents(meter: Meter, { poll, close }: EventStream, maxMs: number): AsyncGenerator<string, void> {
  try {
    yield ''
    yield `retry: ${pauseMs}\n\n`
    let sentAt = Date.now()
    const endsAt = sentAt + maxMs
    let nextPauseMs = pauseMs
    while (Date.now() < endsAt && meter.queries < maxQueries) {
      const { events, hasMore, isLast } = await poll()
      if (events.length > 0) yield events.map(formatEvent).join('')
      if (isLast) return
      const isSilent = events.length === 0 && Date.now() - sentAt >= keepAliveMs
      if (isSilent) yield ': still connected\n\n'
      if (isSilent || events.length > 0) sentAt = Date.now()
      nextPauseMs = events.length > 0 ? pauseMs : Math.min(nextPauseMs + pauseMs, maxPauseMs)
      if (!hasMore) await pause(nextPauseMs)
    }
  } finally {
    await close?.()
  }
}
