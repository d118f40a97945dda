import { type Contact, formatFullName } from '../../accounts/users.ts'
import type { Language } from '../../languages.ts'
import type { EmailMessageType } from '../../messaging/email-messages.ts'
import { formatLocalMoney } from '../../money.ts'
import { isRecord } from '../../text/json.ts'
import { maxListItems } from './liquid-bounds.ts'
import { LocalDate } from './local-date.ts'

/** `minor` is an amount and `at` a time: both are formatted for the language of the message. */
type SampleValue = string | number | { minor: number } | { at: number; style: 'day' | 'minute' }

interface SingleVariable {
  description: string
  sample: SampleValue
  /** Set when the value is an address, so that links may lead to it. */
  is_address?: true
  /** Types of messages that have the variable; absent for those that have its category. */
  message_types?: readonly EmailMessageType[]
}

interface ListVariable {
  description: string
  /** The name of an item in a loop, for example `item`. */
  itemName: string
  fields: Readonly<Record<string, SingleVariable>>
  sample: readonly Readonly<Record<string, SampleValue>>[]
}

const text = (description: string, sample: string): { description: string; sample: string } => ({
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

/** The service sends no messages of these types, so nothing says which variables they have. */
const unsentTypes: readonly EmailMessageType[] = ['reminder', 'user_portal_access', 'other']

const itemFields = {
  name: text('Name of the product.', 'Day ticket'),
  variant: text('Name of the variant; empty when there is none.', 'Saturday'),
  location: text('Name of the location; empty when there is none.', 'Main stage'),
  options: text('Names of the chosen options, separated by commas.', 'Early entrance'),
  quantity: count('Number of units bought.', 2),
  unit_price: money('Price of one unit, with its options.', 45_000),
  total: money('Price of all units of the line.', 90_000),
}

const catalogue = {
  customer: {
    first_name: text('First name of the recipient.', 'Astrid'),
    last_name: text('Last name of the recipient.', 'Holm'),
    full_name: text('First and last name, or the e-mail address where there is no name.', 'Astrid Holm'),
    email: text('E-mail address of the recipient.', 'astrid.holm@example.com'),
    phone_number: text('Telephone number of the recipient.', '+4520123456'),
    language: text('Code of the language that the message is written in.', 'en'),
  },
  order: {
    number: text('Number of the order.', '100234'),
    date: date('Date and time of the order, in the time zone of the edition.', 'minute', '2026-06-01T10:00+02:00'),
    status: text('Status of the order.', 'completed'),
    currency: text('Currency of the order.', 'DKK'),
    items: {
      description: `Lines of the order; at most ${maxListItems}.`,
      itemName: 'item',
      fields: itemFields,
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
    items_count: count('Number of units in the order.', 3),
    more_items_count: count('Number of lines of the order that are not in `order.items`.', 0),
    subtotal: money('Sum of the prices.', 115_000),
    deposit: money('Sum of the deposits; empty when there is none.', 5_000),
    handling_fee: text('Sum of the handling fees; empty when there is none.', ''),
    service_fee: money('Service fee; empty when there is none.', 2_500),
    discount: money('Discount; empty when there is none.', -10_000),
    tax: money('Tax contained in the prices; empty when there is none.', 21_000),
    total: money('Amount that the customer pays.', 112_500),
  },
  edition: {
    name: text('Full name of the edition.', 'Nordlys Festival 2026'),
    start_date: date('First day of the edition.', 'day', '2026-06-19T12:00+02:00'),
    end_date: date('Last day of the edition.', 'day', '2026-06-21T12:00+02:00'),
    timezone: text('Time zone of the edition.', 'Europe/Copenhagen'),
  },
  organization: {
    name: text('Name of the organisation.', 'Nordlys'),
  },
  purchase: {
    product: text('Name of the product.', 'Day ticket'),
    variant: text('Name of the variant; empty when there is none.', 'Saturday'),
    location: text('Name of the location; empty when there is none.', 'Main stage'),
    code: text('Code of the purchase.', 'NL-7F3K-92'),
    price: money('Price of the purchase.', 45_000),
    status: text('Status of the purchase.', 'active'),
  },
  refund: {
    amount: money('Amount that is paid back.', 45_000),
    reason: text('Reason for the refund.', 'At your request'),
    status: text('Status of the refund.', 'completed'),
    message: text(
      'Message of the batch of refunds to its customers; empty when there is none.',
      'We are sorry that the festival is off.',
    ),
    date: date('Date and time of the refund, in the time zone of the edition.', 'minute', '2026-06-03T12:30+02:00'),
  },
  campaign: {
    name: text('Name of the campaign.', 'Early birds'),
  },
  links: {
    unsubscribe: {
      ...address(
        'Page where the recipient unsubscribes. Only marketing campaigns have it.',
        'https://example.com/unsubscribe',
      ),
      message_types: ['campaign'],
    },
    preferences: address(
      'Page where the recipient sees, gives and withdraws consents.',
      'https://example.com/consents',
    ),
    portal: {
      ...address(
        'Page where the customer finds orders and tickets; empty when there is none.',
        'https://example.com/portal',
      ),
      message_types: unsentTypes,
    },
  },
} as const satisfies Record<string, Record<string, SingleVariable | ListVariable>>

export type Category = keyof typeof catalogue

/** Types of messages that have the variables of a category; absent for all types. */
const categoryTypes: { [C in Category]?: readonly EmailMessageType[] } = {
  order: ['receipt', 'receipt_online', 'refund_confirmation', ...unsentTypes],
  purchase: ['refund_confirmation', ...unsentTypes],
  refund: ['refund_confirmation', ...unsentTypes],
  campaign: ['campaign'],
}
export const variableCategories = Object.keys(catalogue) as Category[]

type ValueFor<V> = V extends { fields: infer Fields }
  ? readonly { [F in keyof Fields]?: string | number | null }[]
  : string | number | LocalDate | null

/** Values for one recipient. Amounts are already formatted. */
export type TemplateContext = {
  [C in Category]?: { [V in keyof (typeof catalogue)[C]]?: ValueFor<(typeof catalogue)[C][V]> }
} & {
  /** Only for templates from `trackable`. */
  tracking?: { links: readonly string[]; pixel: string }
  /** True for each condition of the message's blocks that the recipient fulfils. */
  block_conditions?: readonly boolean[]
}

export const buildCustomerValues = (contact: Contact, language: Language): TemplateContext['customer'] => ({
  first_name: contact.first_name,
  last_name: contact.last_name,
  full_name: formatFullName(contact) || (contact.email ?? ''),
  email: contact.email ?? '',
  phone_number: contact.phone_number ?? '',
  language,
})

const entries: [Category, [string, SingleVariable | ListVariable][]][] = variableCategories.map((category) => [
  category,
  Object.entries(catalogue[category] as Record<string, SingleVariable | ListVariable>),
])

const sampleZone = 'Europe/Copenhagen'

function formatSample(sample: SampleValue, language: Language): string | number | LocalDate {
  if (typeof sample !== 'object') return sample
  if ('minor' in sample) return formatLocalMoney(sample.minor, 'dkk', language)
  return new LocalDate(sample.at, language, sampleZone, sample.style)
}

const formatSampleRow = (
  row: Readonly<Record<string, SampleValue>>,
  language: Language,
): Record<string, string | number | LocalDate> =>
  Object.fromEntries(Object.entries(row).map(([name, sample]) => [name, formatSample(sample, language)]))

const formatSamples = (variables: [string, SingleVariable | ListVariable][], language: Language) =>
  Object.fromEntries(
    variables.map(([name, variable]) => [
      name,
      'fields' in variable
        ? variable.sample.map((row) => formatSampleRow(row, language))
        : formatSample(variable.sample, language),
    ]),
  )

const copyContext = (context: TemplateContext): TemplateContext =>
  Object.fromEntries(Object.entries(context).map(([category, values]) => [category, { ...values }]))

const sampleContexts = new Map<Language, TemplateContext>()

/** Sample values for all variables, formatted for the language. */
export function buildSampleContext(language: Language = 'en'): TemplateContext {
  const cachedContext = sampleContexts.get(language)
  if (cachedContext) return copyContext(cachedContext)
  const values = Object.fromEntries(
    entries.map(([category, variables]) => [category, formatSamples(variables, language)]),
  )
  const context: TemplateContext = { ...values, customer: { ...values['customer'], language } }
  sampleContexts.set(language, context)
  return copyContext(context)
}

export interface VariableDescription {
  variable: string
  description: string
  sample: string
  /** Only for a field of a list: the list, the name of the field in a loop, and that loop. */
  list?: string
  name?: string
  loop?: string
  message_types?: EmailMessageType[]
}

const findMessageTypes = (category: Category, variable: SingleVariable | ListVariable) =>
  ('message_types' in variable ? variable.message_types : undefined) ?? categoryTypes[category]

const describeVariable = (
  variable: string,
  { description, sample }: SingleVariable,
  messageTypes: readonly EmailMessageType[] | undefined,
): VariableDescription => ({
  variable,
  description,
  sample: String(formatSample(sample, 'en')),
  ...(messageTypes && { message_types: [...messageTypes] }),
})

function describeListField(list: string, name: string, category: Category, field: SingleVariable): VariableDescription {
  const [itemName = ''] = name.split('.')
  return {
    ...describeVariable(name, field, findMessageTypes(category, field)),
    list,
    name,
    loop: `{% for ${itemName} in ${list} %}{{ ${name} }}{% endfor %}`,
  }
}

/** The list in the API. A name works in a template as it stands, the name of a list's field inside its loop. */
export const templateVariables: { name: Category; variables: VariableDescription[] }[] = entries.map(
  ([category, variables]) => ({
    name: category,
    variables: variables.flatMap(([name, variable]) => {
      const path = `${category}.${name}`
      if (!('fields' in variable)) return [describeVariable(path, variable, findMessageTypes(category, variable))]
      return Object.entries(variable.fields).map(([field, fieldVariable]) =>
        describeListField(path, `${variable.itemName}.${field}`, category, fieldVariable),
      )
    }),
  }),
)

/** The variables of each category that messages of this type have. */
const listVariablesOf = (type: EmailMessageType): [Category, [string, SingleVariable | ListVariable][]][] =>
  entries.map(([category, variables]) => [
    category,
    variables.filter(([, variable]) => findMessageTypes(category, variable)?.includes(type) ?? true),
  ])

interface KnownNames {
  /** Variables with a text. */
  texts: ReadonlySet<string>
  /** Categories, lists and items of lists. They have no text of their own. */
  objects: ReadonlySet<string>
}

const namesByType = new Map<EmailMessageType, KnownNames>()

/** Every path that a message of this type may use, such as `order.items[].name`. */
export function getKnownNames(type: EmailMessageType): KnownNames {
  const cachedNames = namesByType.get(type)
  if (cachedNames) return cachedNames
  const [texts, objects] = [new Set<string>(), new Set<string>()]
  for (const [category, variables] of listVariablesOf(type)) {
    if (variables.length > 0) objects.add(category)
    for (const [name, variable] of variables) {
      const path = `${category}.${name}`
      if (!('fields' in variable)) {
        texts.add(path)
        continue
      }
      objects.add(path).add(`${path}[]`)
      for (const field of Object.keys(variable.fields)) texts.add(`${path}[].${field}`)
    }
  }
  const names = { texts, objects }
  namesByType.set(type, names)
  return names
}

/** Leaves out the values that messages of this type do not have. */
export const pickTypeValues = (type: EmailMessageType, values: Readonly<Record<string, unknown>>): TemplateContext =>
  Object.fromEntries(
    listVariablesOf(type).map(([category, variables]) => {
      const fields = values[category]
      if (!isRecord(fields)) return [category, {}]
      return [category, Object.fromEntries(variables.map(([name]) => [name, fields[name]]))]
    }),
  )

/** Paths that a `for` loop accepts. */
export const listNames: ReadonlySet<string> = new Set(
  entries.flatMap(([category, variables]) =>
    variables.flatMap(([name, variable]) => ('fields' in variable ? [`${category}.${name}`] : [])),
  ),
)

/** Variables that hold an address. */
export const addressNames: readonly { category: Category; name: string }[] = entries.flatMap(([category, variables]) =>
  variables.flatMap(([name, variable]) => ('is_address' in variable ? [{ category, name }] : [])),
)

export const isAddressName = (path: string): boolean =>
  addressNames.some(({ category, name }) => `${category}.${name}` === path)

/** The name of a list's field in its loop: `item.name` for `order.items[].name`. Other names stay the same. */
export function nameInLoop(path: string): string {
  for (const [category, variables] of entries)
    for (const [name, variable] of variables) {
      const start = `${category}.${name}[].`
      if ('fields' in variable && path.startsWith(start)) return `${variable.itemName}.${path.slice(start.length)}`
    }
  return path
}
