export interface CelFunction {
  name: string
  signature: string
  description: string
  example: string
}

const buildGetters = (type: string, entries: readonly (readonly [string, string])[]): CelFunction[] =>
  entries.map(([name, description]) => ({
    name,
    signature: `${type}.${name}(${type === 'timestamp' ? 'time zone, or nothing for UTC' : ''}) -> int`,
    description,
    example: type === 'timestamp' ? `user.date_joined.${name}() == 1` : `(now - user.date_joined).${name}() > 1`,
  }))

export const functions: readonly CelFunction[] = [
  {
    name: 'exists',
    signature: 'list.exists(x, bool) -> bool',
    description: 'True when the condition holds for at least one element.',
    example: 'orders.exists(o, o.status == "completed")',
  },
  {
    name: 'all',
    signature: 'list.all(x, bool) -> bool',
    description: 'True when the condition holds for every element, and for an empty list.',
    example: 'orders.all(o, o.status != "cancelled")',
  },
  {
    name: 'exists_one',
    signature: 'list.exists_one(x, bool) -> bool',
    description: 'True when the condition holds for exactly one element.',
    example: 'purchases.exists_one(p, p.status == "active")',
  },
  {
    name: 'filter',
    signature: 'list.filter(x, bool) -> list',
    description: 'The elements for which the condition holds.',
    example: 'orders.filter(o, o.amount_minor >= 50000).size() >= 2',
  },
  {
    name: 'map',
    signature: 'list.map(x, value) -> list',
    description: 'The value of each element. A list can be mapped once.',
    example: '"Day ticket" in purchases.map(p, p.product_name)',
  },
  {
    name: 'has',
    signature: 'has(metadata or consent) -> bool',
    description: 'True when the key exists.',
    example: 'has(user.metadata.company)',
  },
  {
    name: 'in',
    signature: 'value in list -> bool',
    description: 'True when the list contains the value, or the metadata object has the key.',
    example: 'user.locale in ["da", "sv", "no"]',
  },
  {
    name: 'size',
    signature: 'size(string or list) -> int',
    description: 'Number of characters or of elements.',
    example: 'size(purchases) >= 3',
  },
  {
    name: 'contains',
    signature: 'string.contains(string) -> bool',
    description: 'True when the text contains the other text. Upper and lower case differ.',
    example: 'user.last_name.contains("sen")',
  },
  {
    name: 'startsWith',
    signature: 'string.startsWith(string) -> bool',
    description: 'True when the text starts with the other text.',
    example: 'user.phone_number.startsWith("+45")',
  },
  {
    name: 'endsWith',
    signature: 'string.endsWith(string) -> bool',
    description: 'True when the text ends with the other text.',
    example: 'user.email.endsWith("@example.dk")',
  },
  {
    name: 'lowerAscii',
    signature: 'string.lowerAscii() -> string',
    description: 'The text with the letters A to Z in lower case.',
    example: 'user.first_name.lowerAscii() == "anna"',
  },
  {
    name: 'upperAscii',
    signature: 'string.upperAscii() -> string',
    description: 'The text with the letters a to z in upper case.',
    example: 'user.first_name.upperAscii() == "ANNA"',
  },
  {
    name: 'timestamp',
    signature: 'timestamp(string literal or seconds) -> timestamp',
    description: 'A point in time in RFC 3339 format, to the millisecond.',
    example: 'user.date_joined >= timestamp("2026-01-01T00:00:00Z")',
  },
  {
    name: 'duration',
    signature: 'duration(string literal) -> duration',
    description: 'A length of time in hours, minutes, seconds or milliseconds, such as 72h or 1h30m.',
    example: 'user.date_joined > now - duration("720h")',
  },
  {
    name: 'int',
    signature: 'int(double, string, timestamp or metadata) -> int',
    description: 'A whole number. Doubles lose their fraction, and timestamps become seconds.',
    example: 'int(user.metadata.age) >= 18',
  },
  {
    name: 'double',
    signature: 'double(int) -> double',
    description: 'A number with a fraction.',
    example: 'double(stats.total_spent_minor) / 100.0 > 99.5',
  },
  {
    name: 'string',
    signature: 'string(int or bool) -> string',
    description: 'The value as text.',
    example: 'string(stats.order_count) == "3"',
  },
  {
    name: 'bool',
    signature: 'bool(string) -> bool',
    description: 'True for 1, t, true, TRUE and True; false for 0, f, false, FALSE and False; an error otherwise.',
    example: 'bool(string(user.is_verified))',
  },
  ...buildGetters('timestamp', [
    ['getFullYear', 'Year.'],
    ['getMonth', 'Month, from 0.'],
    ['getDate', 'Day of the month, from 1.'],
    ['getDayOfMonth', 'Day of the month, from 0.'],
    ['getDayOfWeek', 'Day of the week, from 0 for Sunday.'],
    ['getDayOfYear', 'Day of the year, from 0.'],
    ['getHours', 'Hour.'],
    ['getMinutes', 'Minute.'],
    ['getSeconds', 'Second.'],
    ['getMilliseconds', 'Millisecond.'],
  ]),
  {
    name: 'getDayOfEdition',
    signature: 'timestamp.getDayOfEdition() -> int',
    description: 'Day of the edition in its time zone: 0 on the day on which it starts, and -1 on the day before.',
    example: 'user.date_joined.getDayOfEdition() >= -14',
  },
  ...buildGetters('duration', [
    ['getHours', 'Whole hours.'],
    ['getMinutes', 'Whole minutes.'],
    ['getSeconds', 'Whole seconds.'],
    ['getMilliseconds', 'Milliseconds within the second.'],
  ]),
]

