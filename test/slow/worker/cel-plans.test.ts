import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildPredicate, type ExpressionScope } from '../../../src/db/cel/index.ts'
import { checkExpression, context, checkTypes } from '../../../src/domain/cel/index.ts'
import { Expressions } from '../../support/cel/expressions.ts'
import { database } from '../../support/cel/oracle.ts'
import { createRandom } from '../../support/cel/people.ts'

const base = { organizationId: 'org_1', editionId: 'edt_1', timezone: 'Africa/Casablanca', now: 1_780_000_000_000 }
let scope: ExpressionScope = { ...base, editions: null }
const scopes: [string, ExpressionScope][] = [
  ['an organisation', { ...base, editions: null }],
  ['an edition', { ...base, editions: ['edt_1'] }],
  ['some editions', { ...base, editions: ['edt_1', 'edt_2'] }],
]

function predicate(source: string): SQL {
  const checked = checkExpression(source)
  if (!checked.ok) throw new Error(`${source.slice(0, 200)} ${JSON.stringify(checked.errors)}`)
  return buildPredicate(checked.expression, scope)
}

const buildBatch = (source: string) =>
  sql<{ id: string }>`select u.id from users u where u.organization_id = ${scope.organizationId} and u.seq > ${0}
    and u.seq <= ${1000} and ${predicate(source)}`

const explain = async (source: string): Promise<string[]> =>
  (await database().all(sql<{ detail: string }>`explain query plan ${buildBatch(source)}`)).map(({ detail }) => detail)

const typical = [
  ...context.examples.map(({ expression }) => expression),
  '!purchases.exists(p, p.product_id == "prd_1")',
  'purchases.exists(p, p.product_id in ["prd_1", "prd_2"] && p.status == "active")',
  'orders.all(o, o.metadata.a == "x")',
  'size(orders.filter(o, o.created > now - duration("720h"))) > 2',
  'stats.total_spent_minor > 10000 && stats.purchase_count > 1',
  'consents.newsletter.status == "given" && consents.newsletter.expires_at == null',
  'campaigns.opened.exists(c, c == "cmp_1") || "cmp_2" in campaigns.clicked',
  'orders.exists(o, purchases.exists(p, p.created > o.created))',
  'campaigns.messages.exists(m, m.campaign_id == "cmp_1" && m.state == "sent" && m.opened_at == null)',
  'purchases.exists(p, p.uses.exists(u, u.used_at > now && u.location_id == "loc_1"))',
  'size(purchases.filter(p, size(p.uses) > 1)) > 2',
  'user.last_seen.getDayOfEdition() == user.last_seen.getHours(edition.timezone)',
  'campaigns.messages.exists(m, "https://example.com" in m.clicked_links)',
  'campaigns.messages.all(m, m.clicked_links.exists(l, l.startsWith("https")))',
  '"opt" in user.metadata.tags && edition.start_date > now',
]

