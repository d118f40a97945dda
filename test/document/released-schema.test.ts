import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import {
  findChangedMigrations,
  listReleases,
  readReleaseDatabase,
} from '../../scripts/support/release/stored-releases.ts'
import { findFaults, listUnusedNames } from '../../scripts/support/schema/compatible.ts'
import { readShape } from '../../scripts/support/schema/read-shape.ts'
import { readMigrations } from '../../scripts/support/schema/read-tables.ts'
import { createTables } from '../../src/objects/campaign/schema.ts'

const [migrations, releases] = await Promise.all([readMigrations(), listReleases()])
const lastRelease = releases.at(-1)!
const pendingMigrations = migrations.filter(({ name }) => !(name in lastRelease.migrations))

async function openReleaseDatabase(): Promise<DatabaseSync> {
  const database = new DatabaseSync(':memory:')
  database.deserialize(await readReleaseDatabase(lastRelease))
  return database
}

describe('the migrations', () => {
  it('of a release stay as they are, because installations have applied them', () => {
    expect(findChangedMigrations(releases, migrations)).toEqual([])
    expect(Object.keys(lastRelease.migrations).length).toBeGreaterThan(20)
  })

  it('since the last release leave what its version reads and writes', () => {
    const before = new DatabaseSync(':memory:')
    const after = new DatabaseSync(':memory:')
    for (const { name, text } of migrations) {
      after.exec(text)
      if (name in lastRelease.migrations) before.exec(text)
    }
    const unusedNames = listUnusedNames(pendingMigrations, new Set(releases.map(({ version }) => version)))
    const faults = findFaults(readShape(before), readShape(after))
    const remaining = faults.filter(({ name, isRemoval }) => !(isRemoval && unusedNames.has(name)))
    expect(remaining.map(({ message }) => message)).toEqual([])
  })
})

describe('the migrations since the last release', () => {
  it('have names that say their order, each its own number', () => {
    const names = migrations.map(({ name }) => name)
    expect(names.filter((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toEqual([])
    expect(new Set(names.map((name) => name.slice(0, 4))).size).toBe(names.length)
  })

  it('have nothing that D1 refuses or ignores in the transaction of a migration', () => {
    const statements =
      /^ *(?:begin(?: transaction)?;|commit|rollback|savepoint|vacuum|attach|pragma (?!defer_foreign_keys))/im
    expect(pendingMigrations.filter(({ text }) => statements.test(text)).map(({ name }) => name)).toEqual([])
  })
})

describe('the object of a campaign', () => {
  const open = (...sources: ((database: DatabaseSync) => void)[]) => {
    const database = new DatabaseSync(':memory:')
    for (const source of sources) source(database)
    return readShape(database)
  }
  const createReleased = (database: DatabaseSync) => database.exec(lastRelease.campaign_tables)

  it('has all tables and columns of this version also when an earlier release began it', () => {
    expect(open(createReleased, createTables)).toEqual(open(createTables))
  })

  it('still works with the version before, if that one is deployed again', () => {
    expect(findFaults(open(createReleased), open(createTables)).map(({ message }) => message)).toEqual([])
  })
})

describe('the database of the last release', () => {
  it('has the schema of its migrations', async () => {
    const database = new DatabaseSync(':memory:')
    for (const { name, text } of migrations) if (name in lastRelease.migrations) database.exec(text)
    const stored = await openReleaseDatabase()
    expect(readShape(stored)).toEqual(readShape(database))
    const applied = stored.prepare('select name from d1_migrations order by name').all()
    expect(applied.map(({ name }) => name)).toEqual(Object.keys(lastRelease.migrations))
  })

  it('has the rows of its version, and keeps them all when the later migrations are applied', async () => {
    const database = await openReleaseDatabase()
    const tables = [...readShape(database).tables]
      .filter(([, { storage }]) => storage !== 'virtual')
      .map(([name]) => name)
    const count = () =>
      Object.fromEntries(
        tables.map((name) => [
          name,
          Number(database.prepare(`select count(*) as rows from "${name}"`).get()?.['rows']),
        ]),
      )
    const before = count()
    expect(Object.values(before).filter((rows) => rows > 0).length).toBeGreaterThan(30)
    for (const { text } of pendingMigrations) database.exec(`begin;\n${text}\ncommit`)
    const after = count()
    expect(tables.filter((name) => (after[name] ?? 0) < (before[name] ?? 0))).toEqual([])
    expect(database.prepare('pragma foreign_key_check').all()).toEqual([])
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  })
})
