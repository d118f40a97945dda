import { setTimeout as wait } from 'node:timers/promises'
import { create, createPlace, type Place } from '../support/place.ts'
import { type Bench, median, printHead, printRatio, readSize, rounds, runSql, withBench } from './support.ts'

export const summary = 'Calculates segments of SIZE=100000 people with two orders each'

const people = readSize(100_000)
const peopleInATransaction = 5000
const productCount = 20
const dayMs = 86_400_000
const timeoutMs = 300_000

interface Shape {
  name: string
  expression: string
  type?: 'marketing'
}

const shapes: readonly Shape[] = [
  { name: 'everyone', expression: 'user.is_active' },
  { name: 'by language', expression: 'user.locale == "da"' },
  { name: 'by address', expression: 'user.email.endsWith("@example.dk")' },
  { name: 'by metadata', expression: 'has(user.metadata.company) && user.metadata.company == "Company 3"' },
  { name: 'by the last visit', expression: 'user.last_seen < now - duration("720h")' },
  { name: 'by the number of orders', expression: 'stats.order_count >= 2' },
  { name: 'by an order', expression: 'orders.exists(o, o.status == "completed" && o.amount_minor >= 60000)' },
  { name: 'by the id of a ticket', expression: 'purchases.exists(p, p.product_id == "prd_bench_3")' },
  { name: 'by the name of a ticket', expression: 'purchases.exists(p, p.product_name == "Ticket 3")' },
  {
    name: 'marketing, without recent orders',
    type: 'marketing',
    expression: '!orders.exists(o, o.created > now - duration("2160h"))',
  },
]

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** SQL for an id that sorts by its number and ends in a random letter, as ids do. */
const buildId = (prefix: string, number: string): string =>
  `'${prefix}_' || printf('%016d', ${number}) || hex(randomblob(4)) || 'A' ||
    substr('${letters}', 1 + abs(random()) % 32, 1)`

/** Numbers are written into the SQL, because D1 binds them as doubles, which shows when they become text. */
function buildPeople({ organization_id, edition_id }: Place, first: number, count: number) {
  const now = Date.now()
  const newest = `(select seq from users where organization_id = ? order by seq desc limit ${count})`
  return [
    {
      sql: `with recursive n (i) as (select ${first} union all select i + 1 from n where i + 1 < ${first + count})
        insert into users (id, organization_id, email, phone_number, first_name, last_name, locale, msg_channel,
          metadata, search_text, last_seen_at, created_at, modified_at)
        select ${buildId('usr', 'i')}, ?, 'guest-' || i || iif(i % 3 = 0, '@example.dk', '@example.com'),
          '+453' || printf('%07d', i), 'Guest', 'No ' || i, iif(i % 4 = 0, 'en', 'da'), 'email',
          iif(i % 5 = 0, json_object('company', 'Company ' || (i % 7)), '{}'), 'guest ' || i,
          ${now} - (i % 120) * ${dayMs}, ${now - 700 * dayMs} + i * 60000, ${now} from n`,
      params: [organization_id],
    },
    {
      sql: `insert into orders (id, organization_id, edition_id, user_id, order_number, type, status, amount_minor,
          currency, items_count, has_payment, cart, search_text, created_at, modified_at)
        select ${buildId('ord', 'seq * 2 + value')}, organization_id, ?, users.id, seq * 2 + value, 'imported',
          iif((seq + value) % 4 = 0, 'cancelled', 'completed'), 10000 + (seq * 7 + value * 13) % 90000, 'dkk', 1, 1,
          '{}', '', ${now} - (seq % 365) * ${dayMs}, ${now}
        from users cross join json_each('[0,1]') where seq in ${newest}`,
      params: [edition_id, organization_id],
    },
    {
      sql: `insert into purchases (id, edition_id, order_id, user_id, product_id, status, price_minor, deposit_minor,
          handling_fee_minor, created_at, modified_at)
        select 'pur' || substr(id, 4), edition_id, id, user_id, 'prd_bench_' || (seq % ${productCount}), 'active',
          amount_minor, 0, 0, created_at, created_at
        from orders where user_id in (select id from users where seq in ${newest})`,
      params: [organization_id],
    },
    {
      sql: `insert into consent_records (id, organization_id, consent_id, consent_version, content_hash, user_id,
          status, method, source, language, occurred_at, record_hash, is_latest)
        select 'cre' || substr(id, 4), organization_id, 'con_bench', 1, '', id,
          iif(seq % 9 = 0, 'withdrawn', 'given'), 'import', 'bench', 'da', ${now}, '', 1
        from users where seq in ${newest} and seq % 10 < 7`,
      params: [organization_id],
    },
  ]
}

async function seedPeople({ client }: Bench, place: Place): Promise<void> {
  await runSql(client, [
    {
      sql: `with recursive n (i) as (select 0 union all select i + 1 from n where i + 1 < ${productCount})
        insert into products (id, organization_id, edition_id, name, name_folded, name_key, created_at, modified_at)
        select 'prd_bench_' || i, ?, ?, 'Ticket ' || i, 'ticket ' || i, 'ticket ' || i, 0, 0 from n`,
      params: [place.organization_id, place.edition_id],
    },
    {
      sql: `insert into consents (id, organization_id, key, name, name_key, type, channels, created_at, modified_at)
        values ('con_bench', ?, 'newsletter', 'Newsletter', 'newsletter', 'marketing', '["email"]', 0, 0)`,
      params: [place.organization_id],
    },
  ])
  for (let first = 0; first < people; first += peopleInATransaction)
    await runSql(client, buildPeople(place, first, Math.min(peopleInATransaction, people - first)))
}

/** Recalculates the segments over the queue, and answers the milliseconds until the last one is ready. */
async function recalculate({ client, signal }: Bench, ids: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  await Promise.all(ids.map((id) => client.post(`/v1/segments/${id}/recalculate`, {})))
  for (const id of ids)
    for (; ; await wait(30, undefined, { signal })) {
      const { status } = await client.get<{ status: string }>(`/v1/segments/${id}`)
      if (status === 'ready') break
      if (status !== 'calculating' || performance.now() - startedAt > timeoutMs) throw new Error(`${id} is ${status}.`)
    }
  return performance.now() - startedAt
}

/** Notes everyone by one bare statement. */
async function measureFloor({ client }: Bench, { organization_id }: Place): Promise<number> {
  const ms = await runSql(client, [
    {
      sql: `insert into segment_members (segment_seq, epoch, user_seq)
        select 0, 0, seq from users where organization_id = ?`,
      params: [organization_id],
    },
  ])
  await runSql(client, [{ sql: 'delete from segment_members where segment_seq = 0', params: [] }])
  return ms
}

export const run = (): Promise<void> =>
  withBench({}, async (bench) => {
    const { client } = bench
    const place = await createPlace(client, 'Bench')
    await seedPeople(bench, place)
    const floors: number[] = []
    for (let round = 0; round < rounds; round++) floors.push(await measureFloor(bench, place))
    const floor = median(floors)
    printHead(`${people} people; the floor notes everyone by one statement`)
    const ids: string[] = []
    for (const { name, expression, type = 'transactional' } of shapes) {
      const id = await create(client, '/v1/segments', {
        organization_id: place.organization_id,
        name,
        communication_type: type,
        communication_channel: 'email',
        expression,
      })
      ids.push(id)
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push(await recalculate(bench, [id]))
      printRatio(name, 'ms', { service: median(times), floor })
    }
    printRatio(`all ${ids.length} at once`, 'ms', { service: await recalculate(bench, ids), floor: floor * ids.length })
  })
