import { globSync, readFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { generateToken } from '../../src/domain/accounts/tokens.ts'
import { sha256OfShort, toHex } from '../../src/domain/text/encoding.ts'

/** The number of orders in the large edition. ORDERS=1000000 asks for what one edition is to hold. */
export const orderCount = Number(process.env['ORDERS'] ?? 200_000)

/** A sixth of the orders belong to customers who came back. */
export const customerCount = Math.floor((orderCount * 5) / 6)

/** The small edition has orders of customers of the large one. */
const smallCount = Math.floor(orderCount / 100)

const suffix = (character: string) => `01KAJ3Z8Q2M4T6V8X0Z2B4D6${character}`
export const organizationId = `org_${suffix('F1')}`
export const editionIds = [`edt_${suffix('F2')}`, `edt_${suffix('F3')}`] as const
export const endpointId = `whk_${suffix('F4')}`

const [editionId, smallEditionId] = editionIds

/** The time of the first order. Each minute has two. */
export const startMs = Date.UTC(2024, 0, 1)

/** Builds the id of row `i`: ten characters that ascend with `i`, and sixteen that look random. */
const buildId = (prefix: string, i: string) =>
  `'${prefix}_' || printf('01%08d%08X%08X', ${i}, ${i} * 2654435761 & 4294967295, ${i} * 2246822519 & 4294967295)`

/** The id that `buildId` makes for an order. */
export function computeOrderId(i: number): string {
  const scramble = (factor: bigint) =>
    ((BigInt(i) * factor) & 4_294_967_295n).toString(16).toUpperCase().padStart(8, '0')
  return `ord_01${String(i).padStart(8, '0')}${scramble(2_654_435_761n)}${scramble(2_246_822_519n)}`
}

/** The customer of order `i`. */
const buyer = `iif(i <= ${customerCount}, i, i * 7919 % ${customerCount} + 1)`

/** Some rows have the same time. */
const createdAt = `${startMs} + i / 2 * 60000`

const firstNames = `'["Ada","Bo","Clara","David","Emma","Frida","Georg","Hanne"]'`
const email = "'customer-' || i || '@example.com'"
const firstName = `${firstNames} ->> (i % 8)`

const buildNumbers = (count: number, first = 1) =>
  `with recursive numbers (i) as (select ${first} union all select i + 1 from numbers where i < ${first + count - 1})`

const customers = `
  insert into users (id, organization_id, email, phone_number, phone_digits, first_name, last_name, locale, msg_channel,
      last_seen_at, created_at, modified_at, search_text)
    ${buildNumbers(customerCount)}
    select ${buildId('usr', 'i')}, '${organizationId}', ${email}, iif(i % 4, null, '+4520' || printf('%06d', i)),
      iif(i % 4, '', '4520' || printf('%06d', i)), ${firstName}, 'Holm ' || i, 'en', 'email', iif(i % 5, null, ${createdAt}),
      ${createdAt}, ${createdAt}, lower(${firstName}) || ' holm ' || i || char(10) || ${email}
        || iif(i % 4, '', char(10) || '4520' || printf('%06d', i))
    from numbers;
  insert into edition_customers (edition_id, user_seq, created_at, email, phone_number, phone_digits, first_name,
      last_name, locale, search_text)
    select '${editionId}', seq, created_at, email, phone_number, phone_digits, first_name, last_name, locale,
      search_text
    from users;
  insert into edition_customers (edition_id, user_seq, created_at, email, first_name, locale, search_text)
    select '${smallEditionId}', seq, created_at + 864000000, 'guest-' || seq || '@example.org', 'Guest', 'en',
      'guest' || char(10) || 'guest-' || seq || '@example.org'
    from users where seq % 90 = 1;`

/** One order in fifty has no number. */
const number = 'iif(i % 50, cast(1000000 + i as text), null)'

const buildOrders = (edition: string, count: number, first: number) => `
  insert into orders (id, organization_id, edition_id, user_id, order_number, number_folded, number_key, type, status,
      amount_minor, currency, items_count, has_payment, cart, external_source, external_id, created_at, modified_at,
      search_text)
    ${buildNumbers(count, first)}, bought (i, b) as (select i, ${buyer} from numbers)
    select ${buildId('ord', 'i')}, '${organizationId}', '${edition}', ${buildId('usr', 'b')}, ${number},
      coalesce(${number}, ''), iif(i % 50, '07' || (1000000 + i), null),
      '["imported","online","in-person"]' ->> (i % 10 % 3),
      '["completed","completed","completed","confirmed","pending","cancelled"]' ->> (i % 6),
      10000 + i * 7919 % 1000 * 50, 'dkk', 1 + i % 2, 1,
      '{"items":[{"product":"prd_' || '${suffix('F6')}' || '","quantity":' || (1 + i % 2) || '}]}', 'bench', 'B-' || i,
      ${createdAt}, ${createdAt} + i * 7919 % 100003 * 60000,
      coalesce(${number} || char(10), '') || lower(${buildId('ord', 'i')}) || char(10) || 'b-' || i || char(10)
        || lower(${buildId('trx', 'i')})
    from bought;`

const sales = `
  ${buildOrders(editionId, orderCount, 1)}
  ${buildOrders(smallEditionId, smallCount, orderCount + 1)}
  insert into transactions (id, order_id, type, status, service, amount_minor, currency, service_fee_minor,
      handling_fee_minor, created_at)
    select 'trx_' || substr(id, 5), id, 'payment', iif(status = 'completed', 'captured', 'pending'), 'import',
      amount_minor, currency, 0, 0, created_at
    from orders;
  insert into purchases (id, edition_id, order_id, user_id, product_id, vendor_code, status, price_minor, deposit_minor,
      handling_fee_minor, created_at, modified_at)
    select ${buildId('pur', '(seq * 2 + unit)')}, edition_id, id, user_id,
      'prd_${suffix('F6')}', iif(seq % 10, null, 'CODE-' || seq), iif(seq % 6, 'active', 'cancelled'), amount_minor / 2,
      0, 0, created_at, created_at
    from orders cross join (select 0 as unit union all select 1) where unit < items_count;
  insert into refund_requests (id, organization_id, edition_id, order_id, transaction_id, purchase_id, user_id, target,
      status, source, reason, currency, requested_minor, created_at, modified_at)
    select 'rfr_' || substr(id, 5), organization_id, edition_id, id, 'trx_' || substr(id, 5),
      ${buildId('pur', '(seq * 2)')}, user_id, 'purchase',
      '["pending","approved","rejected","cancelled"]' ->> (seq / 4 % 4), iif(seq % 3, 'api', 'customer'),
      iif(seq % 400, 'customer_request', 'fraud'), currency, amount_minor / 2, created_at + 3600000,
      modified_at + 3600000
    from orders where seq % 4 = 0;`

/** Each order has a delivery and an entry of the audit log. */
const records = `
  insert into webhook_events (id, organization_id, edition_id, kind, payload, resource_ids, seq, created_at)
    select 'evn_' || substr(id, 5), organization_id, iif(seq % 2, edition_id, null),
      '["purchase.action","consent.given","refund.failed"]' ->> (seq % 3), '{}', ' ' || id || ' ', seq, created_at
    from orders;
  insert into webhook_deliveries (id, endpoint_id, event_id, edition_id, kind, status, attempts, created_at, modified_at)
    select 'whd_' || substr(id, 5), '${endpointId}', id, edition_id, kind,
      iif(number_of_event % 9, 'success', 'exhausted'), 1, created_at, created_at + number_of_event * 7919 % 1009 * 1000
    from (select *, cast(substr(id, 7, 8) as integer) as number_of_event from webhook_events);
  insert into audit_log (organization_id, id, edition_id, action, actor_id, resource_type, resource_id, changes, request_id,
      created_at)
    select organization_id, 'aud_' || substr(id, 5), edition_id, iif(seq % 2, 'updateOrder', 'updateEdition'),
      iif(seq % 3, 'root', 'usr_${suffix('F5')}'), iif(seq % 2, 'order', 'edition'), iif(seq % 2, id, edition_id), '[]',
      'req_1', created_at
    from orders;`

const editionValues = (id: string, slug: string) =>
  `('${id}', '${organizationId}', 'evt_1', '${slug}', '${slug}', '${slug}', '${slug}', 'UTC', 'DK', 'en', '["en"]', 'vat', 'dkk',
    '${slug}', 1, 1)`

const setup = `
  insert into organizations (id, name, name_key, slug, search, created_at, modified_at)
    values ('${organizationId}', 'Large', 'large', 'large', 'large', 1, 1);
  insert into events (id, organization_id, name, name_key, search, created_at, modified_at)
    values ('evt_1', '${organizationId}', 'Festival', 'festival', 'festival', 1, 1);
  insert into editions (id, organization_id, event_id, name, name_key, full_name, slug, timezone, default_country_code,
      default_language, enabled_languages, tax_type, currency, search, created_at, modified_at)
    values ${editionValues(editionId, 'large')}, ${editionValues(smallEditionId, 'small')};
  insert into products (id, organization_id, edition_id, name, name_folded, name_key, created_at, modified_at)
    values ('prd_${suffix('F6')}', '${organizationId}', '${editionId}', 'Ticket', 'ticket', 'ticket', 1, 1);
  insert into webhook_endpoints (id, organization_id, name, name_key, url, events, secret, created_at, modified_at)
    values ('${endpointId}', '${organizationId}', 'Warehouse', 'warehouse', 'https://hooks.example.com/', '["purchase.action"]', 'whsec_',
      1, 1);`

const largeTables = [
  'users',
  'edition_customers',
  'orders',
  'transactions',
  'purchases',
  'refund_requests',
  'webhook_events',
  'webhook_deliveries',
  'audit_log',
]

/** Fills a database by SQL. Triggers and constraints apply; other indexes are built at the end, sorted. */
export function fillDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  for (const migration of globSync('migrations/*.sql').toSorted()) database.exec(readFileSync(migration, 'utf8'))
  database.exec('pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -400000')
  const indexes = database
    .prepare(
      `select name, sql from sqlite_master
        where type = 'index' and sql is not null and tbl_name in (select value from json_each(?))`,
    )
    .all(JSON.stringify(largeTables)) as { name: string; sql: string }[]
  for (const { name } of indexes) database.exec(`drop index ${name}`)
  const rebuiltIndexes = indexes.map(({ sql }) => sql).join(';')
  for (const statements of [setup, customers, sales, records, rebuiltIndexes])
    database.exec(`begin; ${statements}; commit`)
  // With SQLite's default the lists read from the cache of the operating system, and not from SQLite's own.
  database.exec('pragma cache_size = -2000')
  return database
}

