import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { databaseOf, testSchema } from '../support/schema-snapshot.ts'

/** Tables with millions of rows. */
const large = [
  'orders',
  'transactions',
  'purchases',
  'users',
  'edition_customers',
  'refund_requests',
  'webhook_deliveries',
] as const

const { snapshot } = await testSchema()
const database = databaseOf(snapshot)
const reasons = globSync('src/db/schema/**/*.ts')
  .flatMap((file) => readFileSync(file, 'utf8').match(/^\/\*\*\n \* Indexes,[^/]*\*\/$/gm) ?? [])
  .join('')

it.each(large)('every index of %s has its reason in the schema, and no other is named', (table) => {
  const indexes = database
    .prepare(`select name from sqlite_master where type = 'index' and tbl_name = ? and sql is not null`)
    .all(table)
    .map(({ name }) => String(name))
  expect(indexes.length).toBeGreaterThan(0)
  expect(indexes.filter((name) => !new RegExp(`\\b${name}\\b`).test(reasons))).toEqual([])
  const named = [...reasons.matchAll(new RegExp(`\\b${table}_\\w+`, 'g'))].map(([name]) => name)
  expect(named.filter((name) => !large.some((other) => name === other) && !indexes.includes(name))).toEqual([])
})
