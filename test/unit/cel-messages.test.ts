import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkExpression } from '../../src/domain/cel/index.ts'
import { expressionFields } from '../../src/domain/error-guide.ts'

const findErrors = (source: string) => {
  const checked = checkExpression(source)
  return checked.ok ? [] : checked.errors
}

/** An expression, and for each error the text that it points at and its message. */
type Mistake = readonly [source: string, ...errors: (readonly [text: string, message: string])[]]

const mistakes: readonly Mistake[] = [
  ['user.email = "a"', ['=', 'One `=` compares nothing. Write `==`.']],
  ['user.is_active AND user.is_verified', ['AND', 'An operator such as `&&`, `||` or `==` is missing before `AND`.']],
  ["user.last_name == 'O'Brien'", ['Brien', 'An operator such as `&&`, `||` or `==` is missing before `Brien`.']],
  ['user.email == `b`', ['`', 'This character cannot stand here.']],
  ['user.email <> "b"', ['>', 'A value is missing before `>`.']],
  ['user.is_active &&', ['', 'A value is missing at the end of the expression.']],
  ['(user.is_active', ['', 'A `)` is missing at the end of the expression.']],
  ['size(orders]', [']', 'A `)` is missing before `]`.']],
  ['user.is_active ? true', ['', 'A `:` is missing at the end of the expression.']],
  ['user..email', ['.', 'A name is missing before `.`.']],
  ["user.email == 'x", ["'x", 'The text that starts here has no closing quote.']],
  ['user.email == "x\ny"', ['\n', 'A text must end on its line. Write a line break as `\\n`.']],
  ['user.email == "\\d"', ['\\d', '`\\d` is not an escape sequence. Write a backslash as `\\\\`.']],
  ['stats.order_count == 0x', ['0x', '`0x` is not a number.']],
  ['return true', ['return', '`return` is a reserved word, so it cannot be a name.']],
  [
    'orders.exists("o", true)',
    [
      '"o"',
      'The first argument of `exists`, `all`, `filter` and `map` must be a variable name, and `has` needs a field.',
    ],
  ],
  ['user.emial == "a"', ['user.emial', 'The user has no field `emial`. Did you mean `email`?']],
  [
    'stats.spent > 1',
    [
      'stats.spent',
      'The stats have no field `spent`. The fields are order_count, total_spent_minor, purchase_count, first_order_at, last_order_at.',
    ],
  ],
  ['size(order) > 1', ['order', 'There is no variable `order`. Did you mean `orders`?']],
  ['email == "x"', ['email', 'There is no variable `email`. Did you mean `user.email`?']],
  ['user.is_active == True', ['True', 'There is no variable `True`. Did you mean `true`?']],
  ['user.locale == da', ['da', 'There is no variable `da`. If you mean a text, write it in quotes: `"da"`.']],
  ['orders.exsits(o, true)', ['orders.exsits(o, true)', 'There is no function `exsits`. Did you mean `exists`?']],
  ['user.email.frobnicate()', ['user.email.frobnicate()', 'There is no function `frobnicate`.']],
  [
    'contains(user.email, "x")',
    [
      'contains(user.email, "x")',
      'This is not how `contains` is called. Its signature is `string.contains(string) -> bool`.',
    ],
  ],
  ['user.email.contains', ['user.email.contains', '`contains` is a function. Write `.contains(…)`.']],
  [
    'orders.status == "completed"',
    ['orders.status', 'A list of orders has no fields. Use `exists` to test its elements.'],
  ],
  [
    'user.emial == "a" || user.locael == "b"',
    ['user.emial', 'The user has no field `emial`. Did you mean `email`?'],
    ['user.locael', 'The user has no field `locael`. Did you mean `locale`?'],
  ],
  ['user.email.contains()', ['user.email.contains()', '`contains` takes one argument.']],
  ['user.email.contains(1)', ['1', '`contains` needs a text, and this is a whole number.']],
  ['size(1) == 1', ['size(1)', '`size` needs a list or a text, and this is a whole number.']],
  ['int(orders) > 1', ['int(orders)', '`int` cannot convert a list of orders.']],
  ['timestamp("2026-01-01") < now', ['"2026-01-01"', 'This timestamp is not valid. Write it as 2026-01-01T00:00:00Z.']],
  ['duration("30d") > duration("1h")', ['"30d"', 'This duration is not valid. Write days as hours: 720h.']],
  ['orders == 3', ['orders == 3', 'You cannot compare a list of orders with a whole number. Write `size(orders)`.']],
  ['size(orders) > "2"', ['size(orders) > "2"', 'You cannot compare a whole number with a text. Write `2`.']],
  ['user.first_name == 3', ['user.first_name == 3', 'You cannot compare a text with a whole number. Write `"3"`.']],
  [
    'user.is_active == "True"',
    ['user.is_active == "True"', 'You cannot compare true or false with a text. Write `true`.'],
  ],
  [
    'user.last_seen > "2026-01-01"',
    [
      'user.last_seen > "2026-01-01"',
      'You cannot compare a timestamp with a text. Write `timestamp("2026-01-01T00:00:00Z")`.',
    ],
  ],
  [
    'user.last_seen < now - 30',
    ['now - 30', '`-` cannot be used with a timestamp and a whole number. Write a duration such as `duration("72h")`.'],
  ],
  [
    'stats.total_spent_minor / 2.0 > 1.0',
    [
      'stats.total_spent_minor / 2.0',
      '`/` cannot be used with a whole number and a decimal number. Write `double(stats.total_spent_minor)`.',
    ],
  ],
  [
    'user.first_name + 1 == "x"',
    ['user.first_name + 1', '`+` cannot be used with a text and a whole number. Write `string(1)`.'],
  ],
  [
    'user.metadata.a + 1 == 2',
    [
      'user.metadata.a + 1',
      '`+` cannot be used with a metadata value and a whole number. Numbers in metadata are decimal numbers: write 1.0 instead of 1.',
    ],
  ],
  ['null < 1', ['null < 1', 'null can only be compared with `==` and `!=`.']],
  [
    'consents.newsletter == true',
    [
      'consents.newsletter == true',
      'You cannot compare a consent with true or false. Write `consents.newsletter.is_current`.',
    ],
  ],
  [
    '"x" in user.email',
    ['"x" in user.email', '`in` needs a list, and this is a text. Write `user.email.contains("x")`.'],
  ],
  [
    '3 in campaigns.opened',
    ['3 in campaigns.opened', 'You cannot look for a whole number in a list of texts. Write `"3"`.'],
  ],
  ['user.email && true', ['user.email', 'This must be true or false, and it is a text. Write `user.email != null`.']],
  [
    'stats.order_count',
    [
      'stats.order_count',
      'The expression must be true or false, and it is a whole number. Write `stats.order_count > 0`.',
    ],
  ],
  [
    'user.is_active ? 1 : "a"',
    [
      'user.is_active ? 1 : "a"',
      'Both branches must have the same simple type, and they are a whole number and a text.',
    ],
  ],
  ['user.exists(o, true)', ['user', '`exists` needs a list, and this is the user.']],
]

