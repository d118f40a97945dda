import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import type { JobCtx } from '../../../src/context.ts'
import { Database } from '../../../src/db/database.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { newMeter } from '../../../src/domain/meter.ts'
import { findAnswerSubject } from '../../../src/modules/consents/answers/answer-queries.ts'
import { answerConsent } from '../../../src/modules/consents/answers/answer.ts'
import { sweepConsents } from '../../../src/modules/consents/jobs.ts'
import { findConsent } from '../../../src/modules/consents/queries.ts'
import { updateConsent } from '../../../src/modules/consents/update.ts'
import { get } from '../../support/api.ts'
import { createJob } from '../../support/campaigns.ts'
import { listEvents, expectWhole, listRecords } from '../../support/consents.ts'
import { createContextAt } from '../../support/context.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { anOrder, importOrders } from '../../support/seeding/sales/orders.ts'
import { seedBuyer } from '../../support/seeding/sales/trades.ts'
import { expectVerified } from '../../support/verified.ts'

afterAll(expectVerified)

const hour = 3_600_000
const expiresAfter = 24 * hour

type Action = 'give' | 'skip' | 'withdraw'
/** A transaction may be cut off before or after it takes effect, and the client does not learn which. */
type Move =
  | { do: 'answer'; action: Action; agoHours: number; cut: 'before' | 'after' | null }
  | { do: 'race'; actions: Action[] }
  | { do: 'import'; agoHours: number; isGiven: boolean; skipped: boolean }
  | { do: 'reword' }
  | { do: 'sweep'; times: number; cut: 'before' | 'after' | null }
  | { do: 'wait'; hours: number }

const arbitraryAction = fc.constantFrom<Action>('give', 'give', 'skip', 'withdraw')
const cut = fc.constantFrom<'before' | 'after' | null>(null, null, 'before', 'after')
const ago = fc.constantFrom(0, 0, 0, 1, 5, 30)
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('answer' as const), action: arbitraryAction, agoHours: ago, cut }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('race' as const),
      actions: fc.array(arbitraryAction, { minLength: 2, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('import' as const),
      agoHours: ago,
      isGiven: fc.boolean(),
      skipped: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'reword' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('sweep' as const), times: fc.integer({ min: 1, max: 2 }), cut }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 7, 25) }) },
)

interface Model {
  status: 'none' | 'given' | 'skipped' | 'withdrawn' | 'expired'
  at: number
  end: number | null
  version: number
  kinds: string[]
}

/** Wraps a database that fails at its next transaction. */
function breaking(when: 'before' | 'after' | null): Database {
  const database = new Database(env.DB, newMeter())
  const batch = database.batch.bind(database)
  if (when !== null)
    database.batch = async (statements) => {
      if (when === 'after') await batch(statements)
      throw new Error('cut off')
    }
  return database
}

/** Predicts the effect of an answer, independently of the code under test. */
function follow(model: Model, status: 'given' | 'skipped' | 'withdrawn', at: number, version: number): void {
  const isOver = model.status === 'given' && model.end !== null && model.end <= at
  const state = isOver ? 'expired' : model.status
  if (state === status && !(status === 'given' && model.version < version)) return
  if (model.status !== 'none' && at < model.at) return
  const allowed = status === 'given' || (status === 'skipped' ? state === 'none' : state === 'given')
  if (!allowed) return
  if (isOver) model.kinds.push('expired')
  model.kinds.push(status)
  Object.assign(model, { status, at, end: status === 'given' ? at + expiresAfter : null })
  if (status !== 'withdrawn') model.version = version
}

async function world() {
  const shop = await seedBuyer()
  const place = { organization_id: shop.organization, edition_id: shop.edition }
  const { id } = await givenConsent(shop.organization, {
    key: 'news',
    edition_id: shop.edition,
    expires_after_days: 1,
    reconsent_on_change: true,
  })
  const { email } = (await db.first(sql<{ email: string }>`select email from users where id = ${shop.user}`)) ?? {}
  return { shop, place, consent: id as string, email }
}

/** Wordings and their times, oldest first. */
type Wordings = { version: number; at: number }[]
const findShownVersion = (wordings: Wordings, at: number) =>
  wordings.findLast((wording) => wording.at <= at)?.version ?? 1

