import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { validateCel } from '../../src/modules/segments/expressions/validate.ts'
import { post } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'

/** Adds people to an organisation and an edition. Every fourth has the first name `Fourth`. */
async function seedThousands(organisation: Organization, edition: { id: string }, count: number): Promise<void> {
  await db.batch([
    sql`insert into users (id, organization_id, email, first_name, locale, msg_channel, created_at,
        modified_at)
      with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${sql.raw(String(count))})
      select 'usr_' || printf('%08d', i) || ${edition.id}, ${organisation.id},
        'guest-' || i || ${edition.id} || '@example.com', iif(i % 4 = 0, 'Fourth', ''), 'da', 'email', 0, 0 from n`,
    sql`insert into edition_customers (edition_id, user_seq, created_at, first_name, locale)
      select ${edition.id}, seq, 0, first_name, locale from users
      where organization_id = ${organisation.id} and substr(id, 13) = ${edition.id}`,
  ])
}

const expression = 'user.first_name == "Fourth"'

async function estimate(where: Record<string, unknown>, token?: string) {
  const { body } = await post('/v1/segments/validate-cel', { ...where, expression }, token)
  return [body.estimated_user_count, body.is_estimate]
}

describe('the number of people for whom an expression holds', () => {
  it('is exact for up to 10,000 people, and extrapolated from the first 10,000 of more', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    await seedThousands(organisation, edition, 10_000)
    const { token } = await givenMember(organisation, 'viewer', edition.id)
    const places = [{ organization_id: organisation.id }, { edition_id: edition.id }]
    for (const where of places) expect(await estimate(where)).toEqual([2500, false])
    expect(await estimate({ organization_id: organisation.id }, token)).toEqual([2500, false])
    await db.batch([
      sql`insert into users (id, organization_id, email, first_name, locale, msg_channel, created_at, modified_at)
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
        select 'usr_late' || i, ${organisation.id}, 'late-' || i || '@example.com', 'Fourth', 'da', 'email', 1, 1 from n`,
      sql`insert into edition_customers (edition_id, user_seq, created_at, first_name, locale)
        select ${edition.id}, seq, 1, first_name, locale from users where id like 'usr_late%'`,
    ])
    for (const where of places) expect(await estimate(where)).toEqual([3000, true])
    expect(await estimate({ organization_id: organisation.id }, token)).toEqual([3000, true])
  })

  it('is extrapolated from fewer people when testing them takes longer than a second', async () => {
    const organisation = await givenOrganization()
    await seedThousands(organisation, await seedEdition(organisation), 1000)
    const ctx = createContextAt(0)
    let now = 0
    const slow = { ...ctx, now: () => (now += 300) }
    const { estimate: result } = await validateCel(slow, { organization_id: organisation.id, expression })
    // Three of the first ten people have the name.
    expect(result).toEqual({ count: 300, isExtrapolated: true })
  })
})
