import { env } from 'cloudflare:workers'

/** Returns numbers from 0 up to 1, the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const now = Date.parse('2026-06-01T08:00:00.000Z')
const day = 86_400_000
/** The zone of the first edition of a tenant. */
export const timezone = 'Europe/Copenhagen'

export interface Row {
  [column: string]: string | number | null
}

/** Everything that the segments of one organisation can ask for, as rows of the tables. */
export interface Tenant {
  organizationId: string
  editionId: string
  tables: Record<string, Row[]>
}

const columns: Record<string, Row> = {
  organizations: { name: 'Org' },
  events: { name: 'Event' },
  editions: { default_language: 'en' },
}

/** Adds rows to tables whose other columns do not matter here. */
async function insert(table: string, rows: readonly Row[]): Promise<void> {
  const info = await env.DB.prepare('select name, type, "notnull", dflt_value from pragma_table_info(?)')
    .bind(table)
    .all<{ name: string; type: string; notnull: number; dflt_value: string | null }>()
  const fill: Row = { ...columns[table] }
  for (const { name, type, notnull, dflt_value } of info.results)
    if (notnull && dflt_value === null && !(name in fill)) fill[name] = type === 'TEXT' ? '{}' : 0
  for (let at = 0; at < rows.length; at += 400) {
    const some = rows.slice(at, at + 400).map((row) => ({ ...fill, ...row }))
    const names = Object.keys(some[0] ?? {}).filter((name) => info.results.some((column) => column.name === name))
    const values = names.map((name) => `value ->> '$.${name}'`).join(', ')
    await env.DB.prepare(`insert into ${table} (${names.join(', ')}) select ${values} from json_each(?)`)
      .bind(JSON.stringify(some))
      .run()
  }
}

const texts = [
  '',
  'a',
  'A',
  'Ægir',
  'ægir',
  "O'Brien",
  '50%_off',
  'x"y',
  'ÅB',
  '😀',
  '👩‍👩‍👧',
  'Zoë',
  'a\\b',
  '-- ; drop',
  'å'.repeat(30),
]
const metadataValues: unknown[] = [
  'gold',
  'å',
  '5',
  '-07',
  'true',
  null,
  true,
  false,
  0,
  1,
  -1,
  5,
  2.5,
  1e15,
  ['a', 'b', 1, null, true],
  [],
  {},
  { b: 1 },
  { b: 'x', c: ['a'] },
  ['gold'],
  [1, 2, 3],
  { a: { b: 'deep' } },
]
const links = ['https://example.dk/a', 'https://example.dk/?q=\'"', 'a']
export const metadataKeys = ['tier', 'level', 'tags', 'a', 'k.dot', 'k"quote', 'k$', 'k\\', 'é', "k'", '0', ' ']

