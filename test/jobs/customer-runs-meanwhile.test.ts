import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Ctx } from '../../src/context.ts'
import { shortId } from '../../src/db/short-ids.ts'
import { type Caller, superuser } from '../../src/domain/accounts/access.ts'
import { listUsers } from '../../src/modules/users/queries.ts'
import {
  type Act,
  build,
  changeCustomers,
  customersShownIn,
  forgetRuns,
  later,
  seedEditionCustomers,
  type ShownCustomer,
} from '../support/customer-runs.ts'
import { dearRuns } from '../support/dear-runs.ts'
import { databaseThatWaits } from '../support/intervals.ts'
import { nullsLast } from '../support/lists.ts'
import { write } from '../support/seeding/rows.ts'

it('a page shows nothing that another edition changes while it is read', async () => {
  await forgetRuns()
  const { organization, editions } = await seedEditionCustomers(300)
  const [edition = '', , other = ''] = editions
  await build(later)
  const caller: Caller = {
    ...superuser,
    is_superuser: false,
    grants: [{ organization_id: organization, edition_id: edition, role: 'viewer' }],
  }
  const own = sql`organization_id = ${organization}`
  const taken = sql`edition_short_id = ${shortId(other)} and user_seq in (select seq from users where ${own} and seq % 5 = 2)`
  for (const before of [1, 0, 2].slice(0, dearRuns(3)))
    for (const name of ['date_joined', 'email'] as const) {
      await write(sql`delete from edition_customers where ${taken}`)
      await build(later)
      // Another edition takes customers in, and gives them an address.
      const changing = databaseThatWaits(before, () =>
        write(
          sql`insert into edition_customers (edition_short_id, user_seq, created_at)
            select ${shortId(other)}, seq, 1 from users where ${own} and seq % 5 = 2`,
          sql`update users set email = 'secret-' || seq || '@example.dk' where ${own} and seq % 5 = 2`,
        ),
      )
      const ctx = { db: changing, caller, now: () => later, afterCommit: () => undefined } as unknown as Ctx
      const request = { page: 1, size: 100, after: null }
      const { rows } = await listUsers(ctx, request, [{ name, desc: false }], { edition_id: edition })
      expect([before, name, rows.length, rows.filter(({ email }) => email?.startsWith('secret-'))]).toEqual([
        before,
        name,
        100,
        [],
      ])
      await write(sql`update users set email = 'known-' || seq || '@example.dk' where ${own} and seq % 5 = 2`)
    }
})

const orders = ['date_joined', 'email', 'phone_number', 'last_seen'] as const
const thirds = { part: 3, rest: 0 } as const
const meanwhile: readonly (readonly [name: string, acts: readonly Act[]])[] = [
  ['all leave an edition', [{ act: 'leave', some: { part: 3, rest: 1 }, edition: 1 }]],
  [
    'another edition takes them in, and they change',
    [
      { act: 'join', some: { part: 3, rest: 2 }, edition: 2 },
      { act: 'change', some: { part: 3, rest: 2 }, set: 'address' },
    ],
  ],
  ['an edition of the role takes them in', [{ act: 'join', some: { part: 3, rest: 2 }, edition: 1 }]],
  ['one gives addresses', [{ act: 'give', some: thirds, set: 'email', edition: 1 }]],
  ['one forgets addresses', [{ act: 'give', some: thirds, set: 'no email', edition: 1 }]],
  ['one gives another moment', [{ act: 'give', some: thirds, set: 'sooner', edition: 1 }]],
  ['they change', [{ act: 'change', some: thirds, set: 'address' }]],
]

const asShown = ({
  id,
  email,
  phone_number,
  first_name,
}: Pick<ShownCustomer, 'id' | 'email' | 'phone_number' | 'first_name'>) =>
  JSON.stringify([id, email, phone_number, first_name])

it.each(meanwhile)(
  'a page of a role of several editions has each customer once, as shown before or after %s',
  async (_, acts) => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          before: fc.nat({ max: 3 }),
          page: fc.constantFrom(1, 2, dearRuns(5, 2)),
          name: fc.constantFrom(...orders),
          desc: fc.boolean(),
        }),
        async ({ before, page, name, desc }) => {
          await forgetRuns()
          const place = await seedEditionCustomers(dearRuns(600, 300))
          const editions = place.editions.slice(0, 2)
          await build(later)
          const caller: Caller = {
            ...superuser,
            is_superuser: false,
            grants: editions.map((edition_id) => ({ organization_id: place.organization, edition_id, role: 'viewer' })),
          }
          const models = [await customersShownIn(editions)]
          const changing = databaseThatWaits(before, async () => {
            for (const one of acts) await changeCustomers(one, place)
          })
          const ctx = { db: changing, caller, now: () => later, afterCommit: () => undefined } as unknown as Ctx
          const filters = { organization_id: place.organization }
          const { rows } = await listUsers(ctx, { page, size: 100, after: null }, [{ name, desc }], filters)
          models.push(await customersShownIn(editions))
          const shown = new Set(models.flat().map(asShown))
          const found = rows.map((row) => ({
            ...row,
            phone_number: row.phone_number === row.id ? null : row.phone_number,
          }))
          expect(found.map(asShown).filter((one) => !shown.has(one))).toEqual([])
          expect(new Set(found.map(({ id }) => id)).size).toBe(100)
          const compare = nullsLast(desc)
          const field = {
            date_joined: 'created_at',
            last_seen: 'last_seen_at',
            email: 'email',
            phone_number: 'phone_number',
          } as const
          const values = found.map((row) => row[field[name]])
          expect(values).toEqual(values.toSorted(compare))
        },
      ),
      {
        numRuns: dearRuns(8, 2),
        examples: [1, 2].map((before) => [{ before, page: 1, name: 'email', desc: false }]),
      },
    )
  },
)
