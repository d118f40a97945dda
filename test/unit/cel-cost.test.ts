import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkExpression,
  costError,
  type Expression,
  hasLists,
  hasNestedLists,
  type ListSizes,
  meanWork,
  noLists,
  peopleAStatement,
} from '../../src/domain/cel/index.ts'
import { Expressions } from '../support/cel-expressions.ts'
import { randomOf } from '../support/cel-people.ts'

const checked = (source: string): Expression => {
  const result = checkExpression(source)
  if (!result.ok) throw new Error(`${source}: ${result.errors[0]?.message}`)
  return result.expression
}

const errorOf = (source: string, sizes: Partial<ListSizes>) =>
  costError(checked(source), source, { ...noLists, ...sizes })

const written = (count: number) => `[${Array.from({ length: count }, (_, index) => index).join()}]`

describe('nested lists', () => {
  it.each<[string, Partial<ListSizes>]>([
    ['purchases.exists(p, purchases.exists(q, q.product_id == p.variant_id))', { purchases: 317 }],
    ['purchases.exists(p, orders.exists(o, o.created == p.created))', { purchases: 5000, orders: 20 }],
    ['orders.all(o, !purchases.exists_one(p, o.created == p.created))', { purchases: 5000, orders: 20 }],
    ['purchases.exists(p, size(orders) > 2 && p.status == "active")', { purchases: 5000, orders: 20 }],
    [
      'purchases.exists(p, p.price_paid_minor > size(orders.filter(o, o.amount_minor > 1)))',
      { purchases: 5000, orders: 20 },
    ],
    ['purchases.exists(p, p.price_paid_minor > stats.total_spent_minor)', { purchases: 5000, orders: 20 }],
    ['purchases.exists(p, p.price_paid_minor > stats.purchase_count)', { purchases: 317 }],
    ['stats.order_count in purchases.map(p, p.price_paid_minor)', { purchases: 5000, orders: 20 }],
    ['purchases.exists(p, "cmp_1" in campaigns.opened && p.status == "used")', { purchases: 5000, campaigns: 20 }],
    ['purchases.exists(p, p.option_ids.exists(x, x == "opt"))', { purchases: 5000, options: 20 }],
    ['purchases.exists(p, "opt" in p.option_ids)', { purchases: 5000, options: 20 }],
    ['purchases.exists(p, p.product_id in orders.map(o, o.id))', { purchases: 5000, orders: 20 }],
    ['purchases.filter(p, orders.exists(o, o.created == p.created)).size() > 2', { purchases: 5000, orders: 20 }],
    ['purchases.map(p, size(orders)).exists(n, n > 2)', { purchases: 5000, orders: 10 }],
    ['orders.exists(o, o.metadata.tags.exists(t, t == "a"))', { orders: 2000, order_metadata: 50 }],
    ['orders.exists(o, size(o.metadata.tags) > 2)', { orders: 2000, order_metadata: 50 }],
    ['user.metadata.a.exists(x, user.metadata.b.exists(y, y == "a"))', { user_metadata: 317 }],
    ['user.metadata.a.exists(x, x.exists(y, y == "a"))', { user_metadata: 317 }],
    [`${written(20)}.exists(n, purchases.exists(p, p.price_paid_minor == n))`, { purchases: 5000 }],
    [`${written(317)}.exists(n, ${written(317)}.exists(m, n == m + 1))`, {}],
    ['purchases.exists(p, user.metadata.tier in ["a", "b", "c", "d"] && p.status == "used")', { purchases: 25_000 }],
    ['orders.exists(o, purchases.exists(p, o.id in p.option_ids))', { orders: 10, purchases: 1000, options: 10 }],
    [
      'orders.exists(o, purchases.exists(p, p.price_paid_minor > stats.order_count + o.amount_minor))',
      { orders: 20, purchases: 250 },
    ],
  ])('%s is refused where they are too long, and accepted where they are short', (source, sizes) => {
    const error = errorOf(source, sizes)
    expect(error).toMatchObject({ code: 'cost_exceeded', line: 1 })
    expect(error?.message).toContain('100,000')
    const halved = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, Math.floor(size / 4)]))
    if (Object.keys(sizes).length) expect(errorOf(source, halved)).toBe(null)
  })

  it('are accepted up to the last combination below the limit', () => {
    const source = 'purchases.exists(p, orders.exists(o, o.created == p.created))'
    expect(errorOf(source, { purchases: 33_333, orders: 3 })).toBe(null)
    expect(errorOf(source, { purchases: 100_000, orders: 1 })?.code).toBe('cost_exceeded')
    expect(errorOf(source, { purchases: 100_000, orders: 0 })?.code).toBe('cost_exceeded')
  })

  it('are refused with their place, their lengths and a remedy', () => {
    const source = 'user.is_active &&\n  orders.exists(o, purchases.exists(p, p.created == o.created))'
    const error = errorOf(source, { purchases: 5000, orders: 100 })
    expect(error).toMatchObject({ line: 2, column: 20 })
    expect(source.slice(error?.start, error?.end)).toBe('purchases.exists(p, p.created == o.created)')
    expect(error?.message).toBe(
      'For one person this looks at up to 500,000 combinations (100 orders × 5,000 purchases). They have to stay below 100,000: ask for one list at a time, and join the answers with && or ||.',
    )
  })

  it('are summed up, and count more for a long condition', () => {
    const once = 'orders.exists(o, purchases.exists(p, p.created == o.created))'
    const sizes = { purchases: 5000, orders: 12 }
    expect(errorOf(once, sizes)).toBe(null)
    expect(errorOf(`${once} || ${once}`, sizes)?.message).toContain('that makes 120,000')
    const long = Array.from({ length: 3 }, (_, n) => `o.metadata.a${n} == p.product_id`).join(' || ')
    expect(errorOf(`orders.exists(o, purchases.exists(p, ${long}))`, sizes)?.message).toContain('each counted')
  })

  it('count the elements of a mapped value at each use', () => {
    const uses = (count: number) => Array.from({ length: count }, (_, n) => `x == ${n}`).join(' || ')
    const source = (count: number) =>
      `purchases.map(p, p.price_paid_minor + stats.order_count).exists(x, ${uses(count)})`
    expect(errorOf(source(1), { purchases: 1000, orders: 10 })).toBe(null)
    expect(errorOf(source(10), { purchases: 1000, orders: 10 })?.code).toBe('cost_exceeded')
  })

  it('are accepted where a macro reuses the variable of a map', () => {
    expect(errorOf('[1, 2].map(x, x + 1).exists(x, x > 2)', {})).toBe(null)
  })
})