export function createTenant(name: string, people: number, seed: number): Tenant {
  const random = createRandom(seed)
  const int = (limit: number) => Math.floor(random() * limit)
  const pick = <T>(from: readonly T[]): T => from[int(from.length)] as T
  const maybe = <T>(value: T): T | null => (random() < 0.6 ? value : null)
  const randomTime = () => now - int(1000) * day - int(3) * 3_600_000 + int(2) * 1
  const organization_id = `org_${name}`
  const editions = [`edt_${name}_1`, `edt_${name}_2`]
  const id = (kind: string, number: number) => `${kind}_${name}_${number}`
  const metadata = () => {
    const entries = metadataKeys.filter(() => random() < 0.4).map((key) => [key, pick(metadataValues)])
    return JSON.stringify(Object.fromEntries(entries))
  }
  const base = { organization_id, created_at: now, modified_at: now }
  const tables: Tenant['tables'] = {
    organizations: [{ ...base, id: organization_id, slug: name }],
    events: [{ ...base, id: id('evt', 1) }],
    editions: editions.map((edition, index) => ({
      ...base,
      id: edition,
      event_id: id('evt', 1),
      slug: edition,
      timezone: index ? 'America/New_York' : timezone,
      start_at: index ? null : now - 90 * day,
      end_at: now + 12 * day,
    })),
    products: [0, 1, 2, 3].map((n) => ({
      ...base,
      id: id('prd', n),
      edition_id: editions[n % 2] ?? '',
      name: texts[n + 1] ?? '',
      name_folded: `p${n}`,
    })),
    variants: [0, 1].map((n) => ({
      ...base,
      id: id('var', n),
      product_id: id('prd', 0),
      name: `${n}`,
      name_folded: `${n}`,
    })),
    locations: [0, 1].map((n) => ({
      ...base,
      id: id('loc', n),
      edition_id: editions[0] ?? '',
      name: `${n}`,
      name_folded: `${n}`,
    })),
    consents: [
      { id: id('con', 0), edition_id: null, key: 'newsletter', reconsent_on_change: 0, wording_version: 1 },
      {
        id: id('con', 1),
        edition_id: editions[0] ?? '',
        key: 'newsletter',
        reconsent_on_change: 1,
        wording_version: 2,
      },
      { id: id('con', 2), edition_id: null, key: 'sms-marketing', reconsent_on_change: 1, wording_version: 2 },
      { id: id('con', 3), edition_id: editions[1] ?? '', key: 'photo', reconsent_on_change: 0, wording_version: 1 },
    ].map((row) => ({ ...base, ...row })),
    segments: [{ ...base, id: id('seg', 0) }],
    campaigns: [0, 1, 2].map((n) => ({
      ...base,
      id: id('cmp', n),
      edition_id: editions[n % 2] ?? '',
      segment_id: id('seg', 0),
    })),
    campaign_links: [0, 1, 2].flatMap((n) =>
      [0, 1].map((position) => ({ campaign_id: id('cmp', n), position, url: links[(n + position) % 3] ?? '' })),
    ),
    users: [],
    orders: [],
    purchases: [],
    purchase_uses: [],
    consent_records: [],
    campaign_receipts: [],
    edition_customers: [],
  }
  const add = (table: string, row: Row) => tables[table]?.push({ ...base, ...row })
  for (let n = 0; n < people; n++) {
    const user_id = id('usr', n)
    const email = maybe(`${pick(['anna', 'bo', 'ægir'])}.${name}${n}@${pick(['example.dk', 'example.com'])}`)
    add('users', {
      id: user_id,
      email,
      phone_number: email === null || random() < 0.4 ? `+45${10_000_000 + n}` : null,
      first_name: pick(texts),
      last_name: pick(texts),
      locale: pick(['da', 'sv', 'en']),
      msg_channel: 'email',
      is_verified: int(2),
      is_active: int(2),
      created_at: randomTime(),
      last_seen_at: maybe(randomTime()),
      metadata: metadata(),
    })
    const orders = random() < 0.3 ? 0 : random() < 0.05 ? 30 : int(5)
    for (let o = 0; o < orders; o++) {
      const order_id = id('ord', tables['orders']?.length ?? 0)
      add('orders', {
        id: order_id,
        user_id,
        edition_id: pick(editions),
        type: pick(['online', 'in-person', 'imported']),
        status: pick(['pending', 'confirmed', 'completed', 'cancelled']),
        amount_minor: int(5) * 25_000,
        currency: pick(['DKK', 'SEK']),
        created_at: randomTime(),
        metadata: metadata(),
      })
      for (let p = int(4); p > 0; p--)
        add('purchases', {
          id: id('pur', tables['purchases']?.length ?? 0),
          order_id,
          user_id,
          edition_id: pick(editions),

          product_id: id('prd', int(4)),
          variant_id: maybe(id('var', int(2))),
          location_id: maybe(id('loc', int(2))),
          options: JSON.stringify(
            [0, 1, 2].filter(() => random() < 0.3).map((option) => ({ api_id: `opt_${option}` })),
          ),

          status: pick(['pending', 'active', 'used', 'refunded', 'expired', 'cancelled']),
          price_minor: int(4) * 10_000,
          uses_limit: 1 + int(3),
          uses_count: int(3),
          is_unlimited_use: (tables['purchases']?.length ?? 0) % 5 === 4 ? 1 : 0,
          created_at: randomTime(),
        })
    }
    for (const consent of tables['consents'] ?? [])
      for (const is_latest of [0, 1])
        if (random() < 0.6)
          add('consent_records', {
            id: id('cre', tables['consent_records']?.length ?? 0),
            consent_id: consent['id'] ?? '',
            user_id,
            is_latest,
            number: 1 + is_latest,
            status: pick(['given', 'given', 'skipped', 'withdrawn', 'expired']),
            consent_version: 1 + int(2),
            occurred_at: randomTime(),
            expires_at: maybe(now + (int(3) - 1) * day),
            edition_id: null,
          })
    for (const campaign of tables['campaigns'] ?? [])
      if (random() < 0.5)
        add('campaign_receipts', {
          user_id,
          campaign_id: campaign['id'] ?? '',
          state: pick(['sent', 'sent', 'failed', 'skipped']),
          reason: maybe(pick(['rejected', 'no_consent'])),
          received_at: maybe(randomTime()),
          delivered_at: maybe(randomTime()),
          opened_at: maybe(randomTime()),
          clicked_at: maybe(randomTime()),
          clicked_links: pick([null, '[0]', '[1]', '[0,1]']),
          bounced_at: maybe(randomTime()),
          complained_at: maybe(randomTime()),
          unsubscribed_at: maybe(randomTime()),
        })
  }
  addUses(tables, seed)
  addEditions(tables, editions, seed)
  return { organizationId: organization_id, editionId: editions[0] ?? '', tables }
}

