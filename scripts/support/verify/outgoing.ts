import { formatMoney } from '../../../src/domain/money.ts'
import { type Query } from './query.ts'

interface OutgoingRow {
  what: string
  organization_id: string | null
  edition_id: string | null
  /** Null where the number is not known yet. */
  count: number | null
  oldest: number | null
  amount_minor?: number
  currency?: string
}

/** The work that goes out of one edition, or of an organisation beside its editions. */
interface Outgoing {
  /** For example "3 receipts". */
  what: string
  organization_id: string | null
  edition_id: string | null
  /** The time at which the oldest was due or created, in milliseconds UTC. */
  oldest: number | null
}

const names: Readonly<Record<string, string>> = {
  receipt: 'receipts',
  consent_confirmation: 'e-mails to confirm a consent',
  signup_confirmation: 'e-mails to confirm a sign-up',
  sign_in_code: 'codes to sign in',
  test_message: 'test messages',
}

/** Each statement reads an index of what waits. */
const statements: readonly string[] = [
  `select iif(status = 'sending', 'messages of the ', '') || 'campaign ' || id || ' "' || name || '", which is ' || status
        || iif(paused_at is null, '', ' and paused') as what,
      organization_id, edition_id,
      iif(status = 'sending', total_recipients - sent_count - failed_count, null) as count,
      coalesce(started_at, scheduled_at) as oldest
    from campaigns where status in ('scheduled', 'calculating', 'sending')`,
  `select kind as what, organization_id, edition_id, count(*) as count, min(created_at) as oldest
    from transactional_emails where status = 'pending' group by 1, 2, 3`,
  `select 'webhook deliveries to ' || endpoint_id as what, organization_id, webhook_endpoints.edition_id,
      count(*) as count, min(webhook_deliveries.created_at) as oldest
    from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id
    where status in ('pending', 'retrying') group by endpoint_id`,
  `select 'refunds' as what, organization_id, edition_id, count(*) as count, min(created_at) as oldest,
      sum(coalesce(approved_minor, requested_minor)) as amount_minor, currency
    from refund_requests where due_at is not null group by organization_id, edition_id, currency`,
  `select 'refund batches that request refunds' as what, organization_id, edition_id, count(*) as count,
      min(created_at) as oldest
    from refund_batches where due_at is not null and started_at is not null group by 2, 3`,
  `select 'passes to update' as what, organization_id, edition_id, count(*) as count, min(changed_at) as oldest
    from wallet_passes where due_at is not null group by 2, 3`,
  `select 'changes of all passes to report to Google' as what, organization_id, edition_id, count(*) as count,
      min(nullif(due_at, 0)) as oldest
    from wallet_editions join editions on editions.id = edition_id where due_at is not null group by 2, 3`,
]

function describe({ what, count, amount_minor, currency }: OutgoingRow): string {
  const amount = amount_minor === undefined || currency === undefined ? '' : `, ${formatMoney(amount_minor, currency)}`
  return `${count === null ? '' : `${count} `}${names[what] ?? what.replaceAll('refund_', 'refund ')}${amount}`
}

/** Lists everything that waits to be sent, posted or paid, in all organisations. */
async function listOutgoing(query: Query): Promise<Outgoing[]> {
  const lists: OutgoingRow[][] = []
  for (const statement of statements) lists.push(await query<OutgoingRow>(statement))
  return lists.flat().map((row) => ({
    what: describe(row),
    organization_id: row.organization_id,
    edition_id: row.edition_id,
    oldest: row.oldest,
  }))
}

interface Place {
  organization: string
  edition: string
}

async function listPlaces(query: Query, rows: readonly Outgoing[]): Promise<Map<string, Place>> {
  const ids = JSON.stringify([
    ...new Set(rows.flatMap(({ edition_id, organization_id }) => edition_id ?? organization_id ?? [])),
  ])
  const places = await query<Place & { id: string }>(
    `select editions.id, organizations.name as organization, full_name as edition
      from editions join organizations on organizations.id = organization_id
      where editions.id in (select value from json_each('${ids}'))
      union all select id, name, '' from organizations where id in (select value from json_each('${ids}'))`,
  )
  return new Map(places.map(({ id, organization, edition }) => [id, { organization, edition }]))
}

/** Formats what goes out, by organisation and edition. */
export async function formatOutgoing(query: Query): Promise<string[]> {
  const rows = await listOutgoing(query)
  const places = await listPlaces(query, rows)
  const groups = Map.groupBy(rows, ({ edition_id, organization_id }) => {
    const id = edition_id ?? organization_id
    if (id === null) return 'Of no organisation'
    const { organization, edition } = places.get(id) ?? { organization: id, edition: '' }
    return `${[organization, edition].filter(Boolean).join(', ')} (${id})`
  })
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([place, list]) => [
      `${place}:`,
      ...list.map(
        ({ what, oldest }) => `  ${what}${oldest === null ? '' : `, since ${new Date(oldest).toISOString()}`}`,
      ),
    ])
}