describe.each(scopes)('the query plan of an expression in %s', (_, one) => {
  beforeAll(() => {
    scope = one
  })

  it.each(typical)('reads the rows of a person by an index: %s', async (source) => {
    const plan = await explain(source)
    const scans = plan.filter(
      (step) =>
        step.startsWith('SCAN') &&
        !/VIRTUAL TABLE|CONSTANT ROW|^SCAN \(|^SCAN (?:u|visible_contact|latest)\b|^SCAN m\d/.test(step),
    )
    expect(scans).toEqual([])
    // A plan may never read all rows of an organisation or an edition for each person.
    expect(plan.filter((step) => /(orders|purchases)_(organization|edition)/.test(step))).toEqual([])
    const tables = {
      o: /orders_of_user/,
      p: /purchases_of_user/,
      t: /purchase_uses_of_purchase/,
      r: /PRIMARY KEY|consent_records_latest/,
    }
    for (const [letter, index] of Object.entries(tables))
      for (const step of plan.filter((line) => new RegExp(`^SEARCH ${letter}\\d+ `).test(line)))
        expect(step).toMatch(index)
  })

  it.each([
    'p.product_name == "Day ticket"',
    '"Day ticket" != p.product_name',
    'p.product_name in ["Day ticket", "Camping"]',
  ])('looks up the products of a literal name once for all people: %s', async (condition) => {
    const plan = await explain(`purchases.exists(p, ${condition})`)
    const at = plan.findIndex((step) => /^SEARCH products .*\(edition_id=\?\)/.test(step))
    expect(plan[at - 1]).toMatch(/^LIST SUBQUERY/)
    expect(plan.filter((step) => step.includes('products'))).toHaveLength(1)
  })

  it('finds the product of each purchase when the name is not a literal, or constants are packed', async () => {
    const many = Array.from({ length: 30 }, (_value, n) => `p.product_name == "Ticket ${n}"`).join(' || ')
    for (const condition of ['p.product_name == p.status', many]) {
      const plan = (await explain(`purchases.exists(p, ${condition})`)).filter((step) => step.includes('products'))
      expect(new Set(plan)).toEqual(new Set(['SEARCH products USING PRIMARY KEY (id=?)']))
    }
  })

  it('finds consents by their key, and the answer by person and consent', async () => {
    const plan = (await explain('consents.newsletter.is_current')).join('\n')
    expect(plan).toContain('consents_by_key (organization_id=? AND <expr>=? AND key=?)')
    expect(plan).toContain('consent_records_latest (user_id=? AND consent_id=?)')
  })
})

describe.each(scopes)('the largest accepted expression in %s', (_, one) => {
  beforeAll(() => {
    scope = one
  })

  const dialect = new SQLiteSyncDialect()
  const wrap = (before: string, inside: string, after: string) => (times: number) =>
    before.repeat(times) + inside + after.repeat(times)
  const joined = (piece: string, joint: string) => (times: number) =>
    Array.from({ length: times }, () => piece).join(joint)
  const around = (make: (times: number) => string, before: string, after: string) => (times: number) =>
    before + make(times) + after
  /** Makes the longest expression of its kind that the checker accepts. */
  function largest(make: (times: number) => string): string {
    let times = 1
    while (checkExpression(make(times + 1)).ok) times++
    return make(times)
  }

  it.each([
    ['consents that may be null', joined('consents.x.expires_at==null', '||')],
    ['current consents', joined('consents.x.is_current', '&&')],
    ['two consents each', joined('consents.x.expires_at==consents.x.given_at', '||')],
    ['macros', joined('orders.exists(o,o.id=="")', '||')],
    ['macros that may fail', joined('!orders.exists(o,o.metadata.a=="")', '||')],
    ['metadata in lists', joined('user.metadata.a in["",""]', '||')],
    ['elements of metadata', joined('!user.metadata.a.exists(x,x=="")', '||')],
    ['texts', joined('user.first_name==""', '||')],
    ['numbers', joined('user.metadata.a>0.5', '&&')],
    ['sums', around(wrap('(', '1', '+stats.order_count)'), '', '==1')],
    ['sums to the right', around(wrap('(stats.order_count+', '1', ')'), '', '==1')],
    ['signs', around(wrap('-', 'stats.order_count', ''), '', '==1')],
    ['negations', wrap('!', 'user.is_active', '')],
    ['choices', wrap('user.is_active?', 'true', ':false')],
    ['choices of what may be null', around(wrap('user.is_active?', 'user.email', ':""'), '(', ')=="x"')],
    ['conditions of choices', wrap('((', 'user.metadata.a', ')?true:false)')],
    ['comparisons', wrap('(', 'user.is_active', '==user.has_email)')],
    ['comparisons with metadata', wrap('(', 'user.is_active', '==user.metadata.a)')],
    ['conversions', wrap('bool(string(', 'user.is_active', '))')],
    ['conversions of numbers', around(wrap('int(double(', 'stats.order_count', '))'), '', '==1')],
    ['conversions of texts', around(wrap('int(string(', 'stats.order_count', '))'), '', '==1')],
    ['parts of times', around(wrap('timestamp((', 'now', ').getHours())'), '', '==now')],
    ['texts joined', around(wrap('(', '""', '+user.first_name)'), '', '==""')],
    ['times', around(wrap('(', 'user.last_seen', '+duration("1s"))'), '', '==now')],
    ['texts searched', around(wrap('string(', '""', '.contains(user.first_name))'), '', '==""')],
    ['memberships in metadata', wrap('(', 'user.is_active', ' in user.metadata.a)')],
    ['memberships in campaigns', wrap('(string(', 'user.is_active', ') in campaigns.opened)')],
    ['times in zones', joined('user.last_seen.getHours("Africa/Casablanca")==1', '||')],
    ['parts of times in zones', around(wrap('timestamp((', 'now', ').getHours("Africa/Casablanca"))'), '', '==now')],
    ['days of the edition', around(wrap('timestamp((', 'now', ').getDayOfEdition())'), '', '==now')],
    ['days of the edition compared', joined('user.last_seen.getDayOfEdition()==1', '||')],
    ['uses', joined('purchases.exists(p,p.uses.exists(u,u.quantity>1))', '||')],
    ['memberships in links', joined('campaigns.messages.exists(m,"" in m.clicked_links)', '||')],
    ['memberships in lists', wrap('(', 'user.is_active', ' in [true])')],
    ['filters', around(wrap('', '', '.filter(o,o.metadata.a=="")'), 'orders', '.exists(o,o.id=="")')],
    ['alternating chains', wrap('(user.is_active&&(user.has_email||', 'user.is_active', '))')],
    [
      'chains in chains',
      wrap(`(${'user.is_active&&'.repeat(3)}(${'user.has_email||'.repeat(3)}`, 'user.is_active', '))'),
    ],
    [
      'sums in chains',
      wrap('(user.is_active&&(user.has_email||', `${wrap('(stats.order_count+', '1', ')')(6)}==1`, '))'),
    ],
    ['sums in macros', around(wrap('(', 'o.amount_minor', '+1)'), 'orders.exists(o,', '==1)')],
    [
      'sums in two macros',
      around(wrap('(', 'o.amount_minor', '+1)'), '!orders.exists(o,!purchases.exists(p,', '==p.price_paid_minor))'),
    ],
    ['sums that are mapped', around(wrap('(', 'o.amount_minor', '+1)'), 'orders.map(o,', ').exists(x,x==1)')],
  ])('stays within the limits of D1: %s', async (__, make) => {
    const source = largest(make)
    expect(await database().all(buildBatch(source))).toEqual([])
    const { sql: text, params } = dialect.sqlToQuery(buildBatch(source))
    expect(text.length).toBeLessThan(90_000)
    expect(params.length).toBeLessThan(60)
  })

  it('stays within the limits of D1 when it is random and deep', async () => {
    const random = createRandom(77)
    const expressions = new Expressions(random)
    const sources: string[] = []
    while (sources.length < 150) {
      const source = expressions.condition(5 + Math.floor(random() * 3))
      if (source.length > 800 && checkExpression(source).ok) sources.push(source)
    }
    for (const source of sources) expect(await database().all(buildBatch(source))).toEqual([])
  })
})

describe('an expression whose statement would be too long for D1', () => {
  it('is refused', () => {
    const consents = Array.from({ length: 9 }, () => 'consents.x.expires_at==consents.x.given_at')
    const stats = Array.from({ length: 29 }, () => 'stats.first_order_at==stats.last_order_at')
    const checked = checkTypes(`(${[...consents, ...stats].join('||')}?user.email:null)in user.metadata.a`)
    if (!checked.ok) throw new Error(JSON.stringify(checked.errors))
    const build = () => buildPredicate(checked.expression, { ...base, editionId: null, editions: ['edt_1', 'edt_2'] })
    expect(build).toThrow('too complex')
  })
})