/** Makes a token of a new member with a role in these editions, or in the organisation. */
export function addMember(database: DatabaseSync, name: string, editions: readonly string[]): string {
  const token = generateToken((length) => crypto.getRandomValues(new Uint8Array(length)))
  const insert = (table: string, row: Record<string, SQLInputValue>) =>
    database
      .prepare(
        `insert into ${table} (${Object.keys(row).join(', ')}) values (${Object.keys(row)
          .map(() => '?')
          .join(', ')})`,
      )
      .run(...Object.values(row))
  insert('accounts', { id: `usr_${name}`, email: `${name}@example.com`, created_at: 1 })
  for (const edition_id of editions.length ? editions : [null])
    insert('members', {
      id: `mem_${name}_${edition_id}`,
      organization_id: organizationId,
      edition_id,
      account_id: `usr_${name}`,
      role: 'admin',
      first_name: '',
      last_name: '',
      created_at: 1,
    })
  insert('access_tokens', {
    id: `tok_${name}`,
    account_id: `usr_${name}`,
    name,
    name_key: name,
    token_hash: toHex(sha256OfShort(token)),
    prefix: '',
    scopes: 'read',
    // No request has to record the use of the token.
    last_used_at: Number.MAX_SAFE_INTEGER,
    created_at: 1,
  })
  return token
}

