import { beforeAll, describe, expect, it } from 'vitest'
import { sweepConsents } from '../../src/modules/consents/jobs.ts'
import { get } from '../support/api.ts'
import { createJob } from '../support/campaigns.ts'
import { answer, listEvents, expectWhole, listRecords } from '../support/consents.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { seedBuyer, seedTrades } from '../support/seeding/sales/trades.ts'

const day = 86_400_000
const createJobAt = (now: number) => createJob({ now: () => now })

/** Seeds an organisation in which this many people have given a consent that expires in a day. */
async function givenConsents(people: number) {
  const shop = await seedBuyer()
  const { id } = await givenConsent(shop.organization, { expires_after_days: 1 })
  const trades = await seedTrades(shop, people)
  for (const { user } of trades) expect((await answer('give', { user, consent: id })).status).toBe(200)
  return { ...shop, consent: id as string, users: trades.map(({ user }) => user) }
}

const listEventKinds = async (organization: string) =>
  (await listEvents(organization)).map(({ kind }) => kind).toSorted()

describe('the sweep of consents', () => {
  beforeAll(() => sweepConsents(createJobAt(Date.now() + 2 * day)))

  it('expires each due consent once, and sends its webhook', async () => {
    const { organization, consent, users } = await givenConsents(5)
    expect(await sweepConsents(createJobAt(Date.now()), 2)).toBe(0)
    const later = Date.now() + day + 1
    expect(await sweepConsents(createJobAt(later), 2)).toBe(5)
    expect(await sweepConsents(createJobAt(later), 2)).toBe(0)
    expect(await listEventKinds(organization)).toEqual([
      ...Array(5).fill('consent.expired'),
      ...Array(5).fill('consent.given'),
    ])
    const [record, expired] = await listRecords(users[0] ?? '', consent)
    expect(expired).toMatchObject({ status: 'expired', method: 'expiry', occurred_at: record?.expires_at, number: 2 })
    const { stats } = (await get(`/v1/consents/${consent}`)).body
    expect(stats).toEqual({ given: 0, skipped: 0, withdrawn: 0, expired: 5 })
    await expectWhole(organization)
  })

  it('expires each consent once when two sweeps run at the same time', async () => {
    const { organization, users, consent } = await givenConsents(6)
    const later = Date.now() + day + 1
    const ended = await Promise.all([1, 2, 3].map(() => sweepConsents(createJobAt(later), 2)))
    expect(ended.reduce((sum, count) => sum + count, 0)).toBe(6)
    expect((await listEventKinds(organization)).filter((kind) => kind === 'consent.expired')).toHaveLength(6)
    for (const user of users) expect(await listRecords(user, consent)).toHaveLength(2)
    await expectWhole(organization)
  })

  it('does not expire an answer that is withdrawn at the same time', async () => {
    const { organization, users, consent } = await givenConsents(2)
    const [user = ''] = users
    const job = createJobAt(Date.now() + day + 1)
    const batch = job.db.batch.bind(job.db)
    let withdrawn = false
    job.db.batch = async (statements) => {
      if (!withdrawn) {
        withdrawn = true
        await answer('withdraw', { user, consent })
      }
      return batch(statements)
    }
    expect(await sweepConsents(job)).toBe(1)
    expect((await listRecords(user, consent)).map(({ status }) => status)).toEqual(['given', 'withdrawn'])
    await expectWhole(organization)
  })

  it('takes as many queries for few consents as for many', async () => {
    const queries: number[] = []
    for (const people of [2, 7]) {
      await givenConsents(people)
      const job = createJobAt(Date.now() + day + 1)
      expect(await sweepConsents(job)).toBe(people)
      queries.push(job.db.meter.queries)
    }
    expect(queries[1]).toBe(queries[0])
  })
})
