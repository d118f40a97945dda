import type { EmailMessageType } from '../../messaging/email-messages.ts'
import type { Language } from '../../languages.ts'
import { formatLocalMoney } from '../../money.ts'
import { dateText } from '../messages/dates.ts'
import { maxListItems } from './liquid-bounds.ts'

/**
 * The variables of templates. Their list, the sample values, the check for unknown names and the type of the values
 * come from here.
 */

/** Amounts and times are shown in the formats of a language. */
type SampleValue = string | number | { minor: number } | { at: number; style: 'day' | 'minute' }

interface Plain {
  description: string
  sample: SampleValue
  /** The value is an address, so links may have it as their target. */
  is_address?: true
  /** The types of messages that have it; all types by default. */
  message_types?: readonly EmailMessageType[]
}

interface ListVariable {
  description: string
  /** The name of one item in a loop. */
  each: string
  of: Readonly<Record<string, Plain>>
  sample: readonly Readonly<Record<string, SampleValue>>[]
}

const plain = (description: string, sample: string): { description: string; sample: string } => ({
  description,
  sample,
})
const count = (description: string, sample: number): { description: string; sample: number } => ({
  description,
  sample,
})
const money = (description: string, minor: number): { description: string; sample: { minor: number } } => ({
  description,
  sample: { minor },
})
const date = (
  description: string,
  style: 'day' | 'minute',
  instant: string,
): { description: string; sample: { at: number; style: 'day' | 'minute' } } => ({
  description,
  sample: { at: Date.parse(instant), style },
})
const address = (description: string, sample: string): { description: string; sample: string; is_address: true } => ({
  description,
  sample,
  is_address: true,
})

const item = {
  name: plain('Name of the product.', 'Day ticket'),
  variant: plain('Name of its variant.', 'Saturday'),
  location: plain('Name of its location.', 'Main stage'),
  options: plain('Names of the chosen options, separated by commas.', 'Early entrance'),
  quantity: count('How many were bought.', 2),
  unit_price: money('Price of one, with its options.', 45_000),
  total: money('Price of all of them.', 90_000),
}

const catalogue = {
  customer: {
    first_name: plain('First name of the recipient.', 'Astrid'),
    last_name: plain('Last name of the recipient.', 'Holm'),
    full_name: plain('First and last name, or the e-mail address where there is no name.', 'Astrid Holm'),
    email: plain('E-mail address of the recipient.', 'astrid.holm@example.com'),
    phone_number: plain('Telephone number of the recipient.', '+4520123456'),
    language: plain('Code of the language that the message is written in.', 'en'),
  },
  order: {
    number: plain('Number of the order.', '100234'),
    date: date('When it was made, in the time zone of the edition.', 'minute', '2026-06-01T10:00+02:00'),
    status: plain('Its status.', 'completed'),
    currency: plain('Its currency.', 'DKK'),
    items: {
      description: `What was bought: at most ${maxListItems} lines.`,
      each: 'item',
      of: item,
      sample: [
        {
          name: 'Day ticket',
          variant: 'Saturday',
          location: 'Main stage',
          options: 'Early entrance',
          quantity: 2,
          unit_price: { minor: 45_000 },
          total: { minor: 90_000 },
        },
        {
          name: 'Camping pass',
          variant: '',
          location: '',
          options: '',
          quantity: 1,
          unit_price: { minor: 25_000 },
          total: { minor: 25_000 },
        },
      ],
    },
    items_count: count('How many units were bought.', 3),
    more_items_count: count('How many lines the order has beyond those in order.items.', 0),
    subtotal: money('Sum of the prices.', 115_000),
    deposit: money('Sum of the deposits; empty when there is none.', 5_000),
    handling_fee: plain('Sum of the handling fees; empty when there is none.', ''),
    service_fee: money('Service fee; empty when there is none.', 2_500),
    discount: money('Discount; empty when there is none.', -10_000),
    tax: money('Tax contained in the prices; empty when there is none.', 21_000),
    total: money('What the customer pays.', 112_500),
  },
  edition: {
    name: plain('Full name of the edition.', 'Nordlys Festival 2026'),
    start_date: date('First day.', 'day', '2026-06-19T12:00+02:00'),
    end_date: date('Last day.', 'day', '2026-06-21T12:00+02:00'),
    timezone: plain('Its time zone.', 'Europe/Copenhagen'),
  },
  organization: {
    name: plain('Name of the organisation.', 'Nordlys'),
  },
  purchase: {
    product: plain('Name of what was bought.', 'Day ticket'),
    variant: plain('Name of its variant.', 'Saturday'),
    location: plain('Name of its location.', 'Main stage'),
    code: plain('Code of the purchase.', 'NL-7F3K-92'),
    price: money('What was paid for it.', 45_000),
    status: plain('Its status.', 'active'),
  },
  refund: {
    amount: money('What is paid back.', 45_000),
    reason: plain('Why.', 'The customer is ill.'),
    status: plain('Its status.', 'approved'),
    message: plain('What a batch of refunds says to all its customers.', 'We are sorry that the festival is off.'),
    date: date('When it was decided.', 'minute', '2026-06-03T12:30+02:00'),
  },
  campaign: {
    name: plain('Name of the campaign.', 'Early birds'),
  },
  links: {
    unsubscribe: {
      ...address('Where the recipient unsubscribes. Marketing campaigns have it.', 'https://example.com/unsubscribe'),
      message_types: ['campaign'],
    },
    preferences: address(
      'Where the recipient sees what they agreed to, withdraws it or agrees.',
      'https://example.com/consents',
    ),
    portal: address(
      'Where the customer finds orders and tickets; empty when there is none.',
      'https://example.com/portal',
    ),
  },
} as const satisfies Record<string, Record<string, Plain | ListVariable>>

