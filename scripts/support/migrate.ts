import { createHash, createHmac } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { root } from './paths.ts'

const migrations = join(root, 'migrations')
const namespace = 'miniflare-D1DatabaseObject'

/** Miniflare names the file of a D1 database by two hashes, like the id of a Durable Object. */
function buildFileName(databaseId: string): string {
  const key = createHash('sha256').update(namespace).digest()
  const sign = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const id = sign(databaseId)
  return `${Buffer.concat([id, sign(id)]).toString('hex')}.sqlite`
}

/** Returns the path of a database below the folder in which Miniflare persists it. */
export const locateDatabase = (persistFolder: string, databaseId: string): string =>
  join(persistFolder, 'd1', namespace, buildFileName(databaseId))

/**
 * Does what `wrangler d1 migrations apply --local` does, without a simulator. Each migration is one transaction and is
 * recorded in the same table. Returns false and changes nothing when the file of an applied migration is missing.
 */
export function migrate(persistFolder: string, databaseId: string): boolean {
  const path = locateDatabase(persistFolder, databaseId)
  mkdirSync(dirname(path), { recursive: true })
  const database = new DatabaseSync(path)
  try {
    // In this mode statements do not wait for the disk one by one. Miniflare uses it too.
    database.exec(`pragma journal_mode = wal;
      create table if not exists d1_migrations (
        id integer primary key autoincrement, name text unique, applied_at timestamp default current_timestamp not null)`)
    const names = readdirSync(migrations).filter((name) => name.endsWith('.sql'))
    const applied = new Set(
      database
        .prepare('select name from d1_migrations')
        .all()
        .map(({ name }) => String(name)),
    )
    if (!applied.isSubsetOf(new Set(names))) return false
    for (const name of names.toSorted()) if (!applied.has(name)) apply(database, name)
    return true
  } finally {
    database.close()
  }
}

function apply(database: DatabaseSync, name: string): void {
  try {
    database.exec(`begin;\n${readFileSync(join(migrations, name), 'utf8')}`)
    database.prepare('insert into d1_migrations (name) values (?)').run(name)
    database.exec('commit')
  } catch (cause) {
    throw new Error(`Migration ${name} failed.`, { cause })
  }
}
