import { env } from 'cloudflare:workers'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { CalculateMessage, JobCtx } from '../../src/context.ts'
import { type Client, Database } from '../../src/db/database.ts'
import { segments } from '../../src/db/schema/segments.ts'
import { select } from '../../src/db/select.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { calculateSegments } from '../../src/modules/segments/jobs.ts'
import { post } from './api.ts'
import { createContextAt } from './context.ts'
import { db } from './seeding/rows.ts'

export type SegmentRow = typeof segments.$inferSelect

export const loadSegment = async (id: string): Promise<SegmentRow> => {
  const row = await db.first(select(getTableColumns(segments)).from(segments).where(eq(segments.id, id)))
  if (!row) throw new Error('no such segment')
  return row
}

/** Lists the public ids of the shown members, in the order of their creation. */
export const listMembers = async (id: string): Promise<string[]> => {
  const rows = await db.all(sql<{ id: string }>`select users.id from segments
    join segment_members on segment_seq = segments.seq and segment_members.epoch = members_epoch
    join users on users.seq = user_seq
    where segments.id = ${id} and excluded_for is null order by users.seq`)
  return rows.map((row) => row.id)
}

/** The point at which a machine stops: before its n-th round trip to the database, or after it. */
export interface Death {
  roundTrip: number
  when: 'before' | 'after'
}

/** The database of a machine that stops for good at a round trip. */
export function createCrashingClient(death: Death | null): Client {
  let trips = 0
  const trip = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    trips++
    if (death && (trips > death.roundTrip || (trips === death.roundTrip && death.when === 'before')))
      throw new Error('the machine stopped')
    const result = await work()
    if (death && trips === death.roundTrip) throw new Error('the machine stopped')
    return result
  }
  const originals = new WeakMap<object, D1PreparedStatement>()
  return {
    prepare: (text) => {
      const statement = env.DB.prepare(text)
      const bind = (...values: unknown[]) => {
        const bound = statement.bind(...values)
        const watched = { all: () => trip(() => bound.all()) }
        originals.set(watched, bound)
        return watched
      }
      return { bind } as unknown as D1PreparedStatement
    },
    batch: (statements) =>
      trip(() => env.DB.batch(statements.map((statement) => originals.get(statement) ?? statement))) as never,
  }
}

/** Makes a machine that calculates, with a clock and a job queue of the test. */
export function createCalculator(now = Date.now()) {
  const state = { now }
  const enqueued: CalculateMessage[] = []
  const meter = newMeter()
  const createJob = (death: Death | null): JobCtx => ({
    ...createContextAt(state.now),
    db: new Database(createCrashingClient(death), meter),
    now: () => state.now,
    jobQueue: {
      enqueue: async (_, messages) => {
        enqueued.push(...(messages as readonly CalculateMessage[]))
      },
    },
  })
  return {
    enqueued,
    /** The total cost. */
    meter,
    job: createJob(null),
    now: () => state.now,
    advance: (ms: number) => (state.now += ms),
    /** The context of a verb at this machine's time, with its job queue. */
    ctx: () => {
      const works: (() => Promise<unknown>)[] = []
      const ctx = {
        ...createContextAt(state.now),
        ...createJob(null),
        afterCommit: (work: () => Promise<unknown>) => void works.push(work),
      }
      return { ctx, after: () => Promise.all(works.map((work) => work())) }
    },
    take: (messages: readonly CalculateMessage[], size?: number, death: Death | null = null) =>
      calculateSegments(createJob(death), messages, size),
    /** Like `take`, on a machine that may stop. */
    takeDying: (messages: readonly CalculateMessage[], size: number, death: Death) =>
      calculateSegments(createJob(death), messages, size).catch((error: unknown) => {
        expect(String(error)).toContain('the machine stopped')
      }),
  }
}

export const buildMessage = ({ id, epoch }: { id: string; epoch: number }): CalculateMessage => ({
  type: 'segment.calculate',
  segment_id: id,
  epoch,
})

/** Requests a calculation over the API and runs it, as the queue would. */
export async function calculate(id: string, now = Date.now()): Promise<SegmentRow> {
  const reply = await post(`/v1/segments/${id}/recalculate`, undefined)
  expect(reply.status, reply.text).toBe(200)
  await createCalculator(now).take([buildMessage(await loadSegment(id))])
  return loadSegment(id)
}