async function play(moves: readonly Move[]): Promise<void> {
  const { shop, place, consent, email } = await world()
  // The world is older than every answer, and its clock runs far behind the real one.
  let now = Date.now() - 3000 * hour
  const born = now - 100 * hour
  await write(
    sql`update consents set created_at = ${born} where id = ${consent}`,
    sql`update consent_versions set created_at = ${born} where consent_id = ${consent}`,
  )
  const wordings: Wordings = [{ version: 1, at: born }]
  const model: Model = { status: 'none', at: 0, end: null, version: 0, kinds: [] }
  const createContext = (database: Database) => ({ ...createContextAt(now), db: database })
  const job = (database: Database): JobCtx => createJob({ now: () => now, db: database })

  async function attempt(database: Database, action: Action, at: number): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        const subject = await findAnswerSubject(createContext(database), shop.user, consent)
        const input = { language: 'da' as const, method: 'api' as const, source: 'test', occurred_at: at }
        await answerConsent(createContext(database), subject, action, input)
        return
      } catch (error) {
        if (error instanceof AppError) return
        if (tries === 8 || (error as Error).message === 'cut off') throw error
      }
  }
  const statusOf = { give: 'given', skip: 'skipped', withdraw: 'withdrawn' } as const

  async function step(one: Move): Promise<void> {
    switch (one.do) {
      case 'wait':
        now += one.hours * hour
        return
      case 'answer': {
        const at = now - one.agoHours * hour
        const before = (await listRecords(shop.user, consent)).length
        await attempt(breaking(one.cut), one.action, at).catch(() => undefined)
        const after = (await listRecords(shop.user, consent)).length
        // The client does not know the result, and repeats the request.
        if (one.cut !== null) await attempt(breaking(null), one.action, at)
        expect(one.cut === 'before' ? after : before).toBe(before)
        follow(model, statusOf[one.action], at, findShownVersion(wordings, at))
        return
      }
      case 'race': {
        const recorded = (await listRecords(shop.user, consent)).length
        await Promise.all(one.actions.map((action) => attempt(breaking(null), action, now)))
        // The model follows the order of the records.
        const newRecords = (await listRecords(shop.user, consent))
          .slice(recorded)
          .filter(({ status }) => status !== 'expired')
        for (const { status } of newRecords) follow(model, status as 'given', now, findShownVersion(wordings, now))
        return
      }
      case 'import': {
        const at = now - one.agoHours * hour
        const order = anOrder({
          customer: { email, locale: 'da' },
          created: new Date(at).toISOString(),
          consents: { news: one.isGiven },
        })
        const reply = await importOrders(place, [order], { skipped: one.skipped, emit_webhooks: true })
        expect([reply.status, reply.body.failed_orders]).toEqual([201, 0])
        if (model.status !== 'none' && at <= model.at) return
        if (one.isGiven || one.skipped)
          follow(model, one.isGiven ? 'given' : 'skipped', at, findShownVersion(wordings, at))
        return
      }
      case 'reword': {
        const row = await findConsent(createContextAt(now), consent)
        await updateConsent(createContextAt(now), row, { text: { en: `Words ${row.version}`, da: 'Ord' } })
        wordings.push({ version: row.wording_version + 1, at: now })
        return
      }
      case 'sweep':
        await sweepConsents(job(breaking(one.cut))).catch(() => undefined)
        await Promise.all(Array.from({ length: one.times }, () => sweepConsents(job(breaking(null)))))
        if (model.status === 'given' && model.end !== null && model.end <= now) {
          model.kinds.push('expired')
          Object.assign(model, { status: 'expired', at: model.end })
        }
    }
  }

  for (const nextMove of moves) {
    await step(nextMove)
    const rows = await listRecords(shop.user, consent)
    expect(
      rows.map(({ status }) => status),
      JSON.stringify(nextMove),
    ).toEqual(model.kinds)
  }
  await expectWhole(shop.organization)
  const events = (await listEvents(shop.organization)).filter(({ kind }) => kind.startsWith('consent.'))
  const announced = events.map(({ payload }) => (JSON.parse(payload) as { data: { record_id: string } }).data.record_id)
  const rows = await listRecords(shop.user, consent)
  expect(announced.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
  const { stats } = (await get(`/v1/consents/${consent}`)).body
  const zeros = { given: 0, skipped: 0, withdrawn: 0, expired: 0 }
  expect(stats).toEqual(model.status === 'none' ? zeros : { ...zeros, [model.status]: 1 })
}

it('random answers leave one current record each, an unbroken chain, and each event once', async () => {
  await fc.assert(fc.asyncProperty(fc.array(move, { minLength: 3, maxLength: 14 }), play), {
    numRuns: 15,
    endOnFailure: true,
  })
}, 240_000)