/** Adds up to three uses of each purchase, some of them reverted, and at any time of the day. */
function addUses(tables: Tenant['tables'], seed: number): void {
  const random = createRandom(seed + 2)
  const int = (limit: number) => Math.floor(random() * limit)
  for (const { id, organization_id } of tables['purchases'] ?? [])
    for (let n = int(4); n > 0; n--)
      tables['purchase_uses']?.push({
        id: `pus_${String(id)}_${n}`,
        organization_id: organization_id ?? '',
        purchase_id: id ?? '',
        quantity: 1 + int(3),
        location_id: random() < 0.6 ? `loc_${String(id).split('_')[1]}_${int(2)}` : null,
        used_at: now - int(400 * day),
        reverted_at: random() < 0.3 ? now : null,
        created_at: now,
      })
}

/** Says which editions know each person, and what these were given: in one, in both, or in neither. */
function addEditions(tables: Tenant['tables'], editions: readonly string[], seed: number): void {
  const random = createRandom(seed + 1)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  for (const { id, email } of tables['users'] ?? [])
    for (const edition_id of editions)
      if (random() < 0.6)
        tables['edition_customers']?.push({
          edition_id,
          user_id: id ?? '',
          email: random() < 0.3 ? null : random() < 0.5 ? (email ?? null) : `given.${random()}@example.dk`,
          phone_number: random() < 0.5 ? null : '+4599999999',
          first_name: pick(texts),
          last_name: pick(texts),
          locale: pick(['en', 'pl', 'nl']),
          metadata: JSON.stringify(Object.fromEntries(metadataKeys.map((key) => [key, pick(metadataValues)]))),
          created_at: now - Math.floor(random() * 1000) * day,
        })
}

export async function store(tenant: Tenant): Promise<void> {
  const { edition_customers = [], ...tables } = tenant.tables
  for (const [table, rows] of Object.entries(tables)) await insert(table, rows)
  const { results } = await env.DB.prepare('select id, seq from users').all<{ id: string; seq: number }>()
  const seqs = new Map(results.map(({ id, seq }) => [id, seq]))
  await insert(
    'edition_customers',
    edition_customers.map((row) => ({
      ...row,
      user_seq: seqs.get(String(row['user_id'])) ?? null,
    })),
  )
}
