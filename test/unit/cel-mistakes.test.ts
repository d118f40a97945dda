import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { expressionFields } from '../../src/domain/error-guide/fields.ts'
import { checkExpression } from '../../src/domain/cel/index.ts'

/** An expression, and each of its errors: the text that it points at, and what it says. */
type Row = readonly [source: string, ...errors: (readonly [pointed: string, message: string])[]]

/** What cannot be read. */
const syntax: readonly Row[] = [
  ['user.email = "a"', ['=', '`=` does not compare: use `==`.']],
  ['user.is_active AND user.is_verified', ['AND', 'There is no `AND`: use `&&`.']],
  ['user.is_active or user.is_verified', ['or', 'There is no `or`: use `||`.']],
  ['NOT user.is_active', ['NOT', 'There is no `NOT`: use `!`.']],
  [
    'user.is_active and not user.is_verified',
    ['and', 'There is no `and`: use `&&`.'],
    ['not', 'There is no `not`: use `!`.'],
  ],
  ['user.email <> "b"', ['<>', 'There is no `<>`: use `!=`.']],
  ['user.email is null', ['is null', 'There is no `is null`: use `== null`.']],
  ['user.email IS NOT NULL', ['IS NOT NULL', 'There is no `is not null`: use `!= null`.']],
  ['user.is_active is true', ['is true', 'There is no `is true`: use `== true`.']],
  ["user.email == 'x", ["'x", "The text that begins here has no end: a `'` is missing."]],
  ['user.email == "x', ['"x', 'The text that begins here has no end: a `"` is missing.']],
  ['user.email LIKE "%@x.dk"', ['LIKE', 'There is no `LIKE`: use `.endsWith("@x.dk")`.']],
  ['user.email LIKE "x%"', ['LIKE', 'There is no `LIKE`: use `.startsWith("x")`.']],
  ['user.email like "%x%"', ['like', 'There is no `like`: use `.contains("x")`.']],
  ['user.email NOT LIKE "x%"', ['NOT LIKE', 'There is no `not like`: put `!` before and use `.startsWith("x")`.']],
  ['user.email contains "x"', ['contains', 'A function of a text stands after a point: use `.contains("x")`.']],
  ['user.email starts with "x"', ['starts with', 'A function of a text stands after a point: use `.startsWith("x")`.']],
  ['user.email endsWith "x"', ['endsWith', 'A function of a text stands after a point: use `.endsWith("x")`.']],
  ['user.locale not in ["da"]', ['not in', 'There is no `not in`: write `!(value in list)`.']],
  ['user.locale IN ["da"]', ['IN', 'There is no `IN`: use `in`.']],
  ['user.locale in ("da", "sv")', ['("da", "sv")', 'A list stands in `[` and `]`, not in `(` and `)`.']],
  ['(user.is_active', ['(', 'This `(` is not closed: a `)` is missing.']],
  ['user.is_active)', [')', 'This `)` closes nothing.']],
  ['user.locale in ["da"', ['[', 'This `[` is not closed: a `]` is missing.']],
  ['size(orders]', [']', 'The `(` before is closed with `)`, not with `]`.']],
  ['user.is_active & user.is_verified', ['&', 'There is no `&`: use `&&`.']],
  ['user.is_active | user.is_verified', ['|', 'There is no `|`: use `||`.']],
  ['user.email === "b"', ['===', 'There is no `===`: use `==`.']],
  ['user.email !== "b"', ['!==', 'There is no `!==`: use `!=`.']],
  ['user.email := "b"', [':=', 'There is no `:=`: use `==`.']],
  ['user.email eq "x"', ['eq', 'There is no `eq`: use `==`.']],
  ['stats.order_count => 2', ['=>', 'There is no `=>`: use `>=`.']],
  ['stats.order_count =< 2', ['=<', 'There is no `=<`: use `<=`.']],
  ['stats.order_count ≥ 1', ['≥', 'There is no `≥`: use `>=`.']],
  [
    'stats.order_count between 1 and 2',
    ['between', 'There is no `between`: use `>=` and `<=`, with `&&` between them.'],
  ],
  ['user.email == “x”', ['“x”', `These quotes are bent: write straight ones, \`"\` or \`'\`.`]],
  ['user.email == `b`', ['`b`', `Texts stand in \`"\` or in \`'\`, and names in no quotes.`]],
  ['user.is_active;', [';', 'An expression has no `;`: take it out.']],
  ['user.is_active # x', ['#', 'There is no `#`: a comment begins with `//`.']],
  ['user.is_active /* x */', ['/*', 'There is no `/*`: a comment begins with `//` and ends with its line.']],
  ['stats.order_count > 1_000', ['1_000', 'Numbers have no `_`: write `1000`.']],
  ['stats.order_count > 1,000', ['1,000', 'Numbers have no comma: write `1000`.']],
  ['user.last_seen < now - 30d', ['30d', 'A length of time is written `duration("720h")`.']],
  ['user.last_seen < now - 30 days', ['30 days', 'A length of time is written `duration("720h")`.']],
  ['user.last_seen < now - 12h', ['12h', 'A length of time is written `duration("12h")`.']],
  ['stats.total_spent_minor > $100', ['$', '`$` is no part of a name: take it out.']],
  ['if user.is_active then true else false', ['if', 'There is no `if`: a choice is written `condition ? yes : no`.']],
  ['user.is_active ? true', ['', 'This choice has no `:`. It is written `condition ? yes : no`.']],
  ['user.email ?? "x"', ['??', 'There is no `??`: write `value != null ? value : other`.']],
  ['user.email == "x\ny"', ['"x', 'The text that begins here has no end: a `"` is missing.']],
  ['user.email == "\\d"', ['\\d', '`\\d` means nothing in a text: a backslash is written `\\\\`.']],
  ["user.last_name == 'O'Brien'", ['Brien', "The text ends before this: a quote inside of a text is written `\\'`."]],
  ['user.is_active &&', ['', 'A value is missing after `&&`.']],
  ['&& user.is_active', ['&&', 'A value is missing before `&&`.']],
  ['user.email == == "b"', ['==', 'A value is missing between `==` and `==`.']],
  ['user.is_active user.is_verified', ['user', 'An operator is missing between `is_active` and `user`.']],
  ['user..email', ['.', 'A name is missing between `.` and `.`.']],
  ['user.', ['', 'A name is missing after the `.`.']],
  ['.email', ['.', 'A value is missing before the `.`.']],
  ['user.metadata.x > .5', ['.', 'A number begins with a digit: write `0.5`.']],
  ['stats.order_count > 1.', ['', 'A number ends with a digit: write `1.0`.']],
  ['stats.order_count == 0x', ['0x', '`0x` is no number: write `1000` or `0.5`.']],
  [
    'orders.exists(o => o.status == "completed")',
    ['=>', 'There is no `=>`: a comma stands between the variable and its condition.'],
  ],
  [
    'orders.exists("o", true)',
    ['"o"', '`"o"` is no name here: `exists` and its like begin with a variable, and `has` takes a field.'],
  ],
  ['return true', ['return', '`return` is a reserved word and no name here.']],
  ['true ~ false', ['~', '`~` cannot stand here.']],
  ['user.is_active && true', [' ', 'This space is no plain one: type it anew.']],
  [
    'user.locale = "da" AND stats.order_count <> 1 OR NOT user.is_active',
    ['=', '`=` does not compare: use `==`.'],
    ['AND', 'There is no `AND`: use `&&`.'],
    ['<>', 'There is no `<>`: use `!=`.'],
    ['OR', 'There is no `OR`: use `||`.'],
    ['NOT', 'There is no `NOT`: use `!`.'],
  ],
]