describe('expressions without nested lists', () => {
  const huge = Object.fromEntries(Object.keys(noLists).map((name) => [name, 10_000_000])) as unknown as ListSizes

  it.each([
    'user.is_active',
    'stats.order_count > 2 && stats.purchase_count > 3',
    'purchases.exists(p, p.product_name == "x") && !orders.exists(o, o.status == "cancelled")',
    'purchases.filter(p, p.status == "used").map(p, p.product_name).exists(n, n == "x")',
    'size(purchases) > 2 && "a" in user.metadata.tags && "cmp" in campaigns.opened',
    'purchases.exists(p, p.product_id in ["a", "b"] && now > p.created)',
    'user.metadata.tier in ["a", "b"]',
    'orders.exists(o, consents.a.is_current && has(consents.b) && user.email == o.id)',
  ])('%s is never refused', (source) => {
    expect(hasNestedLists(checked(source))).toBe(false)
    expect(costError(checked(source), source, huge)).toBe(null)
  })

  it('have bounded conditions for each element, for any data', () => {
    const conditions = (count: number) =>
      Array.from({ length: count }, (_, n) => `user.metadata.a${n} == p.status`).join(' || ')
    expect(checkExpression(`purchases.exists(p, ${conditions(10)})`).ok).toBe(true)
    const result = checkExpression(`user.is_active && purchases.exists(p, ${conditions(12)})`)
    expect(result.ok ? [] : result.errors).toMatchObject([{ code: 'limit_exceeded', column: 19 }])
  })
})

describe('random expressions', () => {
  const random = randomOf(2024)
  const sources: string[] = []
  for (let tries = 0; tries < 4000 && sources.length < 400; tries++) {
    const source = new Expressions(random).condition(2 + Math.floor(random() * 5))
    const result = checkExpression(source)
    if (result.ok && hasLists(result.expression)) sources.push(source)
  }
  const length = fc.oneof(fc.nat(10), fc.nat(100_000))
  const sizes = fc.record({
    orders: length,
    purchases: length,
    campaigns: length,
    options: length,
    user_metadata: length,
    order_metadata: length,
  })

  it('that are refused are also refused for longer lists', () => {
    expect(sources.filter((source) => hasNestedLists(checked(source))).length).toBeGreaterThan(20)
    let refusals = 0
    fc.assert(
      fc.property(fc.constantFrom(...sources), sizes, sizes, (source, some, more) => {
        const expression = checked(source)
        const longer = Object.fromEntries(
          Object.entries(some).map(([name, size]) => [name, size + more[name as keyof ListSizes]]),
        ) as unknown as ListSizes
        const error = costError(expression, source, some)
        if (error === null) return
        refusals++
        expect(hasNestedLists(expression)).toBe(true)
        expect(error.end).toBeGreaterThan(error.start)
        expect(costError(expression, source, longer)).not.toBe(null)
        const means = { orders: some.orders, purchases: some.purchases }
        const work = meanWork(expression, some, means)
        expect(meanWork(expression, longer, means)).toBeGreaterThanOrEqual(work)
      }),
      { numRuns: 2000, seed: 7 },
    )
    expect(refusals).toBeGreaterThan(20)
  })

  it('without nested lists are accepted for lists of any length', () => {
    const flat = sources.filter((source) => !hasNestedLists(checked(source)))
    expect(flat.length).toBeGreaterThan(20)
    fc.assert(
      fc.property(fc.constantFrom(...flat), sizes, (source, some) => {
        expect(costError(checked(source), source, some)).toBe(null)
      }),
      { numRuns: 1000, seed: 7 },
    )
  })
})

describe('the people that one statement reads', () => {
  it('are fewer for an expensive expression, and at least one', () => {
    const means = { orders: 2, purchases: 4 }
    const sizes = { ...noLists, orders: 20, purchases: 5000 }
    const people = [
      'user.is_active',
      'stats.order_count > 1',
      'orders.exists(o, purchases.exists(p, p.created == o.created))',
      Array.from({ length: 25 }, (_, n) => `purchases.exists(p, p.product_name == "${n}")`).join(' || '),
    ].map((source) => peopleAStatement(meanWork(checked(source), sizes, means)))
    expect(people[0]).toBe(20_000)
    expect(people[1]).toBeLessThan(20_000)
    expect(people[3]).toBeLessThan(1000)
    expect(peopleAStatement(1e12)).toBe(100)
  })
})
