import { existsSync, globSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ObjectState, ReadObjects } from './campaigns.ts'
import type { ListKeys } from './files.ts'
import type { Query } from './query.ts'

/** A statement reads so many rows that a million take a second or two. */
const rowsAtOnce = 20_000
const keysAtOnce = 5000

/** Opens a database that a server may be using. Nothing is written. */
const open = (file: string): DatabaseSync => new DatabaseSync(file, { readOnly: true })

/** Lists the databases of a part of the simulator, in a folder of `npm start` or of `wrangler dev`. */
const listDatabases = (stateDir: string, pattern: string): string[] =>
  ['', 'v3']
    .flatMap((version) => globSync(join(stateDir, version, pattern, '*.sqlite')))
    .filter((file) => basename(file) !== 'metadata.sqlite')

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !== undefined
}

function openDatabase(stateDir: string): { database: DatabaseSync; file: string } {
  for (const file of listDatabases(stateDir, 'd1/miniflare-D1DatabaseObject')) {
    const database = open(file)
    if (hasTable(database, 'organizations')) return { database, file }
    database.close()
  }
  throw new Error(
    `${stateDir} has no database of the service. Name the folder of the server: npm run verify -- --state <folder>`,
  )
}

/** Lists the keys of the simulated bucket. */
function openBucket(stateDir: string): ListKeys {
  return async function* listKeys(prefix) {
    for (const file of listDatabases(stateDir, 'r2/miniflare-R2BucketObject')) {
      const database = open(file)
      try {
        if (!hasTable(database, '_mf_objects')) continue
        const statement = database.prepare('select key from _mf_objects where key > ? and key < ? order by key limit ?')
        for (let after = prefix; ;) {
          const keys = statement.all(after, `${prefix}\uFFFF`, keysAtOnce).map(({ key }) => String(key))
          yield keys
          const last = keys.at(-1)
          if (last === undefined || keys.length < keysAtOnce) break
          after = last
        }
      } finally {
        database.close()
      }
    }
  }
}

function readObject(file: string): ObjectState[] {
  const database = open(file)
  try {
    if (!hasTable(database, 'record') || !hasTable(database, 'recipients')) return []
    return database
      .prepare('select campaign_id, sent from record')
      .all()
      .map(({ campaign_id, sent }) => ({ campaign_id: String(campaign_id), sent: Number(sent) }))
  } finally {
    database.close()
  }
}

/** Reads the storage of all campaigns' objects, also of those whose campaign has no row. */
const readLocalObjects =
  (stateDir: string): ReadObjects =>
  () =>
    Promise.resolve(listDatabases(stateDir, 'do/*').flatMap(readObject))

/** Opens the state of a server on this machine, which may be running. */
export function openLocal(stateFolder: string) {
  const stateDir = resolve(stateFolder)
  if (!existsSync(stateDir))
    throw new Error(`${stateDir} does not exist. Name the folder of the server: npm run verify -- --state <folder>`)
  const { database, file } = openDatabase(stateDir)
  const query: Query = <Row>(sql: string) => Promise.resolve(database.prepare(sql).all() as Row[])
  return { file, query, size: rowsAtOnce, files: openBucket(stateDir), readObjects: readLocalObjects(stateDir) }
}
