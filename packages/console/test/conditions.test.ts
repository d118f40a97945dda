import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Group, type Item, readConditions, writeConditions } from '../src/parts/conditions/conditions'

const nullable = new Set(['user.email', 'user.last_seen', 'campaigns.messages[].opened_at'])
const write = (group: Group) => writeConditions(group, (path) => nullable.has(path))

describe('an expression', () => {
  it.for([
    ['stats.order_count >= 2', 'stats.order_count >= 2'],
    ['user.last_seen == null || user.last_seen < now - duration("720h")', null],
    ['has(consents.newsletter) && consents.newsletter.is_current', null],
    ['!(has(consents.newsletter) && consents.newsletter.is_current) && user.is_active', null],
    ['orders.exists(o, o.status == "completed" && o.currency == "dkk" && o.amount_minor >= 100000)', null],
    ['!orders.exists(o, o.edition_id == "edt_b")', null],
    ['purchases.exists(p, p.uses.exists(u, u.location_id == "loc_1"))', null],
    ['"cmp_1" in campaigns.opened && !("cmp_1" in campaigns.clicked)', null],
    ['user.locale in ["da", "se"] && !(user.locale in ["en"])', null],
    ['true', 'true'],
    ['  stats.order_count>=2&&( user.is_active )', 'stats.order_count >= 2 && user.is_active'],
    [
      'campaigns.messages.exists(m, m.opened_at != null && m.opened_at > now - duration("336h"))',
      'campaigns.messages.exists(m, m.opened_at != null && m.opened_at > now - duration("336h"))',
    ],
    [
      '(stats.order_count >= 2 && user.is_active) || !user.is_verified',
      '(stats.order_count >= 2 && user.is_active) || !user.is_verified',
    ],
  ])('that has the form of rows is read and written: %s', ([text, expected]) => {
    const group = readConditions(text ?? '')
    expect(group).not.toBeNull()
    const written = write(group as Group)
    if (expected !== null) expect(written).toBe(expected)
    expect(readConditions(written)).toEqual(group)
  })

  it.for([
    '',
    'stats.order_count >=',
    'stats.order_count + 1 >= 2',
    'size(purchases) >= 3',
    'orders.all(o, o.status != "cancelled")',
    'has(user.metadata.company) && user.metadata.company != ""',
    'orders.exists(o, stats.order_count >= 2)',
    'orders.exists(o, o.created.getDayOfEdition() >= -14)',
    '!(user.email == "a" && user.is_active)',
    "user.email == 'a'",
    '1 == stats.order_count',
    'now > timestamp("2026-01-01T00:00:00Z")',
    `${'('.repeat(5000)}true${')'.repeat(5000)}`,
    'user.email == "\\x41"',
  ])('that has another form is no rows: %s', (text) => {
    expect(readConditions(text)).toBeNull()
  })
})

const text = fc.string({ unit: fc.constantFrom('a', 'Å', '"', '\\', '\n', ' ', '{', '&&', '😀') })
const comparison = fc.oneof(
  fc.record({
    kind: fc.constant('field' as const),
    path: fc.constantFrom('email', 'last_name'),
    operator: fc.constantFrom('is', 'isNot', 'contains', 'startsWith', 'endsWith'),
    value: text,
  }),
  fc.record({
    kind: fc.constant('field' as const),
    path: fc.constantFrom('order_count', 'amount_minor'),
    operator: fc.constantFrom('is', 'isNot', 'atLeast', 'atMost', 'moreThan', 'lessThan'),
    value: fc.integer(),
  }),
  fc.record({
    kind: fc.constant('field' as const),
    path: fc.constantFrom('last_seen', 'created'),
    operator: fc.constantFrom('within', 'longerAgo'),
    value: fc.nat(99_999),
  }),
  fc.record({
    kind: fc.constant('field' as const),
    path: fc.constant('locale'),
    operator: fc.constantFrom('oneOf', 'notOneOf'),
    value: fc.array(text, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant('field' as const),
    path: fc.constantFrom('links', 'opened'),
    operator: fc.constantFrom('includes', 'excludes'),
    value: text,
  }),
  fc.record({
    kind: fc.constant('field' as const),
    path: fc.constant('is_active'),
    operator: fc.constantFrom('isTrue', 'isFalse', 'isEmpty'),
    value: fc.constant(null),
  }),
)
const inList = fc.array(comparison, { maxLength: 3 }).map((items) => ({ kind: 'group', join: 'all', items }))
const row = fc.oneof(
  comparison.map((one) => ({ ...one, path: `user.${one.path}` })),
  fc.record({
    kind: fc.constant('consent' as const),
    key: fc.constantFrom('newsletter', 'terms_2026'),
    isNegated: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('list' as const),
    path: fc.constantFrom('orders', 'campaigns.messages'),
    isNegated: fc.boolean(),
    group: inList,
  }),
)
const group = fc
  .record({
    join: fc.constantFrom('all', 'any'),
    rows: fc.array(row, { minLength: 2, maxLength: 4 }),
    inner: fc.array(row, { minLength: 2, maxLength: 3 }),
  })
  .map(({ join, rows, inner }): Group => {
    const other: Item = { kind: 'group', join: join === 'all' ? 'any' : 'all', items: inner as Item[] }
    return { kind: 'group', join: join, items: [...(rows as Item[]), other] }
  })

describe('rows', () => {
  it('are the same after they were written and read, whatever their values are', () => {
    fc.assert(
      fc.property(group, fc.boolean(), (rows, isNullable) => {
        expect(readConditions(writeConditions(rows, () => isNullable))).toEqual(rows)
      }),
      { numRuns: 300 },
    )
  })
})
