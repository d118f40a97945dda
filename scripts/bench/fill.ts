import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { root } from '../support/paths.ts'

/**
 * Makes many orders of few: each copy has ids, a number, a customer and a moment of its own, and all else as the service
 * stored it. Constraints and triggers hold for copies as for any row.
 */
const copied = ['users', 'edition_customers', 'orders', 'transactions', 'purchases'] as const
type Copied = (typeof copied)[number]

/** The database of a server that does not run. */
export function databaseIn(stateDir: string): DatabaseSync {
  const files = globSync(join(resolve(root, stateDir), 'v3/d1/*/*.sqlite')).filter(
    (file) => !file.endsWith('metadata.sqlite'),
  )
  const [file] = files
  if (!file || files.length > 1) throw new Error(`${stateDir} holds ${files.length} databases.`)
  return new DatabaseSync(file)
}

const letters = "'0123456789ABCDEFGHJKMNPQRSTVWXYZ'"
const letter = (number: string) => `substr(${letters}, 1 + (${number}) % 32, 1)`

/** The id of a copy, in the form of all ids. Its last letters are spread, since samples are taken by them. */
const idOf = (id: string): string =>
  `substr(${id}, 1, 14) || substr(${id}, -8) || printf('%06d', copies.n)
    || ${letter(`copies.n * 7 + unicode(substr(${id}, -1))`)}
    || ${letter(`copies.n * 13 + copies.n / 32 + unicode(substr(${id}, -2, 1))`)}`

const emailOf = (email: string): string => `replace(${email}, '@', '-' || copies.n || '@')`
/** Customers join some milliseconds one after the other, as they do in imports: a million of them in an hour. */
const joinedAt = (seq: string, copies: number) =>
  `own.created_at - (${copies + 1} - copies.n) * 1000 + ${seq} % 250 * 4`
const numberOf = (count: number) => `cast(own.order_number + copies.n * ${count} as text)`

/** Of each table: what a copy has in place of the values of its original. */
const changes: Record<Copied, (of: Copies) => Record<string, string>> = {
  users: ({ copies }) => ({
    id: idOf('own.id'),
    email: emailOf('own.email'),
    search_text: emailOf('own.search_text'),
    created_at: joinedAt('own.seq', copies),
    modified_at: joinedAt('own.seq', copies),
  }),
  edition_customers: ({ copies }) => ({
    user_seq: `(select seq from users where id = ${idOf('(select id from users where seq = own.user_seq)')})`,
    email: emailOf('own.email'),
    search_text: emailOf('own.search_text'),
    created_at: joinedAt('own.user_seq', copies),
  }),
  orders: ({ count }) => ({
    id: idOf('own.id'),
    user_id: idOf('own.user_id'),
    order_number: numberOf(count),
    number_folded: numberOf(count),
    number_key: `printf('%02d', length(${numberOf(count)})) || ${numberOf(count)}`,
    external_id: "own.external_id || '-' || copies.n",
    search_text: `lower(${numberOf(count)} || char(10) || ${idOf('own.id')} || char(10) || own.external_id || '-' || copies.n)`,
    completed_transaction_id: idOf('own.completed_transaction_id'),
    created_at: `own.created_at + copies.n * ${count} * 60000`,
    // Not at once, and some time ago: lists distinguish what has just changed.
    modified_at: 'own.modified_at - (copies.n + 60) * 60000 + own.seq * 100',
  }),
  transactions: ({ count }) => ({
    id: idOf('own.id'),
    order_id: idOf('own.order_id'),
    created_at: `own.created_at + copies.n * ${count} * 60000`,
  }),
  purchases: ({ count }) => ({
    id: idOf('own.id'),
    order_id: idOf('own.order_id'),
    user_id: idOf('own.user_id'),
    created_at: `own.created_at + copies.n * ${count} * 60000`,
    modified_at: `own.modified_at + copies.n * ${count} * 60000`,
  }),
}

const columnsOf = (database: DatabaseSync, table: string): string[] =>
  database
    .prepare('select name from pragma_table_info(?)')
    .all(table)
    .map(({ name }) => String(name))
    .filter((name) => name !== 'seq')

function copyTable(database: DatabaseSync, table: Copied, of: Copies): void {
  const columns = columnsOf(database, table)
  const changed = changes[table](of)
  const unknown = Object.keys(changed).filter((name) => !columns.includes(name))
  if (unknown.length) throw new Error(`${table} has no ${unknown.join(', ')}.`)
  database.exec(`insert into ${table} (${columns.join(', ')})
    with recursive copies (n) as (select 1 union all select n + 1 from copies where n < ${of.copies})
    select ${columns.map((name) => changed[name] ?? `own.${name}`).join(', ')}
    from copies cross join (select * from ${table}) as own`)
}

interface Copies {
  /** Orders that are there. */
  count: number
  /** How often each is copied. */
  copies: number
}

interface Index {
  name: string
  sql: string
}

/** Triggers on what is copied find rows by it. */
const usedByTriggers = 'edition_customers_of_user'

/** Other indexes that a constraint does not make: they are built at the end, sorted, which takes a third of the time. */
const indexesOf = (database: DatabaseSync): Index[] =>
  database
    .prepare(
      `select name, sql from sqlite_master where type = 'index' and sql is not null
        and tbl_name in (select value from json_each(?)) and name <> ?`,
    )
    .all(JSON.stringify(copied), usedByTriggers) as unknown as Index[]

const first = (database: DatabaseSync, statement: string): number =>
  Number(Object.values(database.prepare(statement).get() ?? {})[0])

/** Copies all orders, which are of one edition and have no phone numbers, until there are so many. Answers how many. */
export function fillOrders(database: DatabaseSync, wanted: number): number {
  const count = first(database, 'select count(*) from orders')
  const copies = Math.floor(wanted / count) - 1
  if (copies < 1) return count
  database.exec('pragma foreign_keys = off; pragma synchronous = off; pragma cache_size = -400000; begin')
  const indexes = indexesOf(database)
  for (const { name } of indexes) database.exec(`drop index ${name}`)
  for (const table of copied) copyTable(database, table, { count, copies })
  for (const { sql } of indexes) database.exec(sql)
  // Every customer has as many orders and purchases as the original.
  const factor = copies + 1
  database.exec(`update list_sizes set people = people * ${factor}, all_orders = all_orders * ${factor},
    all_purchases = all_purchases * ${factor}`)
  database.exec('commit; pragma wal_checkpoint(truncate)')
  return count * factor
}