/** What can be read, and means nothing. */
const meaning: readonly Row[] = [
  ['user.emial == "a"', ['user.emial', 'The user has no field `emial`. Did you mean `email`?']],
  [
    'user.age > 3',
    [
      'user.age',
      'The user has no field `age`. Known are id, email, phone_number, first_name, last_name, locale, is_verified, is_active, date_joined, last_seen, has_email, has_phone, metadata.',
    ],
  ],
  ['size(order) > 1', ['order', 'There is no variable `order`. Did you mean `orders`?']],
  ['email == "x"', ['email', 'There is no variable `email`. Did you mean `user.email`?']],
  ['user.is_active == True', ['True', 'There is no variable `True`. Write `true`.']],
  ['user.email == None', ['None', 'There is no variable `None`. Write `null`.']],
  ['user.locale == da', ['da', 'There is no variable `da`. A text stands in quotes: `"da"`.']],
  ['today > user.last_seen', ['today', 'There is no variable `today`. Did you mean `now`?']],
  ['orders.exists(o, o.amount > 1)', ['o.amount', 'An order has no field `amount`. Did you mean `amount_minor`?']],
  [
    'purchases.exists(p, p.price > 100)',
    ['p.price', 'A purchase has no field `price`. Did you mean `price_paid_minor`?'],
  ],
  ['stats.spent > 1', ['stats.spent', 'The stats have no field `spent`. Did you mean `total_spent_minor`?']],
  ['campaigns.sent == 1', ['campaigns.sent', 'The campaigns have no field `sent`. Did you mean `received`?']],
  [
    'consents.newsletter.given',
    ['consents.newsletter.given', 'A consent has no field `given`. Did you mean `is_current`?'],
  ],
  ['NOT(user.is_active)', ['NOT(user.is_active)', 'There is no function `not`: use `!`.']],
  [
    'AND(user.is_active, true)',
    ['AND(user.is_active, true)', 'There is no function `and`: put `&&` between the conditions.'],
  ],
  [
    'IF(user.is_active, 1, 2) == 1',
    ['IF(user.is_active, 1, 2)', 'There is no function `if`: a choice is written `condition ? yes : no`.'],
  ],
  ['count(orders) > 2', ['count(orders)', 'There is no function `count`. Did you mean `size`?']],
  ['orders.length > 2', ['orders.length', 'A list of orders has no fields. Write `size(orders)`.']],
  [
    'orders.status == "completed"',
    ['orders.status', 'A list of orders has no fields. Ask its elements: `orders.exists(o, o.status == …)`.'],
  ],
  ['orders.exsits(o, true)', ['orders.exsits(o, true)', 'There is no function `exsits`. Did you mean `exists`?']],
  ['orders.any(o, true)', ['orders.any(o, true)', 'There is no function `any`. Did you mean `exists`?']],
  [
    'orders.map(o, o.amount_minor).sum() > 1',
    [
      'orders.map(o, o.amount_minor).sum()',
      'There is no function `sum`. Lists are not added up: `stats` has `order_count` and `total_spent_minor`.',
    ],
  ],
  [
    'contains(user.email, "x")',
    ['contains(user.email, "x")', '`contains` stands after a point: write `user.email.contains("x")`.'],
  ],
  ['user.metadata.has()', ['user.metadata.has()', '`has` stands before its value: write `has(user.metadata)`.']],
  ['user.email.has("x")', ['user.email.has("x")', '`has` takes a field. Did you mean `contains`?']],
  [
    'user.email.toLowerCase() == "x"',
    ['user.email.toLowerCase()', 'There is no function `toLowerCase`. Did you mean `lowerAscii`?'],
  ],
  ['user.email.contains', ['user.email.contains', '`contains` is a function: write `.contains(…)`.']],
  ['user.email.length > 3', ['user.email.length', 'A text has no fields. Write `size(user.email)`.']],
  ['user.email.frobnicate()', ['user.email.frobnicate()', 'There is no function `frobnicate`.']],
  ['user.email.contains()', ['user.email.contains()', '`contains` takes one text in its parentheses.']],
  ['user.email.contains(1)', ['1', '`contains` needs a text, and this is a whole number.']],
  ['now() > user.last_seen', ['now()', '`now` is no function: write `now`.']],
  ['user.last_seen < today()', ['today()', 'There is no function `today`: `now` is the time of the calculation.']],
  ['getHours(now) == 3', ['getHours(now)', '`getHours` stands after a point: write `now.getHours()`.']],
  ['date("2026-01-01") < now', ['date("2026-01-01")', 'There is no function `date`. Did you mean `timestamp`?']],
  [
    'timestamp("2026-01-01") < now',
    ['"2026-01-01"', 'This timestamp cannot be read. Write it as 2026-01-01T00:00:00Z.'],
  ],
  ['duration("30d") > duration("1h")', ['"30d"', 'This duration cannot be read. Days are written as hours: 720h.']],
  ['orders == 3', ['orders == 3', 'A list of orders is compared with a whole number. Write `size(orders)`.']],
  ['size(orders) > "2"', ['size(orders) > "2"', 'A whole number is compared with a text. Write `2`.']],
  ['user.first_name == 3', ['user.first_name == 3', 'A text is compared with a whole number. Write `"3"`.']],
  ['stats.order_count == "many"', ['stats.order_count == "many"', 'A whole number is compared with a text.']],
  ['user.is_active == "true"', ['user.is_active == "true"', 'True or false is compared with a text. Write `true`.']],
  ['user.is_active == 1', ['user.is_active == 1', 'True or false is compared with a whole number. Write `true`.']],
  [
    'user.last_seen > "2026-01-01"',
    ['user.last_seen > "2026-01-01"', 'A time is compared with a text. Write `timestamp("2026-01-01T00:00:00Z")`.'],
  ],
  [
    'user.last_seen > 30',
    ['user.last_seen > 30', 'A time is compared with a whole number. Write `timestamp("2026-06-01T08:00:00Z")`.'],
  ],
  [
    'user.last_seen < duration("30h")',
    ['user.last_seen < duration("30h")', 'A time is compared with a length of time. Write `now - duration("30h")`.'],
  ],
  [
    'user.last_seen < now - 30',
    [
      'now - 30',
      'A time and a whole number cannot be subtracted from each other. A length of time is written `duration("72h")`.',
    ],
  ],
  [
    'stats.total_spent_minor / 2.0 > 1.0',
    [
      'stats.total_spent_minor / 2.0',
      'A whole number and a decimal number cannot be divided. Write `double(stats.total_spent_minor)`.',
    ],
  ],
  [
    'user.first_name + 1 == "x"',
    ['user.first_name + 1', 'A text and a whole number cannot be added. Write `string(1)`.'],
  ],
  [
    'user.metadata.a + 1 == 2',
    [
      'user.metadata.a + 1',
      'A value of metadata and a whole number cannot be added. Numbers of metadata are doubles: write 1.0 instead of 1, or int(…).',
    ],
  ],
  ['null < 1', ['null < 1', 'null has no order: only `==` and `!=` go with it.']],
  [
    'consents.newsletter == true',
    [
      'consents.newsletter == true',
      'A consent is compared with true or false. Write `consents.newsletter.is_current`.',
    ],
  ],
  [
    'consents.newsletter == "given"',
    ['consents.newsletter == "given"', 'A consent is compared with a text. Write `consents.newsletter.status`.'],
  ],
  ['user == "usr_1"', ['user == "usr_1"', 'The user is compared with a text. Name a field, such as `user.id`.']],
  [
    '"x" in user.email',
    ['"x" in user.email', '`in` needs a list, and this is a text. Write `user.email.contains("x")`.'],
  ],
  ['3 in campaigns.opened', ['3 in campaigns.opened', 'A whole number is looked for in a list of texts. Write `"3"`.']],
  [
    '"given" in orders',
    ['"given" in orders', 'A text is looked for in a list of orders. Ask its elements with `exists`.'],
  ],
  [
    'user.locale in [1]',
    ['user.locale in [1]', 'A text is looked for in a list of whole numbers. Write its elements in quotes.'],
  ],
  ['user.email && true', ['user.email', 'This has to be true or false, and is a text. Write `user.email != null`.']],
  [
    'user.first_name || true',
    ['user.first_name', 'This has to be true or false, and is a text. Write `user.first_name != ""`.'],
  ],
  ['orders.exists(o, 1)', ['1', 'This has to be true or false, and is a whole number.']],
  [
    'stats.order_count',
    [
      'stats.order_count',
      'A segment needs an expression that is true or false, and this is a whole number. Write `stats.order_count > 0`.',
    ],
  ],
  [
    'orders',
    [
      'orders',
      'A segment needs an expression that is true or false, and this is a list of orders. Write `size(orders) > 0`.',
    ],
  ],
  [
    'consents.newsletter',
    [
      'consents.newsletter',
      'A segment needs an expression that is true or false, and this is a consent. Write `consents.newsletter.is_current`.',
    ],
  ],
  ['int(orders) > 1', ['int(orders)', '`int` cannot be made of a list of orders.']],
  ['size(1) == 1', ['size(1)', '`size` counts a list or a text, and this is a whole number.']],
  ['user.email.getHours() == 1', ['user.email.getHours()', '`getHours` is asked of a time, and this is a text.']],
  ['user.exists(o, true)', ['user', '`exists` needs a list, and this is the user.']],
  [
    'orders.exists(o)',
    [
      'orders.exists(o)',
      '`exists` takes a variable and a condition, such as `orders.exists(o, o.status == "completed")`.',
    ],
  ],
  [
    'user.is_active ? 1 : "a"',
    ['user.is_active ? 1 : "a"', 'Both branches need the same simple type, and are a whole number and a text.'],
  ],
]

