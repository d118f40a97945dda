import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { AppError } from '../../../src/domain/errors.ts'
import { dayMs } from '../../../src/domain/time/instants.ts'
import { exampleData } from '../../../src/modules/webhooks/events/example-contract.ts'
import { formatCursor } from '../../../src/modules/webhooks/events/feed.ts'
import { listWebhookEvents } from '../../../src/modules/webhooks/events/list.ts'
import { announceAll } from '../../../src/modules/webhooks/index.ts'
import { sweepEvents } from '../../../src/modules/webhooks/jobs.ts'
import { createContextAt } from '../../support/context.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { seedPlace } from '../../support/retention.ts'
import { db, write } from '../../support/seeding/rows.ts'

type Step =
  | { do: 'prepare'; count: number; skewMs: number }
  | { do: 'commit'; which: number }
  | { do: 'read'; size: number }
  | { do: 'wait'; days: number }
  | { do: 'sweep' }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('prepare' as const),
    count: fc.integer({ min: 1, max: 3 }),
    skewMs: fc.integer({ min: -600_000, max: 600_000 }),
  }),
  fc.record({ do: fc.constant('commit' as const), which: fc.nat({ max: 5 }) }),
  fc.record({ do: fc.constant('read' as const), size: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant('wait' as const), days: fc.constantFrom(1, 40, 95) }),
  fc.constant({ do: 'sweep' as const }),
)

/** A client that follows the list by `after`, and begins again when the service says that events are gone. */
async function follow(steps: readonly Step[]): Promise<void> {
  const { organization, edition } = await seedPlace()
  let now = Date.UTC(2026, 0, 1)
  const prepared: { ids: string[]; statements: ReturnType<typeof announceAll> }[] = []
  /** The events in the order of their commits. */
  const committed: string[] = []
  /** The number of events that the client has, and of those that were deleted before it or behind a deleted one. */
  let position = 0
  let expired = 0
  let cursor: string | undefined

  const prepare = (count: number, skewMs: number) => {
    const ctx = createContextAt(now + skewMs)
    const ids: string[] = []
    const { newId } = ctx
    ctx.newId = (kind) => {
      const id = newId(kind)
      ids.push(id)
      return id
    }
    const data = exampleData['consent.given']
    const announcement = { kind: 'consent.given' as const, organization_id: organization, edition_id: edition, data }
    prepared.push({
      ids,
      statements: announceAll(
        ctx,
        Array.from({ length: count }, () => announcement),
      ),
    })
  }
  const commit = async (which: number) => {
    const [next] = prepared.splice(which % Math.max(1, prepared.length), 1)
    if (!next) return
    await write(...next.statements)
    committed.push(...next.ids)
  }
  const sweep = async () => {
    await sweepEvents(createContextAt(now))
    const remaining = await db.all(
      sql<{ id: string }>`select id from webhook_events where organization_id = ${organization}`,
    )
    const remainingIds = new Set(remaining.map(({ id }) => id))
    expired = committed.findLastIndex((id) => !remainingIds.has(id)) + 1
  }
  const read = async (size: number) => {
    const query = { ordering: [], organization_id: organization, ...(cursor === undefined ? {} : { after: cursor }) }
    try {
      const { rows } = await listWebhookEvents(createContextAt(now), { page: 1, size, after: null }, query)
      const begin = cursor === undefined ? expired : position
      expect(begin).toBeGreaterThanOrEqual(expired)
      expect(rows.map(({ id }) => id)).toEqual(committed.slice(begin, begin + size))
      const last = rows.at(-1)
      if (!last) return
      position = begin + rows.length
      cursor = formatCursor(organization, last.seq)
    } catch (error) {
      expect(error instanceof AppError && error.code).toBe('events_expired')
      expect(position).toBeLessThan(expired)
      cursor = undefined
    }
  }
  for (const one of steps) {
    if (one.do === 'prepare') prepare(one.count, one.skewMs)
    if (one.do === 'commit') await commit(one.which)
    if (one.do === 'wait') now += one.days * dayMs
    if (one.do === 'sweep') await sweep()
    if (one.do === 'read') await read(one.size)
  }
  for (let reads = 0; reads <= committed.length + 1; reads++) await read(3)
  expect(cursor === undefined ? expired : position).toBe(committed.length)
}

it('gives a client every event once in the order of commits, or says that events are gone', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), follow), {
    numRuns: dearRuns(60, 15),
  })
})
