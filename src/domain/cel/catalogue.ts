import type { ListType, ObjectName, Type, ValueKind } from './types.ts'

export interface ExpressionField {
  /** Examples are `user.email`, `orders[].status` or `consents.<key>.status`. */
  path: string
  /** The type that has the field. */
  object: ObjectName
  name: string
  type: Type
  nullable: boolean
  description: string
  values_from?: ValueKind
  /** The kind of values whose names the field holds, if it holds names. */
  names_of?: ValueKind
}

export interface Variable {
  name: string
  type: Type
  description: string
  fields: ExpressionField[]
}

const textList: ListType = { list: 'string', nullable: false }

type FieldOptions = { nullable?: true; from?: ValueKind; namesOf?: ValueKind }
type FieldEntry = readonly [name: string, type: Type, description: string, options?: FieldOptions]

const buildFields = (prefix: string, object: ObjectName, entries: readonly FieldEntry[]): ExpressionField[] =>
  entries.map(([name, type, description, options]) => ({
    path: `${prefix}.${name}`,
    object,
    name,
    type,
    nullable: options?.nullable ?? false,
    description,
    ...(options?.from ? { values_from: options.from } : {}),
    ...(options?.namesOf ? { names_of: options.namesOf } : {}),
  }))

const nullable = { nullable: true } as const