/** CEL functions that segments do not have, with the message for each. */
export const refusedFunctions: Readonly<Record<string, string>> = {
  matches: 'Regular expressions are not supported. Use `contains`, `startsWith` or `endsWith`.',
  dyn: '`dyn` is not supported.',
  type: 'Types cannot be compared.',
  bytes: 'Bytes are not supported.',
  uint: 'Unsigned numbers are not supported. Use `int`.',
  bind: '`cel.bind` is not supported.',
}

export const examples: readonly { title: string; expression: string }[] = [
  {
    title: 'Bought a product and ordered at least twice',
    expression: 'stats.order_count >= 2 && purchases.exists(p, p.product_name == "Day ticket")',
  },
  {
    title: 'Not seen for 30 days, or never',
    expression: 'user.last_seen == null || user.last_seen < now - duration("720h")',
  },
  {
    title: 'Bought in one edition and not in another',
    expression: 'orders.exists(o, o.edition_id == "edt_a") && !orders.exists(o, o.edition_id == "edt_b")',
  },
  {
    title: 'Spent at least 1,000 in one order, in Danish kroner',
    expression: 'orders.exists(o, o.status == "completed" && o.currency == "dkk" && o.amount_minor >= 100000)',
  },
  { title: 'Wants the newsletter', expression: 'has(consents.newsletter) && consents.newsletter.is_current' },
  {
    title: 'Opened a campaign but clicked no link',
    expression: 'size(campaigns.opened) > 0 && size(campaigns.clicked) == 0',
  },
  {
    title: 'Opened a message in the last 14 days',
    expression: 'campaigns.messages.exists(m, m.opened_at != null && m.opened_at > now - duration("336h"))',
  },
  {
    title: 'Came on a Saturday',
    expression: 'purchases.exists(p, p.uses.exists(u, u.used_at.getDayOfWeek(edition.timezone) == 6))',
  },
  {
    title: 'Bought in the 14 days before the edition began',
    expression: 'orders.exists(o, o.created.getDayOfEdition() >= -14 && o.created.getDayOfEdition() < 0)',
  },
  { title: 'Has a value in the metadata', expression: 'has(user.metadata.company) && user.metadata.company != ""' },
]