const errorsOf = (source: string) => {
  const checked = checkExpression(source)
  return checked.ok ? [] : checked.errors
}

/** What a message says to write in place of what it points at. */
const replacementIn = (message: string): string | undefined =>
  [
    /^There is no `[^`]+`: use `([^`.]+)`\.$/,
    /^`=` does not compare: use `(==)`\.$/,
    /^Numbers have no .+: write `(\d+)`\.$/,
    /^A length of time is written `([^`]+)`\.$/,
    /^There is no variable .+ (?:Did you mean|Write|A text stands in quotes:) `([^`]+)`[.?]$/,
  ]
    .map((pattern) => pattern.exec(message)?.[1])
    .find((text) => text !== undefined)

describe('a mistake in an expression', () => {
  it.each([...syntax, ...meaning])('is named with its place: %s', (source, ...errors) => {
    expect(errorsOf(source).map(({ start, end, message }) => [source.slice(start, end), message])).toEqual(errors)
  })

  it('of every kind is in the table', () => {
    expect(syntax.length + meaning.length).toBeGreaterThanOrEqual(120)
    expect(new Set([...syntax, ...meaning].map(([source]) => source)).size).toBe(syntax.length + meaning.length)
  })

  it.each(
    [...syntax, ...meaning].filter(([, ...errors]) =>
      errors.every(([, message]) => replacementIn(message) !== undefined),
    ),
  )('is no mistake any more, mended as the message says: %s', (source) => {
    const mended = errorsOf(source).reduceRight((text, { start, end, message }) => {
      const replacement = replacementIn(message)
      return replacement === undefined ? text : text.slice(0, start) + replacement + text.slice(end)
    }, source)
    expect(mended).not.toBe(source)
    expect([mended, errorsOf(mended)]).toEqual([mended, []])
  })
})

const pieces = [
  'user.email',
  'user.is_active',
  'stats.order_count',
  'orders.exists(o, o.status == "completed")',
  'consents.newsletter',
  'campaigns.opened',
  'nobody',
  '"a"',
  "'b'",
  '"""c\n"""',
  '12',
  '3.5',
  '30d',
  ...[
    '(',
    ')',
    '[',
    ']',
    '{',
    ',',
    '.',
    '?',
    ':',
    ';',
    '"',
    "'",
    '`',
    '“',
    '\\',
    '\n',
    '// x\n',
    '😀',
    '\u00A0',
    '\uD800',
  ],
  ...[
    '==',
    '=',
    '===',
    '<>',
    '=>',
    '&&',
    '&',
    'AND',
    'or',
    'NOT ',
    'not in',
    'IN',
    'is not null',
    'LIKE',
    '+',
    '-',
    '!',
  ],
  ...['between', 'contains', 'starts with', 'if', 'then', 'else', 'return', '__proto__', 'constructor', 'toString()'],
]

const sources = fc
  .array(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...pieces) }, fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 14,
  })
  .chain((parts) => fc.constantFrom('', ' ', '  ').map((space) => parts.join(space)))

