import type { DatabaseSync } from 'node:sqlite'

/** Editions of the shop beside its first one. */
export const others = ['1', '2', '3'].map((digit) => `edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6G${digit}`)

/** The requests of the shop are of four editions of its organisation, in turn, and the newest an hour old. */
export function spreadRequestsOverEditions(database: DatabaseSync): void {
  const [first = ''] = others
  if (database.prepare('select 1 from editions where id = ?').get(first)) return
  const names = database
    .prepare(`select name from pragma_table_info('editions') where name not in ('id', 'slug')`)
    .all()
    .map(({ name }) => String(name))
    .join(', ')
  const editions = others.map(
    (id, index) => `insert into editions (id, slug, ${names})
      select '${id}', 'refunds-${index}', ${names} from editions order by id limit 1;`,
  )
  database.exec(`begin; ${editions.join('\n')}
    update refund_requests set edition_id = coalesce('${JSON.stringify(others)}' ->> (created_at / 240000 % 4), edition_id),
      created_at = created_at + later.ms
      from (select unixepoch() * 1000 - 3600000 - max(created_at) as ms from refund_requests) as later;
    commit; pragma wal_checkpoint(truncate)`)
}