export type Category = keyof typeof catalogue
export const categories = Object.keys(catalogue) as Category[]

type ValueOf<V> = V extends { of: infer Fields }
  ? readonly { [F in keyof Fields]?: string | number | null }[]
  : string | number | null

/** The values that sending fills in, where it has them. Amounts and times are formatted. */
export type TemplateContext = {
  [C in Category]?: { [V in keyof (typeof catalogue)[C]]?: ValueOf<(typeof catalogue)[C][V]> }
} & {
  /** The variables of trackable templates. */
  tracking?: { links: readonly string[]; pixel: string }
}

const entries: [Category, [string, Plain | ListVariable][]][] = categories.map((category) => [
  category,
  Object.entries(catalogue[category] as Record<string, Plain | ListVariable>),
])

const sampleZone = 'Europe/Copenhagen'

function shownSample(sample: SampleValue, language: Language): string | number {
  if (typeof sample !== 'object') return sample
  if ('minor' in sample) return formatLocalMoney(sample.minor, 'dkk', language)
  return dateText(sample.at, language, sampleZone, sample.style)
}

const shownRow = (row: Readonly<Record<string, SampleValue>>, language: Language): Record<string, string | number> =>
  Object.fromEntries(Object.entries(row).map(([name, sample]) => [name, shownSample(sample, language)]))

const samplesOf = (variables: [string, Plain | ListVariable][], language: Language) =>
  Object.fromEntries(
    variables.map(([name, variable]) => [
      name,
      'of' in variable ? variable.sample.map((row) => shownRow(row, language)) : shownSample(variable.sample, language),
    ]),
  )

const samples = new Map<Language, TemplateContext>()

/** A whole context of sample values, as they are in the language. */
export function sampleContext(language: Language = 'en'): TemplateContext {
  const known = samples.get(language)
  if (known) return structuredClone(known)
  const made = Object.fromEntries(entries.map(([category, variables]) => [category, samplesOf(variables, language)]))
  const context: TemplateContext = { ...made, customer: { ...made['customer'], language } }
  samples.set(language, context)
  return structuredClone(context)
}

export interface VariableDescription {
  variable: string
  description: string
  sample: string
  /** Of a field of a list: the list, the field's name in a loop through it, and that loop. */
  list?: string
  name?: string
  loop?: string
  message_types?: EmailMessageType[]
}

const described = (variable: string, { description, sample, message_types }: Plain): VariableDescription => ({
  variable,
  description,
  sample: String(shownSample(sample, 'en')),
  ...(message_types && { message_types: [...message_types] }),
})

function describedItem(list: string, name: string, field: Plain): VariableDescription {
  const [, of = ''] = name.split('.')
  const each = name.slice(0, -of.length - 1)
  return { ...described(name, field), list, name, loop: `{% for ${each} in ${list} %}{{ ${name} }}{% endfor %}` }
}

/** As the API lists them: each name works as it stands, those of lists in their loop. */
export const templateVariables: { name: Category; variables: VariableDescription[] }[] = entries.map(
  ([category, variables]) => ({
    name: category,
    variables: variables.flatMap(([name, variable]) => {
      const path = `${category}.${name}`
      if (!('of' in variable)) return [described(path, variable)]
      return Object.entries(variable.of).map(([of, one]) => describedItem(path, `${variable.each}.${of}`, one))
    }),
  }),
)

/** Fields of lists by how the names in a text are read, `order.items[].name`. */
const listFields: ReadonlyMap<string, VariableDescription> = new Map(
  templateVariables.flatMap(({ variables }) =>
    variables.flatMap((one) => (one.list ? [[`${one.list}[].${one.variable.split('.').at(-1)}`, one] as const] : [])),
  ),
)

/** Every name that a template may use, the categories and lists themselves included. */
export const knownNames: ReadonlySet<string> = new Set([
  ...categories,
  ...entries.flatMap(([category, variables]) => variables.map(([name]) => `${category}.${name}`)),
  ...listFields.keys(),
])

/** Variables that messages of this type do not have. */
export const withheldFrom = (type: EmailMessageType): { category: Category; name: string }[] =>
  entries.flatMap(([category, variables]) =>
    variables.flatMap(([name, variable]) =>
      'message_types' in variable && !variable.message_types?.includes(type) ? [{ category, name }] : [],
    ),
  )

/** Lists that `for` may go through. */
export const listNames: ReadonlySet<string> = new Set(
  entries.flatMap(([category, variables]) =>
    variables.flatMap(([name, variable]) => ('of' in variable ? [`${category}.${name}`] : [])),
  ),
)

/** Variables that hold an address. */
export const addressNames: readonly { category: Category; name: string }[] = entries.flatMap(([category, variables]) =>
  variables.flatMap(([name, variable]) => ('is_address' in variable ? [{ category, name }] : [])),
)

export const isAddressName = (path: string): boolean =>
  addressNames.some(({ category, name }) => `${category}.${name}` === path)

/** The name inside a loop: `order.items[].name` is `item.name`. */
export function writtenName(path: string): string {
  for (const [category, variables] of entries)
    for (const [name, variable] of variables) {
      const start = `${category}.${name}[].`
      if ('of' in variable && path.startsWith(start)) return `${variable.each}.${path.slice(start.length)}`
    }
  return path
}
