import { is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { listColumns, listTableNames } from '../support/dump.ts'

const modules = (import.meta as unknown as { glob: (pattern: string, options: object) => Record<string, object> }).glob(
  '../../src/db/schema/**/*.ts',
  { eager: true },
)

const declared = Object.values(modules)
  .flatMap((module) => Object.values(module) as unknown[])
  .filter((value): value is SQLiteTable => is(value, SQLiteTable))
  .map((table) => getTableConfig(table))

describe('the declared tables', () => {
  it('are the migrated tables', async () => {
    expect(declared.map(({ name }) => name).toSorted()).toEqual(await listTableNames())
  })

  it.each(declared.map((table) => [table.name, table] as const))('%s has the migrated columns', async (name, table) => {
    const keys = table.primaryKeys.flatMap((key) => key.columns.map((column) => column.name))
    const shape = (column: { name: string; type: string; isKey: boolean; notNull: boolean; hasDefault: boolean }) => ({
      ...column,
      // A primary key is never null, even without `not null`.
      notNull: column.notNull || column.isKey,
    })
    const wanted = table.columns.map((column) =>
      shape({
        name: column.name,
        type: column.getSQLType(),
        isKey: column.primary || keys.includes(column.name),
        notNull: column.notNull,
        // SQLite numbers the rows of an integer key itself, without a declared default.
        hasDefault: column.hasDefault && !(column.primary && column.getSQLType() === 'integer'),
      }),
    )
    const migrated = (await listColumns(name)).map((column) =>
      shape({
        name: column.name,
        type: column.type.toLowerCase(),
        isKey: column.pk > 0,
        notNull: column.notnull === 1,
        hasDefault: column.dflt_value !== null,
      }),
    )
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)
    expect(wanted.toSorted(byName)).toEqual(migrated.toSorted(byName))
  })
})
