import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { post } from '../support/api.ts'
import { costOf } from '../support/cost.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'

/** People whose ids end in each of the 1,024 pairs of letters equally often. Every fourth has a name. */
async function seedThousands(organisation: Organization, edition: { id: string }, count: number): Promise<void> {
  const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
  const ending = `substr('${letters}', 1 + (i / 32) % 32, 1) || substr('${letters}', 1 + i % 32, 1)`
  await db.batch([
    sql`insert into users (id, organization_id, email, first_name, locale, msg_channel, search, created_at,
        modified_at)
      with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${sql.raw(String(count))})
      select 'usr_' || printf('%08d', i) || ${organisation.id} || ${sql.raw(ending)}, ${organisation.id},
        'guest-' || i || '@example.com', iif(i % 4 = 0, 'Fourth', ''), 'da', 'email', '', 0, 0 from n`,
    sql`insert into user_editions (edition_id, user_id, created_at)
      select ${edition.id}, id, 0 from users where organization_id = ${organisation.id}`,
  ])
}

describe('the estimate of members', () => {
  const expression = 'user.first_name == "Fourth"'
  const validate = (where: Record<string, unknown>, source = expression) =>
    post('/v1/segments/validate-cel', { ...where, expression: source })
  const answerOf = ({ body }: Awaited<ReturnType<typeof validate>>) => [body.estimated_user_count, body.is_estimate]

  it('counts up to 10,000 people, and a fifth of 10,240, which are all read by an index', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    await seedThousands(organisation, edition, 10_240)
    // 10,001 to know that there are more, 330 to know how many, 2,000 who are asked; and who asks, and the place.
    for (const [where, rows_read] of [
      [{ organization_id: organisation.id }, 12_331 + 4],
      // Each of the edition's is looked up, by an index and the row, and so are the editions that know them.
      [{ edition_id: edition.id }, 18_331 + 4],
    ] as const) {
      const sampled = await validate(where)
      expect(answerOf(sampled)).toEqual([2560, true])
      expect(costOf(sampled)).toMatchObject({ rows_read, rows_written: 0 })
    }
    await db.batch([
      sql`delete from user_editions where user_id > 'usr_00010000' and edition_id = ${edition.id}`,
      sql`delete from users where id > 'usr_00010000' and organization_id = ${organisation.id}`,
    ])
    expect(answerOf(await validate({ organization_id: organisation.id }))).toEqual([2500, false])
    expect(answerOf(await validate({ edition_id: edition.id }))).toEqual([2500, false])
  })

  it('reads a smaller sample when the expression takes long', async () => {
    const organisation = await givenOrganization()
    await seedThousands(organisation, await seedEdition(organisation), 2048)
    const long = `${expression} && [${Array.from({ length: 500 }, (_, n) => n).join()}].all(n, n < 1000)`
    const { body } = await validate({ organization_id: organisation.id }, long)
    // 119 parts of two people each; in every fourth part both hold.
    expect(body).toMatchObject({
      is_valid: true,
      is_estimate: true,
      estimated_user_count: Math.round((60 * 1024) / 119),
    })
  })
})
