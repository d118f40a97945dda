import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import type { JobCtx } from '../../src/context.ts'
import { Database } from '../../src/db/database.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { openJob } from '../../src/entry/job.ts'
import {
  buildCalculationStart,
  calculateStep,
  chooseStepSize,
  findCalculation,
  firstStepSize,
} from '../../src/modules/segments/calculation/calculation.ts'
import { calculateSegments } from '../../src/modules/segments/jobs.ts'
import { timed } from './timed.ts'

/** What the bench of segments asks of the Worker: people by the thousand, and one calculation with what it cost. */
export const segmentsBench = new Hono<{ Bindings: Bindings }>()

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const day = 86_400_000

/** D1 binds numbers as doubles, which show when they become text. */
const whole = (value: number) => sql.raw(String(Math.trunc(value)))

/** Ids that sort by their number and end in a random letter, as real ones do. */
const idOf = (prefix: string, number: string) =>
  sql.raw(
    `'${prefix}_' || printf('%016d', ${number}) || hex(randomblob(4)) || 'A' || substr('${letters}', 1 + abs(random()) % 32, 1)`,
  )

/** People number `from` to `from + count`, who joined one after the other: two orders each, of one ticket each. */
segmentsBench.post('/floor/segments/seed', async (c) => {
  const { organization_id, edition_id, from, count, products } = await c.req.json<{
    organization_id: string
    edition_id: string
    from: number
    count: number
    products: number
  }>()
  const { db, now } = openJob(c.env)
  const at = now()
  const numbers = sql`with recursive n(i) as (select ${whole(from)} union all
    select i + 1 from n where i + 1 < ${whole(from + count)})`
  const ours = sql`u.organization_id = ${organization_id} and u.seq in (select seq from users
    where organization_id = ${organization_id} order by id desc limit ${count})`
  await db.batch([
    sql`insert into users (id, organization_id, email, phone_number, first_name, last_name, locale, msg_channel,
        metadata, search, last_seen_at, created_at, modified_at)
      ${numbers} select ${idOf('usr', 'i')}, ${organization_id},
        'guest-' || i || iif(i % 3 = 0, '@example.dk', '@example.com'), '+453' || printf('%07d', i), 'Guest', 'No ' || i,
        iif(i % 4 = 0, 'en', 'da'), 'email', iif(i % 5 = 0, json_object('company', 'Company ' || (i % 7)), '{}'),
        'guest ' || i, ${at} - (i % 120) * ${day}, ${at} - ${700 * day} + i * 60000, ${at} from n`,
    sql`insert into orders (id, organization_id, edition_id, user_id, order_number, type, status, amount_minor, currency,
        items_count, has_payment, cart, number_key, search_text, created_at, modified_at)
      select ${idOf('ord', 'u.seq * 2 + k.value')}, u.organization_id, ${edition_id}, u.id, u.seq, 'imported',
        iif((u.seq + k.value) % 4 = 0, 'cancelled', 'completed'), 10000 + (u.seq * 7 + k.value * 13) % 90000, 'dkk', 1, 1,
        json_object('id', ${idOf('crt', 'u.seq * 2 + k.value')}),
        printf('%02d', length(u.seq)) || u.seq,
        '', ${at} - (u.seq % 365) * ${day}, ${at}
      from users u cross join json_each('[0,1]') k where ${ours}`,
    sql`insert into purchases (id, organization_id, edition_id, order_id, user_id, product_id, status, price_minor,
        deposit_minor, handling_fee_minor, created_at, modified_at)
      select 'pur' || substr(o.id, 4), o.organization_id, o.edition_id, o.id, o.user_id,
        'prd_bench_' || (o.seq % ${whole(products)}), 'active', o.amount_minor, 0, 0, o.created_at, o.created_at
      from users u cross join orders o on o.user_id = u.id where ${ours}`,
    sql`insert into consent_records (id, organization_id, consent_id, consent_version, content_hash, user_id, status,
        method, source, language, occurred_at, record_hash, is_latest)
      select 'cre' || substr(u.id, 4), u.organization_id, 'con_bench', 1, '', u.id,
        iif(u.seq % 9 = 0, 'withdrawn', 'given'), 'import', 'bench', 'da', ${at}, '', 1
      from users u where ${ours} and u.seq % 10 < 7`,
    sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      select u.organization_id, 'email', u.email, iif(u.seq % 2 = 0, 'hard_bounce', 'complaint'), ${at}
      from users u where ${ours} and u.seq % 97 = 0`,
  ])
  return c.json({ made: count }, 201)
})

/** People without any orders. */
segmentsBench.post('/floor/segments/people', async (c) => {
  const { organization_id, from, count } = await c.req.json<{ organization_id: string; from: number; count: number }>()
  const { db, now } = openJob(c.env)
  const at = now()
  await db.batch([
    sql`insert into users (id, organization_id, email, phone_number, first_name, last_name, locale, msg_channel, search_text,
        created_at, modified_at)
      with recursive n(i) as (select ${whole(from)} union all select i + 1 from n where i + 1 < ${whole(from + count)})
      select ${idOf('usr', 'i')}, ${organization_id}, 'guest-' || i || '@example.com', '+4670' || printf('%07d', i), 'Guest',
        'No ' || i, 'en', 'email', 'guest ' || i, ${at}, ${at} from n`,
  ])
  return c.json({ made: count }, 201)
})

/** What people buy and agree to. */
segmentsBench.post('/floor/segments/catalogue', async (c) => {
  const { organization_id, edition_id, products } = await c.req.json<{
    organization_id: string
    edition_id: string
    products: number
  }>()
  await openJob(c.env).db.batch([
    sql`insert into products (id, organization_id, edition_id, name, name_folded, created_at)
      with recursive n(i) as (select 0 union all select i + 1 from n where i + 1 < ${whole(products)})
      select 'prd_bench_' || i, ${organization_id}, ${edition_id}, 'Ticket ' || i, 'ticket ' || i, 0 from n`,
    sql`insert into consents (id, organization_id, key, name, type, channels, created_at, modified_at)
      values ('con_bench', ${organization_id}, 'newsletter', 'Newsletter', 'marketing', '["email"]', 0, 0)`,
  ])
  return c.json({}, 201)
})

/** One calculation that a request has begun, from its first step to its last, and what it cost. */
segmentsBench.post('/floor/segments/calculate', async (c) => {
  const { segment_id } = await c.req.json<{ segment_id: string }>()
  const meter = newMeter()
  const job: JobCtx = { ...openJob(c.env), db: new Database(c.env.DB.withSession('first-primary'), meter) }
  const row = await job.db.first(sql<{ epoch: number }>`select epoch from segments where id = ${segment_id}`)
  const started = Date.now()
  await calculateSegments(job, [{ type: 'segment.calculate', segment_id, epoch: row?.epoch ?? 0 }])
  return c.json({ ms: Date.now() - started, ...meter })
})

/** One person with so many orders, and so many purchases in the first of them. */
segmentsBench.post('/floor/segments/crowd', async (c) => {
  const { organization_id, edition_id, orders, purchases } = await c.req.json<{
    organization_id: string
    edition_id: string
    orders: number
    purchases: number
  }>()
  const id = `usr_${organization_id.slice(4)}`
  const numbers = (count: number) => sql`with recursive n(i) as (select 1 union all
    select i + 1 from n where i < ${whole(count)})`
  await openJob(c.env).db.batch([
    sql`insert into users (id, organization_id, email, locale, msg_channel, metadata, created_at, modified_at)
      values (${id}, ${organization_id}, 'crowd@example.com', 'da', 'email', '{"a":"b"}', 0, 0)`,
    sql`insert into orders (id, organization_id, edition_id, user_id, type, status, amount_minor, currency, items_count,
        has_payment, cart, metadata, search_text, created_at, modified_at)
      ${numbers(orders)} select 'ord_' || i || ${id}, ${organization_id}, ${edition_id}, ${id}, 'imported',
        'completed', 10000 + i, 'dkk', 1, 1, json_object('id', 'crt_' || i || ${id}), '{"a":"b"}', '', i, i from n`,
    sql`insert into purchases (id, organization_id, edition_id, order_id, user_id, product_id, status, price_minor,
        deposit_minor, handling_fee_minor, options, created_at, modified_at)
      ${numbers(purchases)} select 'pur_' || hex(randomblob(12)), ${organization_id}, ${edition_id},
        'ord_1' || ${id}, ${id}, 'prd_bench_' || (i % 20), 'active', i, 0, 0,
        '[{"api_id":"opt_1"},{"api_id":"opt_2"}]', i, i from n`,
  ])
  return c.json({}, 201)
})

/** A calculation that a request has begun, with the time of its longest step and of its longest statement. */
segmentsBench.post('/floor/segments/steps', async (c) => {
  const { segment_id } = await c.req.json<{ segment_id: string }>()
  const { client, longest } = timed(c.env.DB.withSession('first-primary'))
  const job: JobCtx = { ...openJob(c.env), db: new Database(client, newMeter()) }
  const row = await job.db.first(sql<{ epoch: number }>`select epoch from segments where id = ${segment_id}`)
  let calculation = await findCalculation(job, segment_id, row?.epoch ?? 0)
  let [steps, longest_ms, size] = [0, 0, firstStepSize]
  const started = Date.now()
  while (calculation) {
    const before = Date.now()
    const step = await calculateStep(job, calculation, size)
    longest_ms = Math.max(longest_ms, Date.now() - before)
    size = chooseStepSize(size, Date.now() - before)
    steps++
    calculation = step.state === 'calculating' ? step.calculation : null
  }
  return c.json({ steps, longest_ms, ms: Date.now() - started, statement_ms: longest.ms, statement: longest.statement })
})

/** Begins a calculation without enqueueing it, so that no consumer takes it. */
segmentsBench.post('/floor/segments/begin', async (c) => {
  const { segment_id } = await c.req.json<{ segment_id: string }>()
  const { db, now } = openJob(c.env)
  const row = await db.first(
    sql<Parameters<typeof buildCalculationStart>[0]>`select id, version, organization_id, edition_id from segments
      where id = ${segment_id}`,
  )
  if (row) await db.batch(buildCalculationStart(row, now()))
  return c.json({}, 201)
})

/** The floor: everyone of the organisation noted by one bare statement. */
segmentsBench.post('/floor/segments/insert', async (c) => {
  const { organization_id } = await c.req.json<{ organization_id: string }>()
  const { db } = openJob(c.env)
  const started = Date.now()
  await db.batch([
    sql`insert into segment_members (segment_seq, epoch, user_seq)
      select 0, 0, seq from users where organization_id = ${organization_id}`,
  ])
  const ms = Date.now() - started
  await db.batch([sql`delete from segment_members where segment_seq = 0`])
  return c.json({ ms })
})
