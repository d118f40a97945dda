import type { Mistakes } from './cel-mistakes-syntax.ts'

/** What can be read, and means nothing. */
export const meaningless: readonly Mistakes[] = [
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