describe('an error message', () => {
  it.each(mistakes.map(([source, ...errors]) => [source, errors] as const))(
    'names the place and the problem of: %s',
    (source, errors) => {
      expect(findErrors(source).map(({ start, end, message }) => [source.slice(start, end), message])).toEqual(errors)
    },
  )
})

const pieces = [
  'user.email user.is_active stats.order_count consents.newsletter campaigns.opened nobody "a" 12 3.5 30d',
  '( ) [ ] { , . ? : ; " \' ` “ \\ 😀 == = === <> => && & AND or NOT IN LIKE + - ! in',
  'contains if else return __proto__ constructor toString()',
]
  .flatMap((line) => line.split(' '))
  .concat('orders.exists(o, o.status == "completed")', "'b'", '"""c\n"""', '\n', '// x\n', '\u00A0', '\uD800')

const sources = fc
  .array(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...pieces) }, fc.string({ unit: 'binary', maxLength: 4 })), {
    maxLength: 14,
  })
  .chain((parts) => fc.constantFrom('', ' ', '  ').map((space) => parts.join(space)))

describe('any text that is sent as an expression', () => {
  it('gets errors with a documented code, one sentence or more, and a place inside the text', () => {
    fc.assert(
      fc.property(sources, (source) => {
        const errors = findErrors(source)
        for (const { code, message, line, column, start, end } of errors) {
          expect(expressionFields).toHaveProperty([code])
          expect(message).toMatch(/^[^\n]{5,400}[.?]$/u)
          expect(Number.isInteger(start) && start >= 0 && start <= end && end <= source.length).toBe(true)
          const linesBefore = source.slice(0, start).split('\n')
          expect([line, column]).toEqual([linesBefore.length, (linesBefore.at(-1) ?? '').length + 1])
        }
        expect(errors.map(({ start }) => start)).toEqual(errors.map(({ start }) => start).toSorted((a, b) => a - b))
      }),
      { numRuns: 1000 },
    )
  })

  it.each(['=', '“', '"', '`', 'in (', 'AND ', '1,', '1 ', '/*', 'a LIKE ', '(a,', '\\'])(
    'gets at most ten errors, however long it is: %s',
    (piece) => {
      const { length } = findErrors(piece.repeat(4000 / piece.length))
      expect([length >= 1, length <= 10]).toEqual([true, true])
    },
  )
})
