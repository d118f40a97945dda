import type { CelInput } from '@bufbuild/cel'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import { now, type Row, type Tenant } from './people.ts'

export type Bindings = Record<string, CelInput>

const time = (ms: unknown): CelInput => (ms === null || ms === undefined ? null : timestampFromMs(Number(ms)))
const int = (value: unknown): bigint => BigInt(Number(value))
const json = (text: unknown): CelInput => convertToCel(JSON.parse(String(text)))

/** Converts JSON to CEL values: maps and lists, and numbers as doubles. */
function convertToCel(value: unknown): CelInput {
  if (Array.isArray(value)) return value.map(convertToCel)
  if (typeof value !== 'object' || value === null) return value as CelInput
  return new Map(Object.entries(value).map(([key, inner]) => [key, convertToCel(inner)]))
}

const pickColumns = (row: Row, names: string): Record<string, CelInput> =>
  Object.fromEntries(names.split(' ').map((name) => [name, row[name] as CelInput]))

function buildConsents(tenant: Tenant, records: readonly Row[], editionId: string | null): CelInput {
  const consents = new Map<string, CelInput>()
  const candidates = (tenant.tables['consents'] ?? []).filter(
    ({ edition_id }) => edition_id === null || edition_id === editionId,
  )
  // The edition's own definition replaces the organisation's.
  const definitions = candidates.filter(
    ({ edition_id, key }) =>
      edition_id !== null || !candidates.some((other) => other['edition_id'] && other['key'] === key),
  )
  for (const definition of definitions) {
    const record = records.find(({ consent_id, is_latest }) => consent_id === definition['id'] && is_latest === 1)
    if (!record) continue
    const { status, expires_at } = record
    const isStale =
      definition['reconsent_on_change'] === 1 &&
      Number(record['consent_version']) < Number(definition['wording_version'])
    consents.set(
      String(definition['key']),
      new Map<string, CelInput>([
        ['status', status as string],
        ['given_at', status === 'given' ? time(record['occurred_at']) : null],
        ['expires_at', time(expires_at)],
        ['is_current', status === 'given' && (expires_at === null || Number(expires_at) > now) && !isStale],
      ]),
    )
  }
  return consents
}

/** The person as editions see them: with the values of the edition that they joined last. */
function seenBy(editions: readonly string[] | null, user: Row, memberships: readonly Row[]): Row {
  if (editions === null) return user
  const latest = memberships.findLast(({ edition_id }) => editions.includes(String(edition_id)))
  return {
    ...user,
    email: latest?.['email'] ?? null,
    phone_number: latest?.['phone_number'] ?? null,
    first_name: latest?.['first_name'] ?? '',
    last_name: latest?.['last_name'] ?? '',
    locale: latest?.['locale'] ?? '',
    is_verified: 0,
    created_at: latest?.['created_at'] ?? 0,
    last_seen_at: null,
    metadata: latest?.['metadata'] ?? '{}',
  }
}

