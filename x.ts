import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import { databaseIn } from '/work/deliveries/scripts/bench/fill.ts'
import { recountInterval } from '/work/deliveries/src/db/lists/intervals/write-intervals.ts'
import { deliveryIntervals as L } from '/work/deliveries/src/modules/webhooks/delivery-lists/intervals.ts'
const db = databaseIn('/tmp/deliveries/b1m')
const d = new SQLiteSyncDialect()
db.exec('begin')
for (const o of ['modified', 'name']) {
  const one: any = db
    .prepare(
      'select scope, ordering, json_array(value, created_at, id) as key, success + exhausted as n from delivery_intervals where ordering = ? order by success + exhausted desc limit 1',
    )
    .get(o)
  const q = d.sqlToQuery(recountInterval(L as any, one, 750))
  let t = Date.now()
  const cut =
    q.sql.slice(q.sql.indexOf('with this'), q.sql.indexOf('counted as')).replace(/,\s*$/, '') +
    ' select count(*) from settled'
  const n = (cut.match(/\?/g) ?? []).length
  db.prepare(cut).all(...(q.params as any[]).slice(0, n))
  console.log(o, one.n, 'settled', Date.now() - t)
  t = Date.now()
  db.prepare(q.sql).all(...(q.params as any[]))
  console.log(o, 'whole', Date.now() - t)
}
db.exec('rollback')
