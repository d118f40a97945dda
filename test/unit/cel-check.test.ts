import { describe, expect, it } from 'vitest'
import { checkExpression, context, limits } from '../../src/domain/cel/index.ts'

const findErrors = (source: string) => {
  const checked = checkExpression(source)
  return checked.ok ? [] : checked.errors
}
/** Lists error codes, each with the text that it points at. */
const listErrors = (source: string) =>
  findErrors(source).map(({ code, start, end }) => `${code}: ${source.slice(start, end)}`)

describe('an expression', () => {
  it.each(context.examples.map(({ expression }) => expression))('is accepted from the examples: %s', (source) => {
    expect(findErrors(source)).toEqual([])
  })

  it.each(context.functions.map(({ name, example }) => [name, example]))(
    'is accepted from the description of %s: %s',
    (name, example) => {
      expect(findErrors(example)).toEqual([])
      expect(example).toContain(name)
    },
  )

  it.each([
    ['user.age == 1', 'no_such_key: user.age'],
    ['order.id == ""', 'unknown_variable: order'],
    ['user.first_name > 1', 'no_such_overload: user.first_name > 1'],
    ['user.is_active && user.first_name', 'invalid_logical_operand: user.first_name'],
    ['!(user.locale)', 'invalid_logical_operand: user.locale'],
    ['user.is_active &&', 'unexpected_token: '],
    ['user.is_active ~ true', 'unexpected_character: ~'],
    ['stats.order_count + 1', 'not_boolean: stats.order_count + 1'],
    ['user.email.matches("a.*")', 'function_not_allowed: user.email.matches("a.*")'],
    ['type(user.id) == string', 'function_not_allowed: type(user.id)'],
    ['dyn(1) == 1', 'function_not_allowed: dyn(1)'],
    ['b"x" == b"x"', 'unsupported: b"x"'],
    ['1u == 1u', 'unsupported: 1u'],
    ['{"a": 1}.a == 1', 'unsupported: {"a": 1}'],
    ['orders[0].status == "completed"', 'unsupported: orders[0]'],
    ['user.id in [user.locale]', 'unsupported: user.locale'],
    ['user.id in [1, "a"]', 'heterogeneous_list_element: "a"'],
    ['orders.exists(o, o.amount)', 'no_such_key: o.amount'],
    ['orders.exists(o, o.amount_minor)', 'invalid_predicate: o.amount_minor'],
    ['orders.exists("o", true)', 'invalid_macro_argument: "o"'],
    ['user.exists(o, true)', 'invalid_comprehension_range: user'],
    ['has(user.email)', 'always_there: has(user.email)'],
    ['user.is_active ? 1 : "a"', 'incompatible_ternary_branches: user.is_active ? 1 : "a"'],
    ['9223372036854775808 > 1', 'integer_out_of_range: 9223372036854775808'],
    ['user.id == "\\u0000"', 'invalid_string: "\\u0000"'],
    ['now > timestamp("2026-02-30T00:00:00Z")', 'invalid_timestamp: "2026-02-30T00:00:00Z"'],
    ['now > timestamp("2026-01-01T00:00:00.0001Z")', 'invalid_timestamp: "2026-01-01T00:00:00.0001Z"'],
    ['now > now - duration("30d")', 'invalid_duration: "30d"'],
    ['now > timestamp(user.locale)', 'unsupported: user.locale'],
    ['now.getHours("Europe/Kopenhagen") == 1', 'unknown_time_zone: "Europe/Kopenhagen"'],
    ['now.getHours("+25:00") == 1', 'unknown_time_zone: "+25:00"'],
    ['now.getHours("europe/copenhagen") == 1', 'unknown_time_zone: "europe/copenhagen"'],
    ['now.getHours(user.locale) == 1', 'unsupported: user.locale'],
    ['now.getHours(1) == 1', 'unsupported: 1'],
    ['now.getHours("UTC", "UTC") == 1', 'no_matching_overload: now.getHours("UTC", "UTC")'],
    ['duration("1h").getHours("UTC") == 1', 'no_matching_overload: duration("1h").getHours("UTC")'],
    ['now.getDayOfEdition("UTC") == 1', 'no_matching_overload: now.getDayOfEdition("UTC")'],
    ['user.locale.getDayOfEdition() == 1', 'no_matching_overload: user.locale.getDayOfEdition()'],
    ['purchases.exists(p, p.uses.exists(u, orders.exists(o, true)))', 'limit_exceeded: orders.exists(o, true)'],
    ['purchases.exists(p, p.uses == null)', 'no_such_overload: p.uses == null'],
    ['user.metadata.a + 1 == 2', 'no_such_overload: user.metadata.a + 1'],
    ['user.metadata.a == user.metadata.b', 'unsupported: user.metadata.a == user.metadata.b'],
    ['double(stats.order_count) / double(stats.order_count) > 1.0', 'unsupported: double(stats.order_count)'],
    ['user.frobnicate()', 'unknown_function: user.frobnicate()'],
    ['', 'empty: '],
  ])('is refused with the wrong part: %s', (source, problem) => {
    expect(listErrors(source)).toEqual([problem])
  })

  it('gets an error with line and column for each wrong operand, also after an emoji', () => {
    const source = 'user.first_name == "😀" &&\n  (user.nope || stats.order_count) && user.is_active'
    expect(findErrors(source)).toMatchObject([
      { code: 'no_such_key', line: 2, column: 4, start: 30, end: 39 },
      { code: 'invalid_logical_operand', line: 2, column: 17, start: 43, end: 60 },
    ])
  })

  it('is marked when it depends on the time', () => {
    const isTimed = (source: string) => {
      const checked = checkExpression(source)
      return checked.ok && checked.isTimeDependent
    }
    expect(isTimed('user.last_seen < now')).toBe(true)
    expect(isTimed('consents.newsletter.is_current')).toBe(true)
    expect(isTimed('consents.newsletter.status == "given"')).toBe(false)
  })

  it('lists the ids, keys and names that it uses', () => {
    const source =
      'purchases.filter(p, p.product_id != "prd_1").exists(q, q.edition_id in ["edt_1"]) && "cmp_1" in campaigns.opened && ' +
      'purchases.exists(p, "opt_1" in p.option_ids) && has(consents.news) && orders.map(o, o.currency).exists(c, c == "DKK")'
    const checked = checkExpression(source)
    expect(checked.ok && checked.literals.map(({ values_from, field, value }) => [values_from, field, value])).toEqual([
      ['products', 'product_id', 'prd_1'],
      ['editions', 'edition_id', 'edt_1'],
      ['campaigns', 'opened', 'cmp_1'],
      ['options', 'option_ids', 'opt_1'],
      ['consents', 'consent_key', 'news'],
      ['currencies', 'currency', 'DKK'],
    ])
    for (const { start, end, value } of checked.ok ? checked.literals : [])
      expect(source.slice(start, end)).toContain(value)
  })
})