describe('whatever is written', () => {
  it('gets messages that point inside of it', () => {
    fc.assert(
      fc.property(sources, (source) => {
        const errors = errorsOf(source)
        for (const { code, message, line, column, start, end } of errors) {
          expect(expressionFields).toHaveProperty([code])
          expect(message).toMatch(/^[^\n]{5,400}[.?]$/u)
          expect(Number.isInteger(start) && start >= 0 && start <= end && end <= source.length).toBe(true)
          const before = source.slice(0, start).split('\n')
          expect([line, column]).toEqual([before.length, (before.at(-1) ?? '').length + 1])
          // Nothing is pointed at only where something is missing.
          if (start === end) expect([source.length, 0]).toContain(start)
        }
        expect(errors.map(({ start }) => start)).toEqual(errors.map(({ start }) => start).toSorted((a, b) => a - b))
      }),
      { numRuns: 2000 },
    )
  })

  it('is pointed at exactly where one operator of many is wrong', () => {
    const condition = fc.constantFrom(
      'user.is_active',
      'stats.order_count >= 2',
      'user.email == "a AND b = c"',
      '!true',
    )
    const wrong = fc.constantFrom(['AND', '&&'], ['and', '&&'], ['&', '&&'], ['OR', '||'], ['|', '||']) as fc.Arbitrary<
      [string, string]
    >
    fc.assert(
      fc.property(fc.array(condition, { minLength: 2, maxLength: 8 }), fc.nat(), wrong, (conditions, at, pair) => {
        const left = conditions.slice(0, (at % (conditions.length - 1)) + 1).join('\n && ')
        const right = conditions.slice((at % (conditions.length - 1)) + 1).join(' || ')
        const [operator, meant] = pair
        expect(errorsOf(`${left} ${operator} ${right}`)).toEqual([
          {
            code: 'unexpected_character',
            message: `There is no \`${operator}\`: use \`${meant}\`.`,
            start: left.length + 1,
            end: left.length + 1 + operator.length,
            line: left.split('\n').length,
            column: (left.split('\n').at(-1) ?? '').length + 2,
          },
        ])
        expect(errorsOf(`${left} ${meant} ${right}`)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})
