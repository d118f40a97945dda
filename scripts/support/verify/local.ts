import { existsSync, globSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ObjectState, ReadObjects } from './campaigns.ts'
import type { ListKeys } from './files.ts'
import { addFaults, createFinding, type Finding, type Query } from './query.ts'

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

/** Returns a function that is true if a blob of the simulated bucket is there in full. */
function findBlobs(stateDir: string): (blob: Record<string, unknown>) => boolean {
  const folders = ['', 'v3'].flatMap((version) => globSync(join(stateDir, version, 'r2', '*', 'blobs')))
  return ({ blob_id, size }) =>
    folders.some((folder) => statSync(join(folder, String(blob_id)), { throwIfNoEntry: false })?.size === size)
}

/** Lists the keys of the simulated bucket whose bytes are there. */
function openBucket(stateDir: string): ListKeys {
  return async function* listKeys(prefix) {
    const hasBlob = findBlobs(stateDir)
    for (const file of listDatabases(stateDir, 'r2/miniflare-R2BucketObject')) {
      const database = open(file)
      try {
        if (!hasTable(database, '_mf_objects')) continue
        const listObjects = database.prepare(
          'select key, blob_id, size from _mf_objects where key > ? and key < ? order by key limit ?',
        )
        const listParts = database.prepare('select blob_id, size from _mf_multipart_parts where object_key = ?')
        for (let after = prefix; ;) {
          const objects = listObjects.all(after, `${prefix}\uFFFF`, keysAtOnce)
          // An object that was uploaded in parts has a blob for each of them.
          const listBlobs = (object: (typeof objects)[number]) =>
            object['blob_id'] === null ? listParts.all(String(object['key'])) : [object]
          yield objects.filter((object) => listBlobs(object).every(hasBlob)).map(({ key }) => String(key))
          const last = objects.at(-1)
          if (last === undefined || objects.length < keysAtOnce) break
          after = String(last['key'])
        }
      } finally {
        database.close()
      }
    }
  }
}

/** Has SQLite compare each database with its own indexes and pages, as after a fault of the disk. */
function checkDatabases(stateDir: string): Finding {
  const finding = createFinding('Pages and indexes', 'databases')
  for (const file of listDatabases(stateDir, '{d1,r2,do}/*')) {
    const database = open(file)
    try {
      const lines = database
        .prepare('pragma integrity_check')
        .all()
        .map(({ integrity_check: line }) => String(line))
      if (lines[0] !== 'ok')
        addFaults(
          finding,
          lines.map((line) => `${file}: ${line}`),
        )
    } catch (error) {
      addFaults(finding, [`${file}: ${error instanceof Error ? error.message : String(error)}`])
    } finally {
      database.close()
    }
    finding.compared++
  }
  return finding
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
  return {
    file,
    query,
    size: rowsAtOnce,
    files: openBucket(stateDir),
    readObjects: readLocalObjects(stateDir),
    checkDatabases: () => checkDatabases(stateDir),
  }
}