/** Builds the variables of an expression for each person from the rows, without any SQL. */
export function buildBindings(
  tenant: Tenant,
  { editionId, editions }: { editionId: string | null; editions: readonly string[] | null },
): { id: string; bindings: Bindings }[] {
  const { tables } = tenant
  const listRows = (table: string, user: Row) => (tables[table] ?? []).filter(({ user_id }) => user_id === user['id'])
  const placeOf = new Map((tables['campaigns'] ?? []).map(({ id, edition_id }) => [id, edition_id]))
  const isSeen = (row: Row) =>
    editions === null || editions.includes(String(row['edition_id'] ?? placeOf.get(row['campaign_id'] ?? '')))
  const urls = new Map(
    (tables['campaign_links'] ?? []).map((row) => [`${row['campaign_id']} ${row['position']}`, row['url']]),
  )
  const listLinks = ({ campaign_id, clicked_links }: Row) =>
    (JSON.parse(String(clicked_links ?? '[]')) as number[]).map(
      (position) => urls.get(`${campaign_id} ${position}`) as string,
    )
  const names = new Map((tables['products'] ?? []).map(({ id, name }) => [id, name as string]))
  const edition = (tables['editions'] ?? []).find(({ id }) => id === editionId)
  return (tables['users'] ?? []).map((stored) => {
    const user = seenBy(editions, stored, listRows('edition_customers', stored))
    const orders = listRows('orders', user).filter(isSeen)
    const purchases = listRows('purchases', user).filter(isSeen)
    const receipts = listRows('campaign_receipts', user).filter(isSeen)
    const counted = orders.filter(({ status }) => status === 'confirmed' || status === 'completed')
    const times = counted.map(({ created_at }) => Number(created_at))
    const campaigns = (stamp: string) =>
      receipts.filter((row) => row[stamp] !== null).map(({ campaign_id }) => campaign_id as string)
    const bindings: Bindings = {
      now: time(now),
      user: {
        ...pickColumns(user, 'id email phone_number first_name last_name locale'),
        is_verified: user['is_verified'] === 1,
        is_active: user['is_active'] === 1,
        date_joined: time(user['created_at']),
        last_seen: time(user['last_seen_at']),
        has_email: user['email'] !== null,
        has_phone: user['phone_number'] !== null,
        metadata: json(user['metadata']),
      },
      orders: orders.map((row) => ({
        ...pickColumns(row, 'id status type currency edition_id'),

        amount_minor: int(row['amount_minor']),
        created: time(row['created_at']),
        metadata: json(row['metadata']),
      })),
      purchases: purchases.map((row) => ({
        ...pickColumns(row, 'product_id variant_id location_id status edition_id'),
        product_name: names.get(row['product_id'] ?? '') ?? null,
        created: time(row['created_at']),
        uses: (tables['purchase_uses'] ?? [])
          .filter(({ purchase_id, reverted_at }) => purchase_id === row['id'] && reverted_at === null)
          .map((use) => ({
            used_at: time(use['used_at']),
            location_id: use['location_id'] ?? null,
            quantity: int(use['quantity']),
          })),
        option_ids: (JSON.parse(String(row['options'])) as { api_id: string }[]).map(({ api_id }) => api_id),
        price_paid_minor: int(row['price_minor']),
        available_uses: ['active', 'used'].includes(String(row['status']))
          ? int(
              row['is_unlimited_use'] === 1
                ? Number(row['uses_limit'])
                : Math.max(0, Number(row['uses_limit']) - Number(row['uses_count'])),
            )
          : 0n,
      })),
      consents: buildConsents(tenant, listRows('consent_records', user), editionId),
      stats: {
        order_count: int(counted.length),
        first_order_at: times.length ? time(Math.min(...times)) : null,
        total_spent_minor: int(counted.reduce((sum, { amount_minor }) => sum + Number(amount_minor), 0)),
        purchase_count: int(
          purchases.filter(({ status }) => ['active', 'used', 'expired'].includes(String(status))).length,
        ),
        last_order_at: times.length ? time(Math.max(...times)) : null,
      },
      campaigns: {
        received: campaigns('received_at'),
        opened: campaigns('opened_at'),
        clicked: campaigns('clicked_at'),
        messages: receipts.map((row) => ({
          ...pickColumns(row, 'campaign_id state reason'),
          sent_at: time(row['received_at']),
          delivered_at: time(row['delivered_at']),
          opened_at: time(row['opened_at']),
          clicked_at: time(row['clicked_at']),
          clicked_links: listLinks(row),
          bounced_at: time(row['bounced_at']),
          complained_at: time(row['complained_at']),
          unsubscribed_at: time(row['unsubscribed_at']),
        })),
      },
      ...(edition
        ? {
            edition: {
              id: String(editionId),
              timezone: String(edition['timezone']),
              start_date: time(edition['start_at']),
              end_date: time(edition['end_at']),
            },
          }
        : {}),
    }
    return { id: String(user['id']), bindings }
  })
}
