export interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  $ref?: string
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  enum?: unknown[]
  description?: string
}

interface Media {
  content?: Record<string, { schema: Schema }>
}

interface Described {
  responses: Record<string, Media>
  requestBody?: Media
}

export interface DescribedDocument {
  paths: Record<string, Record<string, Described>>
  webhooks: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

export interface NullableField {
  /** The component, or the kind of an event. */
  resource: string
  field: string
  description: string
}

const partsOf = (schema: Schema): Schema[] => [
  ...(schema.anyOf ?? []),
  ...(schema.oneOf ?? []),
  ...(schema.allOf ?? []),
]

const mayBeNull = (schema: Schema): boolean =>
  [schema.type].flat().includes('null') || (schema.enum?.includes(null) ?? false) || partsOf(schema).some(mayBeNull)

function fieldsOf(resource: string, schema: Schema, at = ''): NullableField[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    ...(mayBeNull(property) ? [{ resource, field: at + name, description: property.description ?? '' }] : []),
    ...fieldsOf(resource, property, `${at}${name}.`),
  ])
  const items = schema.items ? fieldsOf(resource, schema.items, at.replace(/\.$/, '[].')) : []
  return [...own, ...items, ...partsOf(schema).flatMap((part) => fieldsOf(resource, part, at))]
}

const schemasIn = (media: Media): Schema[] => Object.values(media.content ?? {}).map(({ schema }) => schema)

/** Names of the components that answers are made of; bodies of requests are not. */
function answered(document: DescribedDocument, roots: readonly Schema[]): string[] {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (names.has(name)) continue
      names.add(name)
      visit(document.components.schemas[name])
    }
  }
  visit(roots)
  return [...names]
}

/** The neighbours of a page and the place of an error are the same everywhere, and documented with lists and errors. */
const isCommon = ({ resource, field }: NullableField): boolean =>
  resource.includes('Problem') || field === 'next' || field === 'previous'

/** Every field of answers and of requests to webhook endpoints that may be null. */
export function nullableFields(document: DescribedDocument): NullableField[] {
  const responses = Object.values(document.paths)
    .flatMap((path) => Object.entries(path))
    .flatMap(([, operation]) => Object.values(operation.responses ?? {}).flatMap(schemasIn))
  const events = Object.entries(document.webhooks).flatMap(([kind, methods]) =>
    Object.values(methods).flatMap((event) =>
      schemasIn(event.requestBody ?? {}).flatMap((schema) => fieldsOf(kind, schema)),
    ),
  )
  const fields = [
    ...answered(document, responses).flatMap((name) => fieldsOf(name, document.components.schemas[name] ?? {})),
    ...responses.flatMap((schema) => fieldsOf('', schema)),
    ...events,
  ]
  const unique = new Map(fields.map((field) => [`${field.resource} ${field.field}`, field]))
  return [...unique.values()].filter((field) => !isCommon(field))
}

/** Where the tables of the specification write `type | null`. */
const inSpecification: Record<string, readonly string[]> = {
  CampaignList: ['organization_id', 'edition_id', 'scheduled_at'],
  CampaignDetail: ['organization_id', 'edition_id', 'email_message_id', 'scheduled_at', 'started_at', 'completed_at'],
  WebhookEndpoint: ['organization_id', 'edition_id'],
  WebhookEndpointDetail: ['organization_id', 'edition_id'],
  WebhookDelivery: ['response_status_code', 'last_attempt_at', 'next_retry_at'],
  WebhookDeliveryDetail: ['response_status_code', 'last_attempt_at', 'next_retry_at'],
  EditionDetail: [
    'start_date',
    'end_date',
    'published_at',
    'fee_rule_id',
    'merchant_account_id',
    'meta_image_id',
    'transaction_receipt_email_id',
    'refund_confirmation_email_id',
  ],
  OrderDetail: ['completed_transaction_id', 'order_number'],
  User: ['phone_number', 'last_seen'],
}

const tableOf = (fields: readonly NullableField[]): string =>
  [
    '| Resource | Field | |',
    '| --- | --- | --- |',
    ...fields.map(({ resource, field, description }) => `| ${resource} | \`${field}\` | ${description} |`),
  ].join('\n')

/** The page of all fields that may be null, with when they are. */
export function nullsPage(document: DescribedDocument): string {
  const isGiven = ({ resource, field }: NullableField) => inSpecification[resource]?.includes(field) ?? false
  const fields = nullableFields(document)
  return `# Where null goes out

Made from the OpenAPI document by \`npm run readme\`: the schemas say the same. \`next\` and \`previous\` of a list are null
at its ends; \`attr\` and \`pointer\` of an error are null when it is about no field.

## Beyond the specification

Its tables give another type for these fields, or do not show them.

${tableOf(fields.filter((field) => !isGiven(field)))}

## As the specification gives it

${tableOf(fields.filter(isGiven))}
`
}
