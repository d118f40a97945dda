import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { seedPlace } from '../support/retention.ts'
import { db } from '../support/seeding/rows.ts'
import { seedDeliveries, seedEndpoint } from '../support/seeding/webhooks.ts'

const schema = () =>
  db.all(sql`select type, name, sql from sqlite_master
    where tbl_name in ('webhook_deliveries', 'webhook_attempts') order by type, name`)
const rows = () =>
  Promise.all([
    db.all(sql`select * from webhook_events order by id`),
    db.all(sql`select * from webhook_deliveries order by id`),
    db.all(sql`select * from webhook_attempts order by delivery_id, number`),
  ])

it('the migration of deliveries keeps every delivery and attempt', async () => {
  const place = await seedPlace()
  const [one, other] = [await seedEndpoint(place), await seedEndpoint(place)]
  await seedDeliveries(place, one.id, 40)
  await seedDeliveries(place, other.id, 10, { status: 'retrying', next_retry_at: 1, manual: 'extra' })
  const [before, schemaBefore] = [await rows(), await schema()]
  expect(before.map((of) => of.length)).toEqual([50, 50, 50])

  // Those that change the tables after it follow.
  const migrations = env.TEST_MIGRATIONS.filter(({ name }) =>
    ['0053', '0072', '0073', '0125'].includes(name.slice(0, 4)),
  )
  const counts = env.TEST_MIGRATIONS.filter(({ name }) =>
    ['0130', '0180', '0220', '0221', '0260'].includes(name.slice(0, 4)),
  )
  // A trigger that an earlier one of these has made makes room for that of a later one.
  const made = new Set<string>()
  const triggers = counts.flatMap(({ queries }) =>
    queries.filter((query) => {
      const [, verb, name = ''] = /(create|drop) trigger (\w+)/.exec(query) ?? []
      const isKept = verb === 'drop' ? made.has(name) : query.includes(' on webhook_deliveries')
      if (isKept && verb === 'create') made.add(name)
      return isKept
    }),
  )
  const queries = [...migrations.flatMap((migration) => migration.queries), ...triggers]
  await env.DB.batch(queries.map((query) => env.DB.prepare(query)))

  expect(await rows()).toEqual(before)
  expect(await schema()).toEqual(schemaBefore)
  expect(await db.all(sql`pragma foreign_key_check`)).toEqual([])
  await db.all(sql`delete from webhook_endpoints where id = ${one.id}`)
  expect((await rows()).map((of) => of.length)).toEqual([50, 10, 10])
  const event = before[0][0] as { id: string }
  await db.all(sql`delete from webhook_events where id = ${event.id}`)
  const kept = (await db.all(sql<{ event_id: string }>`select event_id from webhook_deliveries`))[0]
  await expect(db.all(sql`delete from webhook_events where id = ${kept?.event_id}`)).rejects.toThrow('FOREIGN KEY')
})
