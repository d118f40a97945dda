import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { post } from '../support/api.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenOrganization, type Organization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'

/** Every fourth has a name. */
async function seedThousands(organisation: Organization, edition: { id: string }, count: number): Promise<void> {
  await db.batch([
    sql`insert into users (id, organization_id, email, first_name, locale, msg_channel, created_at,
        modified_at)
      with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${sql.raw(String(count))})
      select 'usr_' || printf('%08d', i) || ${edition.id}, ${organisation.id},
        'guest-' || i || ${edition.id} || '@example.com', iif(i % 4 = 0, 'Fourth', ''), 'da', 'email', 0, 0 from n`,
    sql`insert into edition_customers (edition_id, user_seq, created_at, first_name, locale)
      select ${edition.id}, seq, 0, first_name, locale from users where organization_id = ${organisation.id} and substr(id, 13) = ${edition.id}`,
  ])
}

const spread = (seq: number): number => Number((BigInt(seq) * 2654435761n) & 0xffffffffn)

/** What the named people of a sample say, when so many of the `people` are wanted in it. */
async function expectedOf(edition: { id: string }, wanted: number, people: number): Promise<number> {
  const limit = Math.round((2 ** 32 * wanted) / people)
  const named = await db.all(sql<{ seq: number }>`select seq from users
    where substr(id, 13) = ${edition.id} and first_name = 'Fourth'`)
  return Math.round((named.filter(({ seq }) => spread(seq) < limit).length * 2 ** 32) / limit)
}

describe('the numbers by which customers are sampled', () => {
  it.each([1, 2, 3, 7, 10, 25, 64, 100, 128, 1000, 1024, 4096, 10_000])(
    'are even over each %s-th customer, in the index and in smaller samples',
    async (step) => {
      const { sql: index } = (await db.first(
        sql<{ sql: string }>`select sql from sqlite_master where name = 'users_sample'`,
      )) ?? { sql: '' }
      const [, number = '', limit = 0] = /where (.*) < (\d+)$/.exec(index) ?? []
      expect(Number(limit)).toBe(2 ** 28)
      for (const first of [1, 1_234_567]) {
        const { sixteenth, least } = (await db.first(
          sql<{ sixteenth: number; least: number }>`with recursive n(i) as
              (select 0 union all select i + 1 from n where i + 1 < 16000),
            all_of(seq) as (select ${sql.raw(String(first))} + i * ${sql.raw(String(step))} from n)
          select sum(${sql.raw(number)} < 268435456) as sixteenth, sum(${sql.raw(number)} < 26843546) as least
          from all_of`,
        )) ?? { sixteenth: 0, least: 0 }
        expect(Math.abs(sixteenth - 1000)).toBeLessThan(30)
        expect(Math.abs(least - 100)).toBeLessThan(20)
      }
    },
  )
})

describe('the estimate of members', () => {
  const expression = 'user.first_name == "Fourth"'
  const validate = (where: Record<string, unknown>, source = expression) =>
    post('/v1/segments/validate-cel', { ...where, expression: source })
  const answerOf = ({ body }: Awaited<ReturnType<typeof validate>>) => [body.estimated_user_count, body.is_estimate]

  it('counts up to 10,000 people, and asks a fifth of 10,240', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    await seedThousands(organisation, edition, 10_240)
    const expected = await expectedOf(edition, 2000, 10_240)
    expect(Math.abs(expected - 2560)).toBeLessThan(26)
    for (const where of [{ organization_id: organisation.id }, { edition_id: edition.id }]) {
      const estimated = await validate(where)
      expect(answerOf(estimated)).toEqual([expected, true])
    }
    await db.batch([
      sql`delete from edition_customers where edition_id = ${edition.id}
        and user_seq in (select seq from users where id > 'usr_00010000')`,
      sql`delete from users where id > 'usr_00010000' and organization_id = ${organisation.id}`,
    ])
    expect(answerOf(await validate({ organization_id: organisation.id }))).toEqual([2500, false])
    expect(answerOf(await validate({ edition_id: edition.id }))).toEqual([2500, false])
  })

  it('asks a sample of an organisation and of its editions', async () => {
    const organisation = await givenOrganization()
    const [large, small] = [await seedEdition(organisation), await seedEdition(organisation)]
    await seedThousands(organisation, large, 40_000)
    await seedThousands(organisation, small, 11_000)
    const whole = await validate({ organization_id: organisation.id })
    expect(whole.body.is_estimate).toBe(true)
    expect(Math.abs(whole.body.estimated_user_count - 12_750)).toBeLessThan(130)
    for (const [edition, people] of [
      [large, 40_000],
      [small, 11_000],
    ] as const) {
      const estimated = await validate({ edition_id: edition.id })
      const expected = await expectedOf(edition, 2000, people)
      expect(Math.abs(expected - people / 4)).toBeLessThan(people / 300)
      expect(answerOf(estimated)).toEqual([expected, true])
    }
  })

  it('reads a smaller sample when the expression takes long', async () => {
    const organisation = await givenOrganization()
    await seedThousands(organisation, await seedEdition(organisation), 2048)
    const long = `${expression} && [${Array.from({ length: 500 }, (_, n) => n).join()}].all(n, n < 1000)`
    const { body } = await validate({ organization_id: organisation.id }, long)
    expect([body.is_valid, body.is_estimate]).toEqual([true, true])
    // How near a small sample comes depends on the number of the first customer.
    expect(Math.abs(body.estimated_user_count - 512)).toBeLessThan(64)
  })
})
