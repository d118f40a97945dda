import { runInDurableObject } from 'cloudflare:test'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callWith, get, post, type Reply } from '../../support/api.ts'
import { interruptDatabase } from '../../support/bindings.ts'
import { getCampaignObject, listCaptured, runUntil } from '../../support/campaigns.ts'
import { give } from '../../support/consent-pages.ts'
import { expectWhole } from '../../support/consents.ts'
import { readCost } from '../../support/cost.ts'
import { crashAt } from '../../support/crashes.ts'
import { dump } from '../../support/dump.ts'
import { work } from '../../support/imported-files.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { createUser } from '../../support/seeding/imported-users.ts'
import { seedManyOrders } from '../../support/seeding/many-orders.ts'
import { marketingTo, seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { givenForm } from '../../support/seeding/messaging/signup-forms.ts'
import { db, next, write } from '../../support/seeding/rows.ts'
import { anOrder, givenOrders, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { requestLink } from '../../support/signups.ts'

const merge = (id: string, user_id: string) => post(`/v1/user/${id}/merge`, { user_id })

const findByEmail = async ({ organization_id }: Shop, email: string): Promise<string> => {
  const row = await db.first(
    sql<{ id: string }>`select id from users where organization_id = ${organization_id} and email = ${email}`,
  )
  return row?.id ?? ''
}

const orderBy = (email: string, change: object = {}) => anOrder({ customer: { email }, ...change })

interface Pair {
  shop: Shop
  own: string
  other: string
  ownEmail: string
  otherEmail: string
}

async function givenPair(): Promise<Pair> {
  const shop = await seedShop()
  const [ownEmail, otherEmail] = [`own-${next()}@example.dk`, `other-${next()}@example.dk`]
  await givenOrders(shop, [orderBy(ownEmail), orderBy(otherEmail)])
  return {
    shop,
    ownEmail,
    otherEmail,
    own: await findByEmail(shop, ownEmail),
    other: await findByEmail(shop, otherEmail),
  }
}

const countOrders = async (userId: string) => (await db.all(sql`select 1 from orders where user_id = ${userId}`)).length
const listUsers = ({ organization_id }: Shop) =>
  db.all(sql<{ id: string }>`select id from users where organization_id = ${organization_id}`)

describe('mergeUsers', () => {
  it('happens whole or not at all, whichever call to the database fails, and once when it is repeated', async () => {
    for (let step = 1; ; step++) {
      const { shop, own, other } = await givenPair()
      const consent = await givenConsent(shop.organization_id)
      await give({ id: other }, consent.id)
      const headers = { 'idempotency-key': crypto.randomUUID() }
      const send = (bindings: object = {}): Promise<Reply> =>
        callWith(bindings, `/v1/user/${own}/merge`, { body: { user_id: other }, headers })
      const { bindings, hasCrashed } = crashAt(step)
      const first = await send(bindings)
      const isMerged = (await listUsers(shop)).length === 1
      expect([step, await countOrders(own)]).toEqual([step, isMerged ? 2 : 1])
      if (!hasCrashed()) {
        expect(first.status).toBe(200)
        expect(step).toBeGreaterThan(6)
        break
      }
      await write(sql`update idempotency_keys set claimed_until = 0 where status is null`)
      const reply = await send()
      expect([step, reply.status]).toEqual([step, 200])
      expect([step, await countOrders(own), (await listUsers(shop)).length]).toEqual([step, 2, 1])
      expect((await get(`/v1/user/${own}/consents`)).body.results[0].status).toBe('given')
      const events = await db.all(sql`select 1 from webhook_events
        where organization_id = ${shop.organization_id} and kind = 'user.merged'`)
      expect([step, events.length]).toEqual([step, 2])
      await expectWhole(shop.organization_id)
    }
  }, 120_000)

  it('takes an order of the other customer that arrives meanwhile', async () => {
    const { shop, own, other, otherEmail } = await givenPair()
    const interruption = interruptDatabase(/delete from users/, () => importOrders(shop, [orderBy(otherEmail)]))
    const reply = await callWith(interruption, `/v1/user/${own}/merge`, { body: { user_id: other } })
    expect([reply.status, reply.body.moved.orders]).toEqual([200, 2])
    expect(await countOrders(own)).toBe(3)
  })

  it('is found by an import that has read the other customer before it', async () => {
    const { shop, own, other, otherEmail } = await givenPair()
    const interruption = interruptDatabase(/insert into "orders"/, () => merge(own, other))
    const body = { ...shop, source: 'webshop', orders: [orderBy(otherEmail)] }
    const reply = await callWith(interruption, '/v1/data-imports/external-orders', { body })
    expect([reply.status, reply.body.created_orders]).toEqual([201, 1])
    expect([await countOrders(own), (await listUsers(shop)).length]).toEqual([3, 1])
  })

  it('is noticed by an answer that has read the other customer before it', async () => {
    const { shop, own, other } = await givenPair()
    const consent = await givenConsent(shop.organization_id)
    const interruption = interruptDatabase(/insert into "consent_records"/, () => merge(own, other))
    const body = { language: 'en', method: 'api', source: 'checkout' }
    const reply = await callWith(interruption, `/v1/user/${other}/consents/${consent.id}/give`, { body })
    expect([reply.status, reply.body.merged_into]).toEqual([404, own])
    expect(await db.all(sql`select 1 from consent_records where consent_id = ${consent.id}`)).toEqual([])
  })

  it.each([
    ['has to be given', false],
    ['is given already', true],
  ])('is followed by the confirmation of a sign-up whose consent %s', async (_, isGiven) => {
    const { shop, own, other, otherEmail } = await givenPair()
    const edition = await seedEdition({ id: shop.organization_id })
    const { consent, path } = await givenForm({ organization: shop.organization_id, edition: edition.id })
    if (isGiven) {
      await createUser({ ...shop, edition_id: edition.id }, { email: otherEmail })
      await give({ id: other }, consent.id)
      await write(sql`delete from edition_customers where edition_id = ${edition.id}`)
    }
    const { link } = await requestLink(path, { email: otherEmail, consent: consent.id })
    const interruption = interruptDatabase(/signup_requests" set/, () => merge(own, other))
    const reply = await callWith(interruption, link, { body: {} })
    expect(reply.status, reply.text).toBe(200)
    expect(await db.all(sql`select 1 from users where id = ${other}`)).toEqual([])
    const rows = await db.all(sql`select 1 from edition_customers join users on users.seq = user_seq
      where edition_id = ${edition.id} and users.id = ${own}`)
    expect(rows).toHaveLength(1)
    const answers = (await get(`/v1/user/${own}/consents`)).body.results
    expect(answers.find(({ id }: { id: string }) => id === consent.id).status).toBe('given')
  })

  it('is followed by an import of customers that has read the other customer before it', async () => {
    const { shop, own, other, otherEmail } = await givenPair()
    const edition = await seedEdition({ id: shop.organization_id })
    const interruption = interruptDatabase(/insert into "edition_customers"/, () => merge(own, other))
    const body = { ...shop, edition_id: edition.id, source: 'list', users: [{ email: otherEmail }] }
    const reply = await callWith(interruption, '/v1/data-imports/users', { body })
    expect([reply.status, reply.body.results?.[0].user_id]).toEqual([201, own])
  })

  it('takes as many statements for 10,000 orders as for one', async () => {
    const { shop, own, other } = await givenPair()
    const small = await merge(own, other)
    await seedManyOrders(shop, 10_000)
    const row = await db.first(
      sql<{ id: string }>`select user_id as id from orders where edition_id = ${shop.edition_id}
        group by user_id order by count(*) desc limit 1`,
    )
    const large = await merge(own, row?.id ?? '')
    expect([large.status, large.body.moved.orders]).toEqual([200, 10_000])
    expect(readCost(large).queries).toBe(readCost(small).queries)
    expect(await countOrders(own)).toBe(10_002)
  }, 60_000)
})

describe('a campaign that both customers are in', () => {
  it('does not reach the customer a second time when it is retried', async () => {
    const crowd = await seedCrowd(2)
    const { campaign } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent'])
    const [own, other] = crowd.people
    if (!own || !other) throw new Error('The crowd has two people.')
    // The message to the other customer failed for a reason that a retry tries again.
    await runInDurableObject(getCampaignObject(campaign.id), (_, { storage }) => {
      storage.sql.exec("update recipients set state = 'failed', reason = 'unreachable' where n = ?", other.seq)
      storage.sql.exec('update record set sent = 1, failed = 1')
    })
    expect((await merge(own.id, other.id)).status).toBe(200)
    const before = (await listCaptured(campaign.id)).length
    const retried = await post(`/v1/campaigns/${campaign.id}/retry-failed`, {})
    expect(retried.status, retried.text).toBe(200)
    await runUntil(campaign.id, ['sent'])
    expect((await listCaptured(campaign.id)).length).toBe(before)
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=skipped`)
    expect(body.results).toMatchObject([{ id: other.id, reason: 'duplicate_address', user: { api_id: own.id } }])
  })
})

describe('the undo of an import that answered a consent', () => {
  it('leaves the withdrawal of the other customer', async () => {
    const { shop, own, other, ownEmail } = await givenPair()
    const consent = await givenConsent(shop.organization_id)
    await give({ id: other }, consent.id)
    await give({ id: other }, consent.id, {}, 'withdraw')
    const { body } = await importOrders(shop, [orderBy(ownEmail, { consents: { [consent.key]: true } })])
    await merge(own, other)
    const readStatus = async () => (await get(`/v1/user/${own}/consents`)).body.results[0].status
    expect(await readStatus()).toBe('given')
    expect((await post(`/v1/data-imports/${body.id}/undo`, {})).status).toBe(200)
    await work(body.id)
    expect(await readStatus()).toBe('withdrawn')
    await expectWhole(shop.organization_id)
    expect((await get(`/v1/user/${own}/consents/${consent.id}/proof`)).body.is_intact).toBe(true)
  })
})

const letters = ['a', 'b', 'c', 'd'] as const
type Letter = (typeof letters)[number]

type Move =
  | { do: 'order'; who: Letter }
  | { do: 'answer'; who: Letter; action: 'give' | 'withdraw' }
  | { do: 'suppress'; who: Letter }
  | { do: 'merge'; who: Letter; other: Letter; isDry: boolean }

const letter = fc.constantFrom(...letters)
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('order' as const), who: letter }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      who: letter,
      action: fc.constantFrom('give' as const, 'withdraw' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('suppress' as const), who: letter }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('merge' as const), who: letter, other: letter, isDry: fc.boolean() }),
  },
)

/** A person of the model: the orders and the last answer that changed something. */
interface ModelPerson {
  id: string
  orders: number
  answer: { status: string; at: number } | null
}

class Model {
  /** The person whom each address leads to. */
  readonly people = new Map<Letter, ModelPerson>()
  readonly suppressed = new Set<Letter>()
  /** The ids that were merged, with the person who is left. */
  readonly merged = new Map<string, ModelPerson>()
  #now = 0

  find(who: Letter): ModelPerson {
    const person = this.people.get(who)
    if (!person) throw new Error(`Nobody has the address ${who}.`)
    return person
  }

  answer(who: Letter, action: 'give' | 'withdraw'): void {
    const person = this.find(who)
    const status = action === 'give' ? 'given' : 'withdrawn'
    const before = person.answer?.status ?? 'none'
    if (before === status || (status === 'withdrawn' && before !== 'given')) return
    person.answer = { status, at: ++this.#now }
  }

  merge(who: Letter, other: Letter): void {
    const [own, gone] = [this.find(who), this.find(other)]
    own.orders += gone.orders
    if ((gone.answer?.at ?? 0) > (own.answer?.at ?? 0)) own.answer = gone.answer
    for (const [address, person] of this.people) if (person === gone) this.people.set(address, own)
    for (const [id, person] of this.merged) if (person === gone) this.merged.set(id, own)
    this.merged.set(gone.id, own)
  }
}

describe('merges in any order', () => {
  it('leave what a small model has', async () => {
    const run = fc.asyncProperty(fc.array(move, { minLength: 4, maxLength: 14 }), async (moves) => {
      const shop = await seedShop()
      const mark = next()
      const emailOf = (who: Letter) => `${who}-${mark}@example.dk`
      const consent = await givenConsent(shop.organization_id)
      await givenOrders(
        shop,
        letters.map((who) => orderBy(emailOf(who))),
      )
      const model = new Model()
      for (const who of letters)
        model.people.set(who, { id: await findByEmail(shop, emailOf(who)), orders: 1, answer: null })
      for (const step of moves) {
        const person = model.find(step.who)
        if (step.do === 'order') {
          await importOrders(shop, [orderBy(emailOf(step.who))])
          person.orders++
        } else if (step.do === 'answer') {
          await give({ id: person.id }, consent.id, {}, step.action)
          model.answer(step.who, step.action)
        } else if (step.do === 'suppress') {
          await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
            values (${shop.organization_id}, 'email', ${emailOf(step.who)}, 'unsubscribed', ${Date.now()})
            on conflict do nothing`)
          model.suppressed.add(step.who)
        } else if (model.find(step.other) !== person) {
          const { id } = model.find(step.other)
          const before = step.isDry ? await dump() : null
          const reply = await post(`/v1/user/${person.id}/merge`, { user_id: id, dry_run: step.isDry })
          expect(reply.status, reply.text).toBe(200)
          expect(reply.body.moved.orders).toBe(model.find(step.other).orders)
          if (before) expect(await dump()).toEqual(before)
          else model.merge(step.who, step.other)
        }
      }
      const people = new Set(model.people.values())
      expect((await listUsers(shop)).length).toBe(people.size)
      for (const { id, orders, answer } of people) {
        expect(await countOrders(id)).toBe(orders)
        const [row] = (await get(`/v1/user/${id}/consents`)).body.results
        expect(row.status).toBe(answer?.status ?? 'none')
        if (!answer) continue
        const proof = (await get(`/v1/user/${id}/consents/${consent.id}/proof`)).body
        expect([
          proof.is_intact,
          ...proof.merged_chains.map((chain: { is_intact: boolean }) => chain.is_intact),
        ]).not.toContain(false)
      }
      for (const [id, person] of model.merged) expect((await get(`/v1/user/${id}`)).body.merged_into).toBe(person.id)
      const suppressions = await db.all(
        sql<{ address: string }>`select address from suppressions where organization_id = ${shop.organization_id}`,
      )
      for (const who of model.suppressed) expect(suppressions.map(({ address }) => address)).toContain(emailOf(who))
      const [stats] = await db.all(
        sql<{
          given: number
          withdrawn: number
        }>`select given, withdrawn from consent_stats where consent_id = ${consent.id}`,
      )
      const countOf = (status: string) => [...people].filter(({ answer }) => answer?.status === status).length
      expect(stats).toEqual({ given: countOf('given'), withdrawn: countOf('withdrawn') })
      await expectWhole(shop.organization_id)
    })
    await fc.assert(run, { numRuns: dearRuns(25, 4) })
  }, 240_000)
})
