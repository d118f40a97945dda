import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildPredicate, type ExpressionScope } from '../../src/db/cel/index.ts'
import { Database } from '../../src/db/database.ts'
import { checkExpression } from '../../src/domain/cel/index.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { store, createTenant, timezone } from '../support/cel/people.ts'

const people = 60
const tenant = createTenant('one', people, 21)
const { organizationId, editionId } = tenant
const scope = (editions: readonly string[] | null): ExpressionScope => ({
  organizationId,
  editionId,
  timezone,
  editions,
  now: 0,
})

beforeAll(() => store(tenant))

/** Counts the rows that D1 reads to test all people by an expression. */
async function rowsRead(source: string, editions: readonly string[] | null): Promise<number> {
  const checked = checkExpression(source)
  if (!checked.ok) throw new Error(source)
  const meter = newMeter()
  await new Database(env.DB, meter).all(sql`select count(*) as n from users u
    where u.organization_id = ${organizationId} and (${buildPredicate(checked.expression, scope(editions))})`)
  return meter.rows_read
}

/** Counts the rows that the scope of an edition reads beyond that of the organisation. */
const countAddedRows = async (source: string) => (await rowsRead(source, [editionId])) - (await rowsRead(source, null))

describe('the cost of an expression within an edition', () => {
  it('is one lookup for each person, however often the expression uses contact data', async () => {
    const membershipCount = tenant.tables['edition_customers']?.length ?? 0
    // D1 counts entries of the index, and the row of the edition.
    const once = await countAddedRows('user.first_name == user.last_name')
    expect(once).toBeGreaterThan(0)
    expect(once).toBeLessThanOrEqual(3 * membershipCount + 2 * people)
    expect(
      await countAddedRows(Array.from({ length: 40 }, () => 'user.first_name == user.last_name').join('||')),
    ).toBeLessThanOrEqual(once)
    const several = await countAddedRows('user.is_verified || user.last_seen == null || has(user.metadata.tier)')
    expect(several).toBeLessThanOrEqual(once)
    const email = await countAddedRows('user.email == "x" || user.has_email || user.email != null')
    expect(email).toBeLessThanOrEqual(once)
  })

  it('is no higher for data that is the same in every edition', async () => {
    for (const source of ['user.id == "x"', 'has(consents.newsletter)'])
      expect([source, await countAddedRows(source)]).toEqual([source, 0])
  })

  it('is one row for each campaign', async () => {
    const receipts = tenant.tables['campaign_receipts']?.length ?? 0
    for (const list of ['opened', 'messages'])
      expect(await countAddedRows(`size(campaigns.${list}) > 100`)).toBeLessThanOrEqual(receipts)
  })

  it('is at most one row for each order', async () => {
    const orders = tenant.tables['orders']?.length ?? 0
    for (const source of ['stats.order_count > 100', 'size(orders) > 100', 'stats.total_spent_minor > 1000000000'])
      expect([source, (await countAddedRows(source)) <= orders]).toEqual([source, true])
  })
})
