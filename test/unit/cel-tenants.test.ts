import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildPredicate, type ExpressionScope } from '../../src/db/cel/index.ts'
import { checkExpression, checkTypes } from '../../src/domain/cel/index.ts'
import { buildBindings } from '../support/cel/bindings.ts'
import { database, findWrongResults, judge } from '../support/cel/oracle.ts'
import { metadataKeys, now, store, createTenant, timezone } from '../support/cel/people.ts'

const mine = createTenant('one', 20, 8)
const theirs = createTenant('two', 20, 9)
const scope = { organizationId: mine.organizationId, editionId: mine.editionId, timezone, editions: null, now }
const people = buildBindings(mine, scope)
beforeAll(async () => {
  await store(mine)
  await store(theirs)
})

/** Finds people by the predicate alone, without the condition about the organisation that callers add. */
async function findMembers(source: string, inside: ExpressionScope = scope): Promise<string[]> {
  const checked = checkExpression(source)
  if (!checked.ok) throw new Error(`${source} ${JSON.stringify(checked.errors)}`)
  const rows = await database().all(
    sql<{ id: string }>`select u.id from users u where ${buildPredicate(checked.expression, inside)}`,
  )
  return rows.map(({ id }) => id)
}

describe('rows of another organisation', () => {
  it.each([
    'orders.exists(o, true)',
    'size(orders) > 0',
    'purchases.exists(p, p.product_name != "")',
    'has(consents.newsletter) || "sms-marketing" in consents',
    'consents.newsletter.status != ""',
    'campaigns.received.exists(c, true) || size(campaigns.opened) > 0 || size(campaigns.clicked) > 0',
    'campaigns.messages.exists(m, size(m.clicked_links) > 0 || m.opened_at != null)',
    'purchases.exists(p, p.uses.exists(u, u.quantity > 0))',
    'stats.order_count > 0 || stats.total_spent_minor > 0 || stats.purchase_count > 0 || stats.last_order_at != null',
    '!orders.all(o, false)',
    'orders.map(o, o.id).exists(i, i != "")',
    'orders.filter(o, user.metadata.a == "x" || true).size() > 0',
  ])('are never counted: %s', async (source) => {
    const members = await findMembers(source)
    expect(members.filter((id) => id.startsWith('usr_one'))).not.toEqual([])
    expect(members.filter((id) => id.startsWith('usr_two'))).toEqual([])
    for (const editions of [[mine.editionId], [theirs.editionId, mine.editionId]]) {
      const some = await findMembers(source, { ...scope, editions })
      expect(some.filter((id) => id.startsWith('usr_one'))).not.toEqual([])
      expect(some.filter((id) => id.startsWith('usr_two'))).toEqual([])
    }
  })

  it.each([
    'orders.exists(o, o.edition_id == "edt_two_1")',
    'purchases.exists(p, p.product_id in ["prd_two_0", "prd_two_1", "prd_two_2", "prd_two_3"])',
    'campaigns.received.exists(c, c in ["cmp_two_0", "cmp_two_1", "cmp_two_2"])',
    '"cmp_two_0" in campaigns.opened',
    'campaigns.messages.exists(m, m.campaign_id == "cmp_two_0")',
  ])('are not found by their ids: %s', async (source) => {
    expect(await findMembers(source)).toEqual([])
  })

  it('cannot be reached through an edition of this organisation', async () => {
    const checked = checkExpression('edition.id == "edt_two_1" || edition.end_date != null')
    if (!checked.ok) throw new Error('not checked')
    const predicate = buildPredicate(checked.expression, { ...scope, editionId: theirs.editionId })
    expect(await database().all(sql`select u.id from users u where ${predicate}`)).toEqual([])
  })
})

describe('a hostile text in an expression', () => {
  const texts = [
    "' or 1=1 --",
    "'; drop table users; --",
    '") or 1=1 --',
    '/* */ union select 1',
    '?1',
    '$."a"',
    "org_two' or '1'='1",
    '\\',
    '\u202e',
  ]
  const literal = (text: string) => JSON.stringify(text)

  it.each(texts)('is compared as a value: %s', async (text) => {
    const sources = [
      `user.first_name == ${literal(text)}`,
      `user.id in [${literal(text)}]`,
      `user.last_name.endsWith(${literal(text)})`,
      `has(consents.x) || ${literal(text)} in consents`,
      `${literal(text)} in user.metadata`,
      `user.metadata[${literal(text)}] == "gold"`,
      `orders.exists(o, o.metadata[${literal(text)}] == ${literal(text)})`,
    ]
    for (const source of sources) expect([source, await findMembers(source)]).toEqual([source, []])
    expect(await findMembers(`user.first_name + ${literal(text)} == user.first_name + ${literal(text)}`)).toHaveLength(
      40,
    )
  })

  it.each(metadataKeys)('is found as a key of metadata: %s', async (key) => {
    const verdict = judge(`${literal(key)} in user.metadata`, people)
    expect(verdict.truths).toContain(true)
    expect(await findWrongResults([verdict], scope)).toEqual([])
  })

  it('is sorted by code points', async () => {
    // The reference evaluator sorts by UTF-16 units.
    const source = '"\\U0001F600" > "\\uFF21" && "B" < "a" && "Z" < "Å"'
    expect(await findWrongResults([{ source, truths: people.map(() => true) }], scope)).toEqual([])
  })

  it('is never part of the statement', () => {
    const checked = checkTypes(
      'user.first_name == "needle" && user.metadata.needle == "needle" && has(consents.needle)',
    )
    if (!checked.ok) throw new Error('not checked')
    const { queryChunks } = buildPredicate(checked.expression, scope)
    const pieces: string[] = []
    const visit = (chunk: unknown): void => {
      if (Array.isArray(chunk)) chunk.forEach(visit)
      else if (typeof chunk === 'object' && chunk !== null && 'queryChunks' in chunk) visit(chunk.queryChunks)
      else if (typeof chunk === 'object' && chunk !== null && 'value' in chunk) pieces.push(String(chunk.value))
    }
    visit(queryChunks)
    expect(pieces.join('')).toContain('first_name')
    expect(pieces.join('')).not.toContain('needle')
  })
})
