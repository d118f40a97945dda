import { type SubscriptionStatus, subscriptionStatuses } from '../../../accounts/imported-users.ts'
import { isRecord } from '../../../text/json.ts'
import { findWord } from '../../../text/text.ts'
import { toIso } from '../../../time/instants.ts'
import { isLeftOut } from '../rows/order.ts'
import type { DecidedRow, OrderError, OrderWarning, PlacedRow } from '../rows/row.ts'

type Values = DecidedRow['values']

export interface MappedCustomer {
  lines: readonly number[]
  /** The customer as a client would send it to `importUsers`. Null for one with an error. */
  customer: Record<string, unknown> | null
  errors: readonly OrderError[]
  warnings: readonly OrderWarning[]
}

/** Merges the rows of a person. The first row that has a value counts. */
function mergeValues(rows: readonly PlacedRow[]): Values {
  const values: Record<string, Values[string]> = {}
  for (const row of rows)
    for (const [target, value] of Object.entries(row.values)) if (!Object.hasOwn(values, target)) values[target] = value
  return values
}

/** Several rows of a person may have several statuses, of which the strictest counts. */
const strictness: readonly SubscriptionStatus[] = ['subscribed', 'unconfirmed', 'unsubscribed', 'cleaned', 'complained']

interface Subscription {
  status: SubscriptionStatus
  at: number | null
}

const getInstant = (values: Values, target: string): number | null => {
  const value = values[target]
  return typeof value === 'number' ? value : null
}

/** Reads the statuses that the columns of a row say. Lists of people who left have no status, but a time. */
function listSubscriptions({ values }: PlacedRow): Subscription[] {
  const status = values['customer.status']
  const word = typeof status === 'string' ? findWord(subscriptionStatuses, status) : null
  const cleaned_at = getInstant(values, 'customer.cleaned_at')
  const unsubscribed_at = getInstant(values, 'customer.unsubscribed_at')
  const timesByStatus = { unsubscribed: unsubscribed_at, cleaned: cleaned_at } as const
  const time = word === 'unsubscribed' || word === 'cleaned' ? timesByStatus[word] : null
  return [
    ...(word ? [{ status: word, at: time ?? getInstant(values, 'customer.status_at') }] : []),
    ...(cleaned_at === null ? [] : [{ status: 'cleaned' as const, at: cleaned_at }]),
    ...(unsubscribed_at === null ? [] : [{ status: 'unsubscribed' as const, at: unsubscribed_at }]),
  ]
}

const pickStrictest = (subscriptions: readonly Subscription[]): Subscription | null =>
  subscriptions.reduce<Subscription | null>(
    (strictest, one) =>
      strictest && strictness.indexOf(strictest.status) >= strictness.indexOf(one.status) ? strictest : one,
    null,
  )

/** False means that the question was skipped, if the import says so. */
function readConsents(values: Values, falseMeansSkipped: boolean): Record<string, object> {
  const subscribedAt = getInstant(values, 'customer.subscribed_at')
  const details = {
    ...(subscribedAt === null ? {} : { occurred_at: toIso(subscribedAt) }),
    ...(values['customer.consent_place'] === undefined ? {} : { place: values['customer.consent_place'] }),
  }
  const prefix = 'consent.'
  return Object.fromEntries(
    Object.entries(values).flatMap(([target, value]) => {
      if (!target.startsWith(prefix) || (value !== true && !(value === false && falseMeansSkipped))) return []
      return [[target.slice(prefix.length), { status: value ? 'given' : 'skipped', ...details }]]
    }),
  )
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

function readMetadata(values: Values): { metadata: Record<string, unknown>; isUnreadable: boolean } {
  const text = values['customer.metadata']
  const object = typeof text === 'string' ? parseObject(text) : {}
  const prefix = 'customer.metadata.'
  const namedEntries = Object.entries(values).flatMap(([target, value]) =>
    target.startsWith(prefix) ? [[target.slice(prefix.length), value] as const] : [],
  )
  return { metadata: { ...object, ...Object.fromEntries(namedEntries) }, isUnreadable: object === null }
}

const toWarning = ({ row, message, target_field }: OrderError): OrderWarning => ({
  row,
  code: target_field === 'customer.phone_number' ? 'phone_not_taken' : 'unsupported_language',
  message: `${message} The customer is imported without it.`,
})

const contactTargets = ['email', 'phone_number', 'first_name', 'last_name', 'full_name', 'locale'] as const

const removeMissing = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined))

/** Maps the rows of a person to a customer. */
export function mapCustomer(rows: readonly PlacedRow[], options: { skipped: boolean }): MappedCustomer {
  const values = mergeValues(rows)
  const rowErrors = rows.flatMap((row) => row.errors.map((error) => ({ ...error, row: row.line })))
  const leftOut = rowErrors.filter((error) => isLeftOut(error, values['customer.email'] !== undefined))
  const errors = rowErrors.filter((error) => !leftOut.includes(error))
  const { metadata, isUnreadable } = readMetadata(values)
  const first = rows[0]?.line ?? 0
  const warnings: OrderWarning[] = [
    ...leftOut.map(toWarning),
    ...(isUnreadable
      ? [
          {
            row: first,
            code: 'metadata_cut' as const,
            message: 'The metadata are no JSON object, so they are left out.',
          },
        ]
      : []),
  ]
  const lines = rows.map(({ line }) => line)
  if (errors.length > 0) return { lines, customer: null, errors, warnings }
  const subscription = pickStrictest(rows.flatMap(listSubscriptions))
  const customer = removeMissing({
    ...Object.fromEntries(contactTargets.map((name) => [name, values[`customer.${name}`]])),
    metadata: Object.keys(metadata).length > 0 ? metadata : null,
    status: subscription?.status,
    status_at: subscription?.at == null ? null : toIso(subscription.at),
    consents: readConsents(values, options.skipped),
  })
  return { lines, customer, errors, warnings }
}
