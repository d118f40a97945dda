import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { get, post } from '../../support/api.ts'
import { joinCsvLines, pathOf, process } from '../../support/data-imports.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { givenNewsletter, importUsers, listStoredSuppressions } from '../../support/seeding/imported-users.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { db } from '../../support/seeding/rows.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { buildMessage, createImporter, loadImport, runToEnd } from '../../support/staged-imports.ts'
import { undoToEnd } from '../../support/undone-imports.ts'

const header = 'Email,First name,Last name,Data,Status,Inserted at,Updated at'
const statuses = ['active', 'unsubscribed', 'unreachable', 'spam', 'pending']

/** A list of 130 people with every status, one of whom cannot be read. */
const lines = [
  header,
  ...Array.from({ length: 129 }, (_, index) => {
    const number = String(index).padStart(3, '0')
    return `p${number}@example.dk,Ane,Lund,,${statuses[index % statuses.length]},2024-01-01,2024-03-01`
  }),
  'nobody,,,,active,,',
]

const readAll = async (shop: Shop) => ({
  people: await db.all(sql`select email, first_name, last_name, metadata, version,
    (select count(*) from edition_customers where user_seq = users.seq) as editions
    from users where organization_id = ${shop.organization_id} order by email`),
  answers: await db.all(sql`select users.email, r.number, r.status, r.occurred_at from consent_records r
    join users on users.id = r.user_id where r.organization_id = ${shop.organization_id} order by 1, 2`),
  suppressions: await listStoredSuppressions(shop.organization_id),
})

async function givenReady(): Promise<{ shop: Shop; id: string }> {
  const shop = await seedShop()
  await givenNewsletter(shop, 'news')
  const { id } = await givenImport(shop, joinCsvLines(lines), { kind: 'customers' })
  expect(await process(id)).toMatchObject({ status: 'ready', total_orders: 129, invalid_rows: 1 })
  return { shop, id }
}

const start = async (id: string): Promise<number> => {
  expect((await post(pathOf(id, '/start'), { skip_invalid_rows: true })).status).toBe(200)
  return (await loadImport(id)).epoch
}

describe('the import of a file of customers', () => {
  it('does the same as its preview says, and as without a crash, for a crash at any point', async () => {
    const first = await givenReady()
    const preview = (await get(pathOf(first.id, '/preview?page_size=1'))).body
    expect(preview.totals).toEqual({ create: 129, update: 0, skip: 0, error: 0, ignore: 0 })
    await runToEnd(first.id, await start(first.id))
    const expected = await readAll(first.shop)
    expect(expected.people).toHaveLength(129)
    expect(expected.suppressions).toHaveLength(78)
    let deaths = 0
    for (let roundTrip = 1; ; roundTrip++) {
      let hasDied = false
      for (const when of ['before', 'after'] as const) {
        const { shop, id } = await givenReady()
        const epoch = await start(id)
        const died = await createImporter({ death: { roundTrip, when } })
          .take(buildMessage(id, epoch))
          .then(
            () => false,
            () => true,
          )
        hasDied ||= died
        deaths += died ? 1 : 0
        await Promise.all([
          createImporter().take(buildMessage(id, epoch)),
          createImporter().take(buildMessage(id, epoch)),
        ])
        await runToEnd(id, epoch)
        expect(await loadImport(id)).toMatchObject({
          status: 'completed_with_errors',
          created_orders: 129,
          undone_orders: 0,
        })
        expect(await readAll(shop)).toEqual(expected)
      }
      if (!hasDied) break
    }
    expect(deaths).toBeGreaterThan(8)
  })
})

const aRow = fc.record(
  {
    email: fc.constantFrom('a@example.dk', 'b@example.dk', 'c@example.dk', 'd@example.dk'),
    first_name: fc.constantFrom('Ane', 'Bo'),
    status: fc.constantFrom('subscribed', 'unsubscribed', 'cleaned', 'complained', 'unconfirmed'),
    status_at: fc.constantFrom('2024-01-01T00:00:00Z', '2024-05-01T00:00:00Z'),
    consents: fc.record({
      news: fc.record(
        {
          status: fc.constantFrom('given', 'skipped', 'withdrawn'),
          occurred_at: fc.constantFrom('2024-02-01T00:00:00Z', '2024-06-01T00:00:00Z'),
        },
        { requiredKeys: ['status'] },
      ),
    }),
  },
  { requiredKeys: ['email'] },
)

interface Refusal {
  email: string
  status: string
}

/** Lists who withdrew or refused the consent last, and whose address is suppressed. */
async function listRefusals(shop: Shop): Promise<Refusal[]> {
  const answers = await db.all(sql<Refusal>`select users.email, r.status from consent_records r
    join users on users.id = r.user_id where r.organization_id = ${shop.organization_id} and r.is_latest = 1
      and r.status in ('withdrawn', 'skipped') order by 1`)
  const suppressions = await listStoredSuppressions(shop.organization_id)
  return [...answers, ...suppressions.map(({ address }) => ({ email: address, status: 'suppressed' }))]
}

describe('imports of customers in any order', () => {
  it('change nothing the second time, and no undo lifts a refusal or a suppression', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(aRow, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
        async (calls) => {
          const shop = await seedShop()
          await givenNewsletter(shop, 'news')
          const ids: string[] = []
          for (const rows of calls) {
            const reply = await importUsers(shop, rows)
            expect(reply.status, reply.text).toBe(201)
            ids.push(reply.body.id)
          }
          const before = await readAll(shop)
          const last = calls.at(-1) ?? []
          const dated = last.filter(
            ({ status_at, consents, status }) =>
              (status === undefined || status_at) && (consents === undefined || consents.news.occurred_at),
          )
          if (dated.length > 0) {
            const again = await importUsers(shop, dated)
            const actions = again.body.results.map((one: { action: string }) => one.action)
            expect(new Set(actions)).toEqual(new Set(['skipped']))
            expect(await readAll(shop)).toEqual(before)
          }
          const refusals = await listRefusals(shop)
          for (const id of ids.toReversed())
            if ((await get(pathOf(id))).body.allowed_actions.includes('undo')) await undoToEnd(id)
          expect(await listRefusals(shop)).toEqual(expect.arrayContaining(refusals))
          const refusing = new Set((await readAll(shop)).answers.map((answer) => (answer as { email: string }).email))
          const { people } = await readAll(shop)
          expect(people.every((person) => refusing.has((person as { email: string }).email))).toBe(true)
        },
      ),
      { numRuns: dearRuns(25, 5) },
    )
  })
})
