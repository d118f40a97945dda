import { maxListItems } from './liquid-bounds.ts'

/** What templates may name. The list of them, the sample values, the check for unknown names and the type of what sending fills in come from here. */

interface Plain {
  description: string
  sample: string | number
  /** It holds an address, so that links may go to it. */
  is_address?: true
}

interface List {
  description: string
  of: Readonly<Record<string, Plain>>
  sample: readonly Readonly<Record<string, string | number>>[]
}

const plain = (description: string, sample: string): { description: string; sample: string } => ({
  description,
  sample,
})
const count = (description: string, sample: number): { description: string; sample: number } => ({
  description,
  sample,
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
  unit_price: plain('Price of one, with its options.', '450.00 DKK'),
  total: plain('Price of all of them.', '900.00 DKK'),
}

export const catalogue = {
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
    date: plain('When it was made, in the time zone of the edition.', '1 June 2026, 10:00'),
    status: plain('Its status.', 'completed'),
    currency: plain('Its currency.', 'DKK'),
    items: {
      description: `What was bought: at most ${maxListItems} lines.`,
      of: item,
      sample: [
        {
          name: 'Day ticket',
          variant: 'Saturday',
          location: 'Main stage',
          options: 'Early entrance',
          quantity: 2,
          unit_price: '450.00 DKK',
          total: '900.00 DKK',
        },
        {
          name: 'Camping pass',
          variant: '',
          location: '',
          options: '',
          quantity: 1,
          unit_price: '250.00 DKK',
          total: '250.00 DKK',
        },
      ],
    },
    items_count: count('How many units were bought.', 3),
    more_items_count: count('How many lines the order has beyond those in order.items.', 0),
    subtotal: plain('Sum of the prices.', '1150.00 DKK'),
    deposit: plain('Sum of the deposits; empty when there is none.', '50.00 DKK'),
    handling_fee: plain('Sum of the handling fees; empty when there is none.', ''),
    service_fee: plain('Service fee; empty when there is none.', '25.00 DKK'),
    discount: plain('Discount; empty when there is none.', '-100.00 DKK'),
    tax: plain('Tax contained in the prices; empty when there is none.', '210.00 DKK'),
    total: plain('What the customer pays.', '1125.00 DKK'),
  },
  edition: {
    name: plain('Full name of the edition.', 'Nordlys Festival 2026'),
    start_date: plain('First day.', '19 June 2026'),
    end_date: plain('Last day.', '21 June 2026'),
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
    price: plain('What was paid for it.', '450.00 DKK'),
    status: plain('Its status.', 'active'),
  },
  refund: {
    amount: plain('What is paid back.', '450.00 DKK'),
    reason: plain('Why.', 'The customer is ill.'),
    status: plain('Its status.', 'approved'),
    date: plain('When it was decided.', '3 June 2026, 12:30'),
  },
  campaign: {
    name: plain('Name of the campaign.', 'Early birds'),
  },
  links: {
    unsubscribe: address(
      'Where the recipient unsubscribes. Campaigns have it; other messages leave it empty.',
      'https://example.com/unsubscribe',
    ),
    portal: address(
      'Where the customer finds orders and tickets; empty when there is none.',
      'https://example.com/portal',
    ),
  },
} as const satisfies Record<string, Record<string, Plain | List>>

export type Category = keyof typeof catalogue
export const categories = Object.keys(catalogue) as Category[]

type ValueOf<V> = V extends { of: infer Fields }
  ? readonly { [F in keyof Fields]?: string | number | null }[]
  : string | number | null

/** What sending fills in: as much of it as it knows. Amounts and times come formatted. */
export type TemplateContext = {
  [C in Category]?: { [V in keyof (typeof catalogue)[C]]?: ValueOf<(typeof catalogue)[C][V]> }
} & {
  /** For templates that were made trackable. */
  tracking?: { links: readonly string[]; pixel: string }
}

const entries: [Category, [string, Plain | List][]][] = categories.map((category) => [
  category,
  Object.entries(catalogue[category] as Record<string, Plain | List>),
])

const samplesOf = (variables: [string, Plain | List][]) =>
  Object.fromEntries(variables.map(([name, { sample }]) => [name, sample]))

/** A whole context of sample values. */
export const sampleContext = (): TemplateContext =>
  structuredClone(Object.fromEntries(entries.map(([category, variables]) => [category, samplesOf(variables)])))

export interface VariableDescription {
  variable: string
  description: string
  sample: string
}

const described = (variable: string, { description, sample }: Plain): VariableDescription => ({
  variable,
  description,
  sample: String(sample),
})

/** As the API lists them: `order.items[].name` is a field of each item. */
export const templateVariables: { name: Category; variables: VariableDescription[] }[] = entries.map(
  ([category, variables]) => ({
    name: category,
    variables: variables.flatMap(([name, variable]) => {
      const path = `${category}.${name}`
      if (!('of' in variable)) return [described(path, variable)]
      const list = { variable: path, description: variable.description, sample: JSON.stringify(variable.sample) }
      return [list, ...Object.entries(variable.of).map(([of, one]) => described(`${path}[].${of}`, one))]
    }),
  }),
)

/** Every name that a template may use, the categories themselves included. */
export const knownNames: ReadonlySet<string> = new Set([
  ...categories,
  ...templateVariables.flatMap(({ variables }) => variables.map(({ variable }) => variable)),
])

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

function distance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...one].entries()) {
    const row = [at + 1]
    for (const [index, candidate] of [...other].entries())
      row.push(
        Math.min(
          (row[index] ?? 0) + 1,
          (previous[index + 1] ?? 0) + 1,
          (previous[index] ?? 0) + Number(letter !== candidate),
        ),
      )
    previous = row
  }
  return previous.at(-1) ?? 0
}

const maxNameLength = 60

/** The known name that is most like it, or null when none is much like it. */
export function nearestName(path: string): string | null {
  if (path.length > maxNameLength) return null
  const last = path.split('.').at(-1) ?? path
  const candidates = [...knownNames]
    .filter((name) => name.includes('.'))
    .map((name) => {
      const sameField = name.split('.').at(-1) === last ? 2 : Number.POSITIVE_INFINITY
      return { name, far: Math.min(distance(path, name), sameField) }
    })
    .toSorted((a, b) => a.far - b.far)
  const [best] = candidates
  return best && best.far <= Math.max(3, path.length / 3) ? best.name : null
}
