import { constants, existsSync, globSync, realpathSync, statSync } from 'node:fs'
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { adviseOnDisk } from './disk-faults.ts'
import { lockFolder } from './folder-lock.ts'

export interface BackupReport {
  databases: number
  files: number
  bytes: number
  /** Files that were uploaded and deleted again while the backup ran. */
  lostFiles: number
}

/** The server makes the content of these folders again. */
const leftOutFolders = ['cache', 'ratelimit', 'images']

const listFiles = (folder: string, pattern: string): string[] =>
  globSync(pattern, { cwd: folder }).filter(
    (path) =>
      !leftOutFolders.includes(path.split(sep)[0] ?? '') &&
      statSync(join(folder, path), { throwIfNoEntry: false })?.isFile(),
  )

const listDatabases = (folder: string) => listFiles(folder, '**/*.sqlite')
const listBlobs = (folder: string) => listFiles(folder, 'r2/*/blobs/**')

/** A reader that sees the database as it is now, whatever the server writes from now on. */
function pinDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 })
  database.exec('begin')
  database.prepare('select count(*) from sqlite_schema').get()
  return database
}

/** Resolves the links of a path, whose last folders may not exist yet. */
function resolveLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(resolveLinks(parent), basename(path))
}

/** Says why a backup was not made, and what to do. */
function describeFault(target: string, error: unknown): Error {
  const advice = adviseOnDisk(error) ?? (error instanceof Error ? error.message : String(error))
  return new Error(`${target} was not made, and the server goes on as before. ${advice}`, { cause: error })
}

const otherBackup = { name: 'backup', advice: 'Wait until that one ends, or choose another folder.' }

/** Locks the folder in which a backup is made, and empties it of what a backup that was killed has left there. */
async function openDraft(draft: string): Promise<() => Promise<void>> {
  const release = lockFolder(draft, otherBackup)
  await rm(join(draft, 'v3'), { recursive: true, force: true })
  return async () => {
    release()
    await rm(join(draft, 'lock.sqlite'), { force: true })
    await rm(join(draft, 'lock.sqlite-journal'), { force: true })
  }
}

/**
 * Copies the state of a server, which may be running, into a folder that does not exist yet. The copy is one moment of the
 * database: it contains the bytes of all files that the database knows, and what the objects of campaigns knew then or a
 * little later, so that they never forget whom they sent a message.
 */
export async function backUp(stateDir: string, target: string): Promise<BackupReport> {
  const source = join(stateDir, 'v3')
  if (!existsSync(join(source, 'd1')))
    throw new Error(`${stateDir} has no database. Set STATE_DIR to the folder of the server.`)
  if (existsSync(target)) throw new Error(`${target} exists already. Choose a folder that does not exist yet.`)
  if (!relative(resolveLinks(stateDir), resolveLinks(target)).startsWith('..'))
    throw new Error(`${target} is inside of ${stateDir}. Choose a folder outside, best on another disk.`)
  const draft = `${target}.unfinished`
  try {
    const release = await openDraft(draft)
    try {
      const report = await copyState(source, join(draft, 'v3'))
      await writeFile(join(draft, 'backup.json'), `${JSON.stringify({ ...report, created: new Date() }, null, 2)}\n`)
      await release()
      await rename(draft, target)
      return report
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      await release()
      throw error
    }
  } catch (error) {
    throw describeFault(target, error)
  }
}

async function copyState(source: string, draft: string): Promise<BackupReport> {
  // Most bytes are copied before the moment of the backup, so that little is left to do after it.
  await copyBlobs(source, draft)
  await copyBlobs(source, draft)
  const paths = listDatabases(source)
  const isCampaign = (path: string) => path.startsWith(`do${sep}`)
  const isStore = (path: string) => path.startsWith(`r2${sep}`)
  const pins = new Map<string, DatabaseSync>()
  try {
    // Nothing happens between these lines: a row comes after its bytes, and its bytes go after the row.
    for (const path of paths) if (!isCampaign(path) && !isStore(path)) pins.set(path, pinDatabase(join(source, path)))
    for (const path of paths) if (isStore(path)) pins.set(path, pinDatabase(join(source, path)))
    await copyBlobs(source, draft)
    // The folder is listed again, because campaigns that the database knows may have got their objects since.
    const campaigns = listDatabases(source).filter(isCampaign)
    for (const path of campaigns) {
      const database = new DatabaseSync(join(source, path), { readOnly: true, timeout: 10_000 })
      await copyDatabase(database, join(draft, path)).finally(() => database.close())
    }
    for (const [path, database] of pins) await copyDatabase(database, join(draft, path))
    const stores = [...pins.keys()].filter((path) => isStore(path) && !path.endsWith('metadata.sqlite'))
    const lostFiles = stores.reduce((sum, path) => sum + forgetLostObjects(join(draft, path), draft), 0)
    const blobs = listBlobs(draft)
    const databases = [...pins.keys(), ...campaigns]
    const bytes = [...blobs, ...databases].reduce((sum, path) => sum + statSync(join(draft, path)).size, 0)
    return { databases: databases.length, files: blobs.length, bytes, lostFiles }
  } finally {
    for (const database of pins.values()) database.close()
  }
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
}

async function copyDatabase(database: DatabaseSync, path: string): Promise<void> {
  await makeFolder(path)
  await backup(database, path, { rate: 10_000 })
}

/** Copies the bytes that are not copied yet. The server never changes bytes that it has stored. */
async function copyBlobs(source: string, draft: string): Promise<void> {
  for (const path of listBlobs(source)) {
    const copy = join(draft, path)
    if (existsSync(copy)) continue
    await makeFolder(copy)
    try {
      await copyFile(join(source, path), copy, constants.COPYFILE_FICLONE)
    } catch (error) {
      // The server has deleted the file meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

/**
 * Forgets objects whose bytes, or one of their parts, were deleted before they were copied. The service then knows that the
 * bytes are lost.
 */
function forgetLostObjects(path: string, draft: string): number {
  const blobIds = new Set(listBlobs(draft).map((blob) => blob.slice(blob.lastIndexOf(sep) + 1)))
  const database = new DatabaseSync(path)
  try {
    const blobs = database.prepare(`select key, blob_id from _mf_objects where blob_id is not null
      union all select object_key, blob_id from _mf_multipart_parts where object_key is not null`)
    const lostBlobs = blobs.all().filter(({ blob_id }) => !blobIds.has(String(blob_id)))
    const lostKeys = new Set(lostBlobs.map(({ key }) => String(key)))
    for (const key of lostKeys) {
      database.prepare('delete from _mf_multipart_parts where object_key = ?').run(key)
      database.prepare('delete from _mf_objects where key = ?').run(key)
    }
    return lostKeys.size
  } finally {
    database.close()
  }
}
