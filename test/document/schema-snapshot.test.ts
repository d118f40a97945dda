import { expect, it } from 'vitest'
import { createDatabase, listDeclarations, loadTestSchema } from '../support/schema-snapshot.ts'

const { migrations, snapshot } = await loadTestSchema()
const migrated = createDatabase(migrations.flatMap(({ queries }) => queries))
const snapshotDatabase = createDatabase(snapshot)

type Database = typeof snapshotDatabase

const byName = (database: Database) =>
  listDeclarations(database).toSorted((one, other) =>
    `${one.type} ${one.name}` < `${other.type} ${other.name}` ? -1 : 1,
  )

/** The row in which a search index counts its segments and changes of its settings. */
const isStructure = (table: string, row: Record<string, unknown>) => table.endsWith('_data') && row['id'] === 10

const readTables = (database: Database) =>
  Object.fromEntries(
    listDeclarations(database)
      // A search index stores its rows in tables of its own.
      .filter(({ type, sql }) => type === 'table' && !sql.includes('using fts5'))
      .map(({ name }) => [
        name,
        database
          .prepare(`select * from "${name}"`)
          .all()
          .filter((row) => !isStructure(name, row)),
      ]),
  )

it('the schema snapshot of the tests declares what the migrations declare', () => {
  expect(migrations.length).toBeGreaterThan(10)
  expect(byName(snapshotDatabase)).toEqual(byName(migrated))
})

it('the schema snapshot of the tests has the rows that the migrations write', () => {
  expect(readTables(snapshotDatabase)).toEqual(readTables(migrated))
  expect(readTables(snapshotDatabase)['email_messages']).not.toEqual([])
})

it('the schema snapshot of the tests breaks no foreign key', () => {
  expect(snapshotDatabase.prepare('pragma foreign_key_check').all()).toEqual([])
})