describe('the limits of expressions', () => {
  const list = (length: number) => `stats.order_count in [${Array.from({ length }, (_, index) => index % 10).join()}]`
  const chain = (length: number) => Array.from({ length }, () => 'true').join(' && ')
  const nestNegations = (depth: number) => `${'!'.repeat(depth - 1)}true`

  it.each([
    ['characters', (size: number) => `true //${'x'.repeat(size - 7)}`, limits.characters],
    ['elements of a list', list, limits.list],
    ['nodes', (size: number) => chain(size - 1), limits.nodes[0]],
    ['nodes in lists', (size: number) => `orders.exists(o, ${chain(size - 2)})`, limits.nodes[1]],
    ['consents', (size: number) => Array.from({ length: size }, () => 'has(consents.x)').join(' && '), limits.consents],
    ['levels', nestNegations, limits.depth],
    ['levels of sums', (size: number) => `stats.order_count ${'+ 1 '.repeat(size)}> 1`, 8],
  ])('are exact for %s', (_, make, limit) => {
    expect(findErrors(make(limit))).toEqual([])
    expect(findErrors(make(limit + 1)).map(({ code }) => code)).toEqual(['limit_exceeded'])
  })

  it('allow two lists inside each other, and 40 nodes in the inner condition', () => {
    const nestedLists = (condition: string) => `orders.exists(o, purchases.exists(p, ${condition}))`
    expect(findErrors(nestedLists('p.status == o.status'))).toEqual([])
    for (const third of [
      'campaigns.opened.exists(c, c == p.status)',
      'size(orders) > 1',
      'stats.order_count > 1',
      'p.status in campaigns.opened',
    ])
      expect(listErrors(nestedLists(third))[0]).toMatch(/^limit_exceeded: /)
    // Each condition has four nodes; the variable of the macro and `&&` are two more.
    const conditions = (count: number) => Array.from({ length: count }, () => 'p.id == ""').join(' && ')
    const count = Array.from({ length: 30 }, (_, index) => index + 1).findLast(
      (times) => !findErrors(nestedLists(conditions(times))).some(({ code }) => code === 'limit_exceeded'),
    )
    expect(count).toBe(9)
  })

  it.each([['('], ['!'], ['-'], ['['], ['user.'], ['orders.exists(o, '], ['"\\'], ['true ? '], ['1+']])(
    'refuse 4,000 characters of %s',
    (piece) => {
      expect(findErrors(piece.repeat(4000 / piece.length)).length).toBe(1)
    },
  )
})
