import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backUp } from '../../scripts/support/backup.ts'
import { adviseOnDisk } from '../../scripts/support/disk-faults.ts'
import { lockFolder } from '../../scripts/support/folder-lock.ts'
import { migrate } from '../../scripts/support/migrate.ts'

let folder: string
let state: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'))
  state = join(folder, 'state')
  migrate(join(state, 'v3'), 'any')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const path = (...names: string[]) => join(folder, ...names)

describe('a fault of a disk', () => {
  it.each([
    ['ENOSPC: no space left on device, write', 'The disk is full.'],
    ['database or disk is full', 'The disk is full.'],
    ["EACCES: permission denied, mkdir '/root/x'", 'This user may not write there.'],
    ["EROFS: read-only file system, open '/x'", 'Nobody can write there.'],
  ])('%s is explained with what to do', (message, advice) => {
    expect(adviseOnDisk(new Error(message))).toContain(advice)
  })

  it('is not every fault', () => {
    expect(adviseOnDisk(new Error('ENOSPC: System limit for number of file watchers reached'))).toBeNull()
  })
})

describe('a backup', () => {
  it('has nothing but the state and its report, also after one that was killed', async () => {
    mkdirSync(path('new', 'backup.unfinished', 'v3', 'd1'), { recursive: true })
    writeFileSync(path('new', 'backup.unfinished', 'v3', 'd1', 'half.sqlite'), 'half')
    expect(await backUp(state, path('new', 'backup'))).toMatchObject({ databases: 1, files: 0 })
    expect(readdirSync(path('new'))).toEqual(['backup'])
    expect(readdirSync(path('new', 'backup')).toSorted()).toEqual(['backup.json', 'v3'])
    expect(existsSync(path('new', 'backup', 'v3', 'd1', 'half.sqlite'))).toBe(false)
  })

  it('is made by one command at a time, and leaves the other one alone', async () => {
    const release = lockFolder(path('busy.unfinished'))
    writeFileSync(path('busy.unfinished', 'copied'), '')
    await expect(backUp(state, path('busy'))).rejects.toThrow(
      `${path('busy.unfinished')} is in use by another backup (process ${process.pid}). Wait until that one ends, or choose another folder.`,
    )
    expect(existsSync(path('busy.unfinished', 'copied'))).toBe(true)
    release()
  })

  it('is refused where it cannot be, with what to do', async () => {
    writeFileSync(path('file'), '')
    symlinkSync(state, path('link'))
    await expect(backUp(state, path('file'))).rejects.toThrow('exists already')
    await expect(backUp(state, join(state, 'inside'))).rejects.toThrow('is inside of')
    await expect(backUp(state, path('link', 'new', 'inside'))).rejects.toThrow('is inside of')
    await expect(backUp(path('link'), join(state, 'inside'))).rejects.toThrow('is inside of')
    await expect(backUp(state, path('file', 'backup'))).rejects.toThrow(
      `${path('file', 'backup')} was not made, and the server goes on as before. A part of its path is a file. Choose another folder.`,
    )
    expect(readdirSync(state)).toEqual(['v3'])
  })

  it('of a store whose bytes are gone forgets the object, also one that lacks a part', async () => {
    const bucket = join(state, 'v3', 'r2', 'bucket')
    mkdirSync(join(bucket, 'blobs'), { recursive: true })
    for (const name of ['a', 'b1']) writeFileSync(join(bucket, 'blobs', name), 'bytes')
    const database = new DatabaseSync(join(bucket, 'any.sqlite'))
    database.exec(`create table _mf_objects (key text primary key, blob_id text);
      create table _mf_multipart_parts (object_key text references _mf_objects (key), blob_id text);
      insert into _mf_objects values ('whole', 'a'), ('lost', 'x'), ('parts', null);
      insert into _mf_multipart_parts values ('parts', 'b1'), ('parts', 'b2'), (null, 'b3')`)
    database.close()
    expect(await backUp(state, path('lost'))).toMatchObject({ databases: 2, files: 2, lostFiles: 2 })
    const copy = new DatabaseSync(path('lost', 'v3', 'r2', 'bucket', 'any.sqlite'))
    expect(copy.prepare('select key from _mf_objects').all()).toEqual([{ key: 'whole' }])
    copy.close()
  })
})
