import type { ListType, ObjectName, Type, ValuesFrom } from './types.ts'

export interface ExpressionField {
  /** As it is written: `user.email`, `orders[].status`, `consents.<key>.status`. */
  path: string
  name: string
  type: Type
  nullable: boolean
  description: string
  values_from?: ValuesFrom
  /** The kind of known values that this field names. */
  names_of?: ValuesFrom
}

export interface Variable {
  name: string
  type: Type
  description: string
  fields: ExpressionField[]
}

const strings: ListType = { list: 'string', nullable: false }

type FieldOptions = { nullable?: true; from?: ValuesFrom; namesOf?: ValuesFrom }
type FieldEntry = readonly [name: string, type: Type, description: string, options?: FieldOptions]

const fieldsOf = (prefix: string, entries: readonly FieldEntry[]): ExpressionField[] =>
  entries.map(([name, type, description, options]) => ({
    path: `${prefix}.${name}`,
    name,
    type,
    nullable: options?.nullable ?? false,
    description,
    ...(options?.from ? { values_from: options.from } : {}),
    ...(options?.namesOf ? { names_of: options.namesOf } : {}),
  }))

const nullable = { nullable: true } as const

/** The fields of expressions: the one list for the checker, the lowering to SQL and the API's description. */
export const variables: readonly Variable[] = [
  {
    name: 'user',
    type: 'user',
    description:
      'The tested person. Of a customer of other editions too, an expression of an edition sees the contact data that the edition was given, and no metadata.',
    fields: fieldsOf('user', [
      ['id', 'string', 'Id of the person.'],
      ['email', 'string', 'E-mail address, lower case.', nullable],
      ['phone_number', 'string', 'Telephone number in E.164, such as +4532123456.', nullable],
      ['first_name', 'string', 'First name; empty when it is not known.'],
      ['last_name', 'string', 'Last name; empty when it is not known.'],
      ['locale', 'string', 'Language of the person.', { from: 'locales' }],
      ['is_verified', 'bool', 'The address was confirmed.'],
      ['is_active', 'bool', 'The person is not switched off.'],
      ['date_joined', 'timestamp', 'When the person became known.'],
      ['last_seen', 'timestamp', 'The latest sign of the person.', nullable],
      ['has_email', 'bool', 'There is an e-mail address.'],
      ['has_phone', 'bool', 'There is a telephone number.'],
      [
        'metadata',
        'json',
        'Whatever was stored with the person. Numbers are doubles; a key that is absent is an error.',
      ],
    ]),
  },
  {
    name: 'orders',
    type: { list: 'order', nullable: false },
    description:
      "The person's orders in every status. An expression of an edition sees those of that edition, one of the organisation those of all; `edition_id` is the edition of each.",
    fields: fieldsOf('orders[]', [
      ['id', 'string', 'Id of the order.'],
      ['status', 'string', 'Status of the order.', { from: 'order_statuses' }],
      ['type', 'string', 'How the order was placed.', { from: 'order_types' }],
      ['amount_minor', 'int', 'Total in minor units, such as øre.'],
      ['currency', 'string', 'Currency of the amount.', { from: 'currencies' }],
      ['created', 'timestamp', 'When the order was placed.'],
      ['edition_id', 'string', 'Edition of the order.', { from: 'editions' }],
      ['metadata', 'json', 'Whatever was stored with the order.'],
    ]),
  },
  {
    name: 'purchases',
    type: { list: 'purchase', nullable: false },
    description: "The units that the person's orders contain, in every status; of the same editions as `orders`.",
    fields: fieldsOf('purchases[]', [
      ['product_id', 'string', 'Id of the product.', { from: 'products' }],
      ['product_name', 'string', 'Name of the product.', { namesOf: 'products' }],
      ['variant_id', 'string', 'Id of the variant.', { nullable: true, from: 'variants' }],
      ['location_id', 'string', 'Id of the location.', { nullable: true, from: 'locations' }],
      ['option_ids', strings, 'Ids of the options that were chosen.', { from: 'options' }],
      ['status', 'string', 'Status of the purchase.', { from: 'purchase_statuses' }],
      ['price_paid_minor', 'int', 'Price in minor units, without deposit and fees.'],
      ['available_uses', 'int', 'How often it may still be used.'],
      ['created', 'timestamp', 'When it was bought.'],
      ['edition_id', 'string', 'Edition of the purchase.', { from: 'editions' }],
    ]),
  },
  {
    name: 'consents',
    type: 'consents',
    description:
      "The person's latest answer to each consent, by its key. A key without an answer is an error: ask `has(consents.newsletter)`. In an edition's segment, an answer to the edition's consent goes before one to the organisation's.",
    fields: fieldsOf('consents.<key>', [
      ['status', 'string', 'What was answered last.', { from: 'consent_statuses' }],
      ['given_at', 'timestamp', 'When it was given; null unless it is given.', nullable],
      ['expires_at', 'timestamp', 'When it ends by itself.', nullable],
      ['is_current', 'bool', 'It is given, has not expired, and needs no new answer after a change of its wording.'],
    ]),
  },
  {
    name: 'stats',
    type: 'stats',
    description: 'Counted over the confirmed and completed orders of the person, in the same editions as `orders`.',
    fields: fieldsOf('stats', [
      ['order_count', 'int', 'Number of confirmed and completed orders.'],
      ['total_spent_minor', 'int', 'The sum of their amounts in minor units, of all currencies.'],
      ['purchase_count', 'int', 'Number of purchases that are active, used or expired.'],
      ['first_order_at', 'timestamp', 'When the first of these orders was placed.', nullable],
      ['last_order_at', 'timestamp', 'When the last of these orders was placed.', nullable],
    ]),
  },
  {
    name: 'campaigns',
    type: 'campaigns',
    description: 'What the person did with campaigns of the same editions as `orders`.',
    fields: fieldsOf('campaigns', [
      ['received', strings, 'Campaigns that were sent to the person.', { from: 'campaigns' }],
      ['opened', strings, 'Campaigns that the person opened.', { from: 'campaigns' }],
      ['clicked', strings, 'Campaigns in which the person followed a link.', { from: 'campaigns' }],
    ]),
  },
  {
    name: 'edition',
    type: 'edition',
    description: "The segment's edition. In a segment of the whole organisation every use of it is an error.",
    fields: fieldsOf('edition', [
      ['id', 'string', 'Id of the edition.', { from: 'editions' }],
      ['start_date', 'timestamp', 'When it starts.', nullable],
      ['end_date', 'timestamp', 'When it ends.', nullable],
    ]),
  },
  { name: 'now', type: 'timestamp', description: 'The time of the calculation.', fields: [] },
]

const elementNames: Record<string, ObjectName> = { orders: 'order', purchases: 'purchase', consents: 'consent' }

const fieldsByObject = new Map(
  variables.map(({ name, fields }) => [
    elementNames[name] ?? name,
    new Map(fields.map((field) => [field.name, field])),
  ]),
)

export const variableNamed = (name: string): Variable | undefined =>
  variables.find((variable) => variable.name === name)

export const fieldsOfObject = (object: ObjectName): ReadonlyMap<string, ExpressionField> =>
  fieldsByObject.get(object) ?? new Map<string, ExpressionField>()
