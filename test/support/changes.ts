import { env } from 'cloudflare:workers'
import { listColumns, leftTables, notes, listTableNames } from './dump.ts'

/** A trigger for each way to change a table. An update that changes no value does not count. */
async function buildTriggers(table: string): Promise<string[]> {
  const columns = (await listColumns(table)).map(({ name }) => name).filter((name) => !notes.has(name))
  const differs = columns.map((name) => `old."${name}" is not new."${name}"`).join(' or ')
  const count = `begin update counted_changes set count = count + 1 where name = '${table}'; end`
  return [
    `insert into counted_changes (name, count) values ('${table}', 0)`,
    `create trigger counted_insert_${table} after insert on "${table}" ${count}`,
    `create trigger counted_delete_${table} after delete on "${table}" ${count}`,
    `create trigger counted_update_${table} after update on "${table}" when ${differs} ${count}`,
  ]
}

/** Starts to count the rows that are written and deleted, in each table that `dump` shows. */
export async function countChanges(): Promise<void> {
  const tables = (await listTableNames()).filter((name) => !leftTables.has(name))
  const statements = (await Promise.all(tables.map(buildTriggers))).flat()
  await env.DB.batch(
    ['create table counted_changes (name text primary key, count integer not null)', ...statements].map((statement) =>
      env.DB.prepare(statement),
    ),
  )
}

/** Returns the changed rows of each table since `countChanges`. It is as exact as a dump, and far cheaper. */
export async function listChangesSoFar(): Promise<Record<string, number>> {
  const { results } = await env.DB.prepare('select name, count from counted_changes').all<{
    name: string
    count: number
  }>()
  if (results.length === 0) throw new Error('nothing counts the changes: call countChanges first')
  return Object.fromEntries(results.map(({ name, count }) => [name, count]))
}