/** Makes a database with copies of what lists compare and sort, in tables without indexes. */
export function copyPlainly(file: string): DatabaseSync {
  const plain = new DatabaseSync(':memory:')
  plain.exec(`attach '${file}' as filled;
    create table orders as select orders.seq, orders.id, edition_id, user_id, status, type, amount_minor,
        orders.created_at, orders.modified_at,
        number_key, orders.search_text as text, users.seq as user_seq
      from filled.orders not indexed join filled.users on users.id = user_id;
    create table users as select seq, id, created_at, email, phone_number, last_seen_at, search_text as text
      from filled.users not indexed;
    create table edition_customers as select c.seq, users.id, c.edition_id, c.user_seq, c.created_at, c.email, c.phone_number,
        c.search_text as text
      from filled.edition_customers as c not indexed join filled.users on users.seq = c.user_seq;
    create table purchases as select id, edition_id, status, vendor_code, uses_count, created_at from filled.purchases not indexed;
    create table refund_requests as select id, edition_id, status, reason, source, requested_minor, created_at, modified_at
      from filled.refund_requests not indexed;
    create table webhook_deliveries as select id, edition_id, status, kind, created_at, modified_at
      from filled.webhook_deliveries not indexed;
    create table webhook_events as select id, seq, edition_id, kind, created_at, resource_ids
      from filled.webhook_events not indexed;
    create table audit_log as select id, action, actor_id, resource_type, resource_id, created_at
      from filled.audit_log not indexed;
    detach filled`)
  return plain
}
