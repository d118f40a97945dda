import { env } from 'cloudflare:workers'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { CalculateMessage, JobCtx } from '../../src/context.ts'
import { type Client, Database } from '../../src/db/database.ts'
import type { AnswerStatus } from '../../src/domain/consents/consents.ts'
import type { SuppressionReason } from '../../src/domain/messaging/suppressions.ts'
import { consentRecords, consents, suppressions } from '../../src/db/schema/consents.ts'
import { segments } from '../../src/db/schema/messaging/segments.ts'
import { userEditions, users } from '../../src/db/schema/users.ts'
import { select } from '../../src/db/select.ts'
import { insert, insertAll } from '../../src/db/write.ts'
import { searchText } from '../../src/domain/text/fold.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { calculateSegments } from '../../src/modules/segments/jobs.ts'
import { post, type Reply } from './api.ts'
import { contextAt } from './context.ts'
import { db } from './factories.ts'
import { freshId, next, seededAt, write } from './seed.ts'

export type SegmentRow = typeof segments.$inferSelect
type UserRow = typeof users.$inferSelect

/** People of an organisation, each with an address and a number unless told; in the edition too when one is named. */
export async function givenPeople(
  place: { organization: string; edition?: string },
  people: readonly Partial<UserRow>[],
): Promise<UserRow[]> {
  const rows = people.map((columns) => {
    const number = next()
    const email = `person-${number}-${crypto.randomUUID().slice(0, 8)}@example.test`
    return {
      id: freshId('user'),
      organization_id: place.organization,
      email,
      phone_number: `+4531${String(100_000 + number)}`,
      first_name: 'Ægir',
      last_name: `Holm ${number}`,
      locale: 'da',
      msg_channel: 'email' as const,
      is_active: true,
      search: searchText(email),
      last_seen_at: null,
      created_at: seededAt,
      modified_at: seededAt,
      ...columns,
    }
  })
  const { edition } = place
  await write(
    ...insertAll(users, rows),
    ...(edition
      ? insertAll(
          userEditions,
          rows.map(({ id }) => ({ edition_id: edition, user_id: id, created_at: seededAt })),
        )
      : []),
  )
  const stored = await db.all(
    sql<UserRow>`select * from users where organization_id = ${place.organization} order by seq`,
  )
  return rows.flatMap(({ id }) => stored.filter((row) => row.id === id))
}

/** As `givenPeople`, by names of the test's own. */
export async function givenNamed<Name extends string>(
  place: { organization: string; edition?: string },
  people: Record<Name, Partial<UserRow>>,
): Promise<Record<Name, UserRow>> {
  const rows = await givenPeople(place, Object.values(people))
  return Object.fromEntries(Object.keys(people).map((name, index) => [name, rows[index]])) as Record<Name, UserRow>
}

export async function givenConsent(
  organization: string,
  columns: Partial<typeof consents.$inferInsert> = {},
): Promise<string> {
  const id = freshId('consent')
  await write(
    insert(consents, {
      id,
      organization_id: organization,
      key: `newsletter-${next()}`,
      name: 'Newsletter',
      type: 'marketing',
      channels: ['email'],
      created_at: seededAt,
      modified_at: seededAt,
      ...columns,
    }),
  )
  return id
}

export const answer = (
  user: UserRow,
  consentId: string,
  status: AnswerStatus,
  columns: Partial<typeof consentRecords.$inferInsert> = {},
): Promise<void> =>
  write(
    insert(consentRecords, {
      id: freshId('consent_record'),
      organization_id: user.organization_id,
      consent_id: consentId,
      consent_version: 1,
      content_hash: '',
      user_id: user.id,
      status,
      method: 'checkbox',
      source: 'test',
      language: 'en',
      occurred_at: seededAt,
      record_hash: '',
      is_latest: 1,
      ...columns,
    }),
  )

export const suppress = (user: UserRow, channel: 'email' | 'sms', reason: SuppressionReason): Promise<void> =>
  write(
    insert(suppressions, {
      organization_id: user.organization_id,
      channel,
      address: (channel === 'email' ? user.email : user.phone_number) ?? '',
      reason,
      created_at: seededAt,
    }),
  )

export async function givenSegment(fields: Record<string, unknown>, token?: string): Promise<Reply['body']> {
  const body = {
    name: 'Everyone',
    communication_type: 'transactional',
    communication_channel: 'email',
    expression: 'user.is_active || !user.is_active',
    ...fields,
  }
  const reply = await post('/v1/segments', body, token)
  expect(reply.status, reply.text).toBe(201)
  return reply.body
}

export const segmentNow = async (id: string): Promise<SegmentRow> => {
  const row = await db.first(select(getTableColumns(segments)).from(segments).where(eq(segments.id, id)))
  if (!row) throw new Error('no such segment')
  return row
}

/** Public ids of those who are in the set that is shown, in the order of their creation. */
export const membersNow = async (id: string): Promise<string[]> => {
  const rows = await db.all(sql<{ id: string }>`select users.id from segments
    join segment_members on segment_seq = segments.seq and segment_members.epoch = members_epoch
    join users on users.seq = user_seq
    where segments.id = ${id} and excluded_for is null order by users.seq`)
  return rows.map((row) => row.id)
}

/** Where a machine stops: before its nth round trip to the database, or after it. */
export interface Death {
  roundTrip: number
  when: 'before' | 'after'
}

/** The database of a machine that stops for good at a round trip. */
export function dyingClient(death: Death | null): Client {
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

/** A machine that calculates, with a clock and a job queue of the test's own. */
export function calculator(now = Date.now()) {
  const state = { now }
  const enqueued: CalculateMessage[] = []
  const jobOf = (death: Death | null): JobCtx => ({
    ...contextAt(state.now),
    db: new Database(dyingClient(death), newMeter()),
    now: () => state.now,
    jobQueue: {
      enqueue: async (_, messages) => {
        enqueued.push(...(messages as readonly CalculateMessage[]))
      },
    },
  })
  return {
    enqueued,
    job: jobOf(null),
    now: () => state.now,
    advance: (ms: number) => (state.now += ms),
    /** What a verb receives at this machine's time, with its job queue. */
    ctx: () => {
      const works: (() => Promise<unknown>)[] = []
      const ctx = {
        ...contextAt(state.now),
        ...jobOf(null),
        afterCommit: (work: () => Promise<unknown>) => void works.push(work),
      }
      return { ctx, after: () => Promise.all(works.map((work) => work())) }
    },
    take: (messages: readonly CalculateMessage[], size?: number, death: Death | null = null) =>
      calculateSegments(jobOf(death), messages, size),
    /** As `take`, by a machine that may stop on the way. */
    takeDying: (messages: readonly CalculateMessage[], size: number, death: Death) =>
      calculateSegments(jobOf(death), messages, size).catch((error: unknown) => {
        expect(String(error)).toContain('the machine stopped')
      }),
  }
}

export const messageFor = ({ id, epoch }: { id: string; epoch: number }): CalculateMessage => ({
  type: 'segment.calculate',
  segment_id: id,
  epoch,
})

/** Recalculates over the API and makes the calculation, as the queue would. */
export async function calculated(id: string, now = Date.now()): Promise<SegmentRow> {
  const reply = await post(`/v1/segments/${id}/recalculate`, undefined)
  expect(reply.status, reply.text).toBe(200)
  await calculator(now).take([messageFor(await segmentNow(id))])
  return segmentNow(id)
}
