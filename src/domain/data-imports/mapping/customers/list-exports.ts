import type { SuggestedMapping, Transform } from '../mapping.ts'
import type { ImportColumn } from '../suggest/candidates.ts'
import { suggestColumns, type SuggestionInput } from '../suggest/suggest.ts'
import { buildHeaderKey } from '../targets/aliases.ts'
import { findTargetOfKind } from '../targets/fields.ts'

interface ListExport {
  source: string
  label: string
  /** Headers that every file of the system has. */
  signature: readonly string[]
  /** The headers of a target. The first that a file has counts. */
  targets: Readonly<Record<string, readonly string[]>>
  /** The time zone of its times; absent if they say it themselves. */
  time_zone?: string
}

const listExports: readonly ListExport[] = [
  {
    source: 'mailchimp',
    label: 'Mailchimp contacts',
    signature: ['LEID', 'EUID'],
    targets: {
      'customer.email': ['Email Address'],
      'customer.first_name': ['First Name'],
      'customer.last_name': ['Last Name'],
      'customer.phone_number': ['Phone Number', 'Phone'],
      'customer.subscribed_at': ['CONFIRM_TIME', 'OPTIN_TIME'],
      'customer.unsubscribed_at': ['UNSUB_TIME'],
      'customer.cleaned_at': ['CLEAN_TIME'],
      'customer.consent_place': ['CONFIRM_IP', 'OPTIN_IP'],
      'customer.metadata.tags': ['TAGS'],
    },
    time_zone: 'UTC',
  },
  {
    source: 'listmonk',
    label: 'listmonk subscribers',
    signature: ['uuid', 'email', 'attributes', 'status', 'created_at', 'updated_at'],
    targets: {
      'customer.email': ['email'],
      'customer.full_name': ['name'],
      'customer.status': ['status'],
      'customer.status_at': ['updated_at'],
      'customer.subscribed_at': ['created_at'],
      'customer.metadata': ['attributes'],
    },
    time_zone: 'UTC',
  },
  {
    source: 'keila',
    label: 'Keila contacts',
    signature: ['Email', 'First name', 'Last name', 'Data', 'Status'],
    targets: {
      'customer.email': ['Email'],
      'customer.first_name': ['First name'],
      'customer.last_name': ['Last name'],
      'customer.status': ['Status'],
      'customer.status_at': ['Updated at'],
      'customer.subscribed_at': ['Double opt-in at', 'Inserted at', 'Created at'],
      'customer.metadata': ['Data'],
      'customer.metadata.external_id': ['External ID'],
    },
    time_zone: 'UTC',
  },
]

/** Headers of other mailing lists. */
const generalTargets: ListExport['targets'] = {
  'customer.status': ['Status', 'Email status', 'Subscription status', 'Subscriber status', 'Marketing status'],
  'customer.subscribed_at': ['Subscribed at', 'Subscription date', 'Opt-in time', 'Opt-in date', 'Confirmed at'],
  'customer.unsubscribed_at': ['Unsubscribed at', 'Unsubscribe date', 'Opt-out time', 'Opt-out date', 'UNSUB_TIME'],
  'customer.cleaned_at': ['Cleaned at', 'Bounced at', 'CLEAN_TIME'],
  'customer.consent_place': ['Signup source', 'Opt-in source', 'Consent source', 'Sign-up form', 'Signup form'],
}

const indexColumns = (headers: readonly string[]): ReadonlyMap<string, number> =>
  new Map(headers.map((header, index) => [buildHeaderKey(header), index] as const).toReversed())

/** Finds the mailing list whose export has these headers. */
function findExport(headers: readonly string[]): ListExport | null {
  const byKey = indexColumns(headers)
  return listExports.find(({ signature }) => signature.every((name) => byKey.has(buildHeaderKey(name)))) ?? null
}

const presetConfidence = 0.97

/** Names the mailing list whose export has these headers. */
export function detectListSource(headers: readonly string[]) {
  const listExport = findExport(headers)
  return listExport && { source: listExport.source, label: listExport.label, confidence: presetConfidence }
}

function mapTargets(
  targets: ListExport['targets'],
  columns: readonly ImportColumn[],
  { time_zone, ...origin }: Pick<SuggestedMapping, 'confidence' | 'reason'> & { time_zone?: string | undefined },
): SuggestedMapping[] {
  const byKey = indexColumns(columns.map(({ header }) => header))
  const transform: Transform | undefined = time_zone === undefined ? undefined : { type: 'date', time_zone }
  return Object.entries(targets).flatMap(([target, names]): SuggestedMapping[] => {
    // Old lists have a time of opting in and none of confirming, so a column without cells is no column.
    const matches = names.flatMap((name) => byKey.get(buildHeaderKey(name)) ?? [])
    const column = matches.find((index) => columns[index]?.statistics?.filled_cells !== 0) ?? matches[0]
    if (column === undefined) return []
    const isInstant = findTargetOfKind('customers', target)?.type === 'instant'
    return [{ target, columns: [column], ...origin, ...(isInstant && transform ? { transform } : {}) }]
  })
}

/** Suggests the columns of customers. An earlier mapping wins over the format of a known system, and that over general rules. */
export function suggestCustomers(input: SuggestionInput) {
  const headers = input.columns.map(({ header }) => header)
  const listExport = findExport(headers)
  const generalMappings = suggestColumns(input).mappings.filter(
    ({ target }) => findTargetOfKind('customers', target, input.consents) !== null,
  )
  const candidates = [
    ...generalMappings.filter(({ reason }) => reason === 'history'),
    ...(listExport
      ? mapTargets(listExport.targets, input.columns, {
          confidence: presetConfidence,
          reason: 'preset',
          time_zone: listExport.time_zone,
        })
      : []),
    ...mapTargets(generalTargets, input.columns, { confidence: 0.92, reason: 'alias' }),
    ...generalMappings,
  ]
  const isLeftOut = (column: number): boolean =>
    input.earlierTargets?.get(buildHeaderKey(headers[column] ?? '')) === null
  const usedTargets = new Set<string>()
  const usedColumns = new Set<number>()
  const mappings = candidates.filter(({ target, columns }) => {
    const isOpen = !usedTargets.has(target) && !columns.some((column) => usedColumns.has(column) || isLeftOut(column))
    if (isOpen) {
      usedTargets.add(target)
      for (const column of columns) usedColumns.add(column)
    }
    return isOpen
  })
  return { mappings, isKnownExport: listExport !== null }
}
