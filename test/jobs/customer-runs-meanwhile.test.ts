import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import type { Ctx } from '../../src/context.ts'
import { shortId } from '../../src/db/short-ids.ts'
import { type Caller, superuser } from '../../src/domain/accounts/access.ts'
import { listUsers } from '../../src/modules/users/queries.ts'
import { build, forgetRuns, later, seedEditionCustomers } from '../support/customer-runs.ts'
import { databaseThatWaits } from '../support/intervals.ts'
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
  for (const before of [0, 1, 2])
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
