import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, expect, it } from 'vitest'
import { verifyConsents } from '../../scripts/support/verify/consents.ts'
import { patch, post } from '../support/api.ts'
import { answer, listRecords } from '../support/consents.ts'
import { finishErasures } from '../support/personal-data.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { write } from '../support/seeding/rows.ts'
import { seedBuyer } from '../support/seeding/sales/trades.ts'

const query = async <Row>(text: string): Promise<Row[]> => (await env.DB.prepare(text).all<Row>()).results
async function verify() {
  const { compared, faults } = await verifyConsents(query, 100)
  return { records: compared, fault: faults[0] ?? null }
}

let user: string
let consent: string
beforeAll(async () => {
  const shop = await seedBuyer()
  user = shop.user
  consent = (await givenConsent(shop.organization)).id
  await answer('give', { user, consent }, { evidence: { box: 'a' }, order_id: shop.order })
  await answer('withdraw', { user, consent })
  await patch(`/v1/consents/${consent}`, { text: { en: 'Other words.', da: 'Andre ord.' } })
  await answer('give', { user, consent })
})

it('the check of consent records accepts every chain that the operations make', async () => {
  expect(await verify()).toEqual({ records: 3, fault: null })
})

it.each([
  ['id', 1],
  ['consent_version', 2],
  ['content_hash', 1],
  ['edition_id', 1],
  ['order_id', 1],
  ['status', 2],
  ['previous_status', 2],
  ['method', 1],
  ['source', 1],
  ['language', 1],
  ['occurred_at', 1],
  ['previous_record_id', 2],
  ['evidence', 1],
  ['evidence_hash', 1],
  ['record_hash', 3],
  ['is_latest', 3],
] as const)(
  'the check of consent records names the record in which one byte of %s was changed',
  async (column, number) => {
    const [row] = await query<{ value: string | number | null }>(
      `select ${column} as value from consent_records where number = ${number} and user_id = '${user}'`,
    )
    const value = row?.value ?? null
    const other =
      typeof value === 'number' ? (column === 'is_latest' ? 0 : value + 1) : value === null ? 'x' : changeLetter(value)
    const set = (to: unknown) =>
      env.DB.batch([
        env.DB.prepare('pragma defer_foreign_keys = on'),
        env.DB.prepare(`update consent_records set ${column} = ? where number = ? and user_id = ?`).bind(
          to,
          number,
          user,
        ),
      ])
    // A changed id would break a reference, so the test sets the edition to null.
    if (column === 'edition_id') {
      await set(null)
    } else await set(other)
    const [{ id } = { id: '' }] = await query<{ id: string }>(
      `select id from consent_records where number = ${number} and user_id = '${user}'`,
    )
    const { fault } = await verify()
    await set(value)
    expect(fault).toContain(`Record ${id} (${number} of`)
    expect((await verify()).fault).toBeNull()
  },
)

/** Changes the last letter of a text, or a letter inside JSON. */
function changeLetter(text: string): string {
  const at = text.startsWith('{') ? text.length - 3 : text.length - 1
  return text.slice(0, at) + (text[at] === 'b' ? 'c' : 'b') + text.slice(at + 1)
}

it('the check of consent records names a wording that was changed', async () => {
  const set = (text: string) =>
    write(sql`update consent_versions set text = ${text} where consent_id = ${consent} and version = 1`)
  await set('{"en":"Write to us.","da":"Skriv til mig."}')
  expect((await verify()).fault).toBe(`Wording 1 of ${consent} does not have its hash.`)
  await set('{"en":"Write to me.","da":"Skriv til mig."}')
  expect((await verify()).fault).toBeNull()
})

it('the check of consent records names the record after a missing one', async () => {
  const [, second] = await listRecords(user, consent)
  await write(sql`delete from consent_records where user_id = ${user} and number = 1`)
  expect((await verify()).fault).toContain(`Record ${second?.id} (2 of`)
})

it('the check of consent records accepts the chain of an erased person, without the evidence', async () => {
  const shop = await seedBuyer()
  const { id } = await givenConsent(shop.organization)
  await write(sql`delete from consent_records where user_id = ${user}`)
  await answer('give', { user: shop.user, consent: id }, { evidence: { name: 'Zmarkername' } })
  await post(`/v1/user/${shop.user}/erase`, { reason: 'asked' })
  await finishErasures()
  expect(await listRecords(shop.user, id)).toMatchObject([{ evidence: null, status: 'given' }])
  expect(await verify()).toEqual({ records: 1, fault: null })
})