export const variables: readonly Variable[] = [
  {
    name: 'user',
    type: 'user',
    description:
      'The person being tested. In a segment of an edition, contact data and metadata are those that the edition received.',
    fields: buildFields('user', 'user', [
      ['id', 'string', 'Id of the person.'],
      ['email', 'string', 'E-mail address, lower case.', nullable],
      ['phone_number', 'string', 'Phone number in E.164 format, such as +4532123456.', nullable],
      ['first_name', 'string', 'First name, or an empty text.'],
      ['last_name', 'string', 'Last name, or an empty text.'],
      ['locale', 'string', 'Language of the person.', { from: 'locales' }],
      ['is_verified', 'bool', 'True when the e-mail address is confirmed.'],
      ['is_active', 'bool', 'False when the person was deactivated.'],
      ['date_joined', 'timestamp', 'When the person was added.'],
      ['last_seen', 'timestamp', 'When the person was last active.', nullable],
      ['has_email', 'bool', 'True when the person has an e-mail address.'],
      ['has_phone', 'bool', 'True when the person has a phone number.'],
      ['metadata', 'json', 'Custom data of the person. Numbers are doubles, and a missing key is an error.'],
    ]),
  },
  {
    name: 'orders',
    type: { list: 'order', nullable: false },
    description:
      "The person's orders in every status. A segment of an edition sees the orders of that edition, and a segment of the organisation sees all.",
    fields: buildFields('orders[]', 'order', [
      ['id', 'string', 'Id of the order.'],
      ['status', 'string', 'Status of the order.', { from: 'order_statuses' }],
      ['type', 'string', 'How the order was placed.', { from: 'order_types' }],
      ['amount_minor', 'int', 'Total in minor units, such as cents.'],
      ['currency', 'string', 'Currency of the amount.', { from: 'currencies' }],
      ['created', 'timestamp', 'When the order was placed.'],
      ['edition_id', 'string', 'Edition of the order.', { from: 'editions' }],
      ['metadata', 'json', 'Custom data of the order.'],
    ]),
  },
  {
    name: 'purchases',
    type: { list: 'purchase', nullable: false },
    description: 'The units that the person bought, in every status, in the same editions as `orders`.',
    fields: [
      ...buildFields('purchases[]', 'purchase', [
        ['product_id', 'string', 'Id of the product.', { from: 'products' }],
        ['product_name', 'string', 'Name of the product.', { namesOf: 'products' }],
        ['variant_id', 'string', 'Id of the variant.', { nullable: true, from: 'variants' }],
        ['location_id', 'string', 'Id of the location.', { nullable: true, from: 'locations' }],
        ['option_ids', textList, 'Ids of the chosen options.', { from: 'options' }],
        ['status', 'string', 'Status of the purchase.', { from: 'purchase_statuses' }],
        ['price_paid_minor', 'int', 'Price paid in minor units: after the discount, without deposit and fees.'],
        ['available_uses', 'int', 'How many times the purchase can still be used.'],
        ['created', 'timestamp', 'When it was bought.'],
        ['edition_id', 'string', 'Edition of the purchase.', { from: 'editions' }],
        ['uses', { list: 'use', nullable: false }, 'Uses of the purchase, such as check-ins, without reverted ones.'],
      ]),
      ...buildFields('purchases[].uses[]', 'use', [
        ['used_at', 'timestamp', 'When the purchase was used.'],
        ['location_id', 'string', 'Id of the location.', { nullable: true, from: 'locations' }],
        ['quantity', 'int', 'How many of its uses it took.'],
      ]),
    ],
  },
  {
    name: 'consents',
    type: 'consents',
    description:
      "The person's latest answer to each consent, by key. A key without an answer is an error, so test it with `has(consents.newsletter)` first. In a segment of an edition, the consent of the edition takes precedence over one of the organisation.",
    fields: buildFields('consents.<key>', 'consent', [
      ['status', 'string', 'The latest answer.', { from: 'consent_statuses' }],
      ['given_at', 'timestamp', 'When the consent was given; null unless the status is `given`.', nullable],
      ['expires_at', 'timestamp', 'When the consent expires.', nullable],
      ['is_current', 'bool', 'True when the consent is given, has not expired and covers the current wording.'],
    ]),
  },
  {
    name: 'stats',
    type: 'stats',
    description: 'Numbers about the confirmed and completed orders of the person, in the same editions as `orders`.',
    fields: buildFields('stats', 'stats', [
      ['order_count', 'int', 'Number of confirmed and completed orders.'],
      ['total_spent_minor', 'int', 'Sum of their amounts in minor units, across currencies.'],
      ['purchase_count', 'int', 'Number of active, used and expired purchases.'],
      ['first_order_at', 'timestamp', 'When the first of these orders was placed.', nullable],
      ['last_order_at', 'timestamp', 'When the last of these orders was placed.', nullable],
    ]),
  },
  {
    name: 'campaigns',
    type: 'campaigns',
    description: 'Campaigns that the person was a recipient of, in the same editions as `orders`.',
    fields: [
      ...buildFields('campaigns', 'campaigns', [
        ['received', textList, 'Campaigns that were sent to the person.', { from: 'campaigns' }],
        ['opened', textList, 'Campaigns that the person opened.', { from: 'campaigns' }],
        ['clicked', textList, 'Campaigns in which the person clicked a link.', { from: 'campaigns' }],
        [
          'messages',
          { list: 'campaign_message', nullable: false },
          'What became of each campaign for the person. A campaign that still sends to the person is not among them.',
        ],
      ]),
      ...buildFields('campaigns.messages[]', 'campaign_message', [
        ['campaign_id', 'string', 'Id of the campaign.', { from: 'campaigns' }],
        ['state', 'string', 'What became of the message.', { from: 'message_states' }],
        [
          'reason',
          'string',
          'Why the person was skipped or the message failed.',
          { nullable: true, from: 'message_reasons' },
        ],
        ['sent_at', 'timestamp', 'When the provider accepted the message.', nullable],
        ['delivered_at', 'timestamp', 'When the message reached the person.', nullable],
        ['opened_at', 'timestamp', 'When the person first opened the message.', nullable],
        ['clicked_at', 'timestamp', 'When the person first clicked a link.', nullable],
        ['clicked_links', textList, 'Addresses of the links that the person clicked.', { from: 'campaign_links' }],
        ['bounced_at', 'timestamp', 'When the message bounced.', nullable],
        ['complained_at', 'timestamp', 'When the person reported the message as spam.', nullable],
        ['unsubscribed_at', 'timestamp', 'When the person unsubscribed through the message.', nullable],
      ]),
    ],
  },
  {
    name: 'edition',
    type: 'edition',
    description: 'The edition of the segment. In a segment of the whole organisation, using it is an error.',
    fields: buildFields('edition', 'edition', [
      ['id', 'string', 'Id of the edition.', { from: 'editions' }],
      ['timezone', 'string', 'Time zone of the edition, such as Europe/Copenhagen.'],
      ['start_date', 'timestamp', 'When the edition starts.', nullable],
      ['end_date', 'timestamp', 'When the edition ends.', nullable],
    ]),
  },
  { name: 'now', type: 'timestamp', description: 'The time of the calculation.', fields: [] },
]

const fieldsByObject = new Map(
  [
    ...Map.groupBy(
      variables.flatMap(({ fields }) => fields),
      ({ object }) => object,
    ),
  ].map(([object, fields]) => [object, new Map(fields.map((field) => [field.name, field]))]),
)

export const findVariable = (name: string): Variable | undefined => variables.find((variable) => variable.name === name)

export const fieldsOfObject = (object: ObjectName): ReadonlyMap<string, ExpressionField> =>
  fieldsByObject.get(object) ?? new Map<string, ExpressionField>()
