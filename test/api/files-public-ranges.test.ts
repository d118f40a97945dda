import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { get, patch, remove } from '../support/api.ts'
import { watchDatabase } from '../support/bindings.ts'
import { seedStoredFile } from '../support/seeding/files.ts'
import { write } from '../support/seeding/rows.ts'
import { fetchFile, buildPath } from '../support/served-files.ts'

afterEach(() => void vi.restoreAllMocks())

/** Requests a range, and returns the answer and its number of queries. */
async function part(path: string) {
  let statements = 0
  const bindings = watchDatabase(() => statements++)
  const { status, headers } = await fetchFile(path, { headers: { range: 'bytes=0-1' }, bindings })
  return { status, age: headers.get('age'), statements }
}

const begun = Date.now()
const setClock = (seconds: number) => vi.spyOn(Date, 'now').mockReturnValue(begun + seconds * 1000)

const read = { status: 206, age: null, statements: 1 }
const notFound = { status: 404, age: null, statements: 1 }

describe('a range of a public file', () => {
  it('is looked up once a minute, and its Age header says when', async () => {
    const path = buildPath(await seedStoredFile())
    setClock(0)
    expect(await part(path)).toEqual(read)
    expect(await part(path)).toEqual({ status: 206, age: '0', statements: 0 })
    setClock(59.999)
    expect(await part(path)).toEqual({ status: 206, age: '59', statements: 0 })
    setClock(60)
    expect(await part(path)).toEqual(read)
  })

  it('is served for at most a minute after the file was deleted or put into quarantine elsewhere', async () => {
    const [deleted, quarantined] = [await seedStoredFile(), await seedStoredFile()]
    setClock(0)
    for (const file of [deleted, quarantined]) expect(await part(buildPath(file))).toEqual(read)
    await write(
      sql`delete from files where id = ${deleted.id}`,
      sql`update files set status = 'quarantined' where id = ${quarantined.id}`,
    )
    setClock(60)
    for (const file of [deleted, quarantined])
      for (const _ of [1, 2]) expect(await part(buildPath(file))).toEqual(notFound)
  })

  it('returns 404 at once where the file was deleted or made private', async () => {
    const table = () => seedStoredFile({ purpose: 'other', mime_type: 'text/csv' })
    const [deleted, hidden] = [await table(), await table()]
    for (const file of [deleted, hidden]) expect(await part(buildPath(file))).toEqual(read)
    expect((await remove(`/v1/files/${deleted.id}`)).status).toBe(204)
    expect((await patch(`/v1/files/${hidden.id}`, { purpose: 'import' })).status).toBe(200)
    for (const file of [deleted, hidden]) expect(await part(buildPath(file))).toEqual(notFound)
  })

  it('is looked up again when its bytes are gone or have moved, without an entry in the log', async () => {
    const [deleted, moved] = [await seedStoredFile(), await seedStoredFile()]
    for (const file of [deleted, moved]) expect(await part(buildPath(file))).toEqual(read)
    await write(sql`delete from files where id = ${deleted.id}`)
    await env.FILES.put(`${moved.storage_key}-again`, moved.content)
    await write(
      sql`update stored_objects set storage_key = ${`${moved.storage_key}-again`} where storage_key = ${moved.storage_key}`,
    )
    await env.FILES.delete([deleted.storage_key, moved.storage_key])
    const log = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect(await part(buildPath(deleted))).toEqual(notFound)
    expect(await part(buildPath(moved))).toEqual(read)
    expect(log).not.toHaveBeenCalled()
  })

  it('is refused with another key, and a signed address is looked up each time', async () => {
    const file = await seedStoredFile()
    expect(await part(buildPath(file))).toEqual(read)
    expect((await part(buildPath({ ...file, access_key: 'f'.repeat(32) }))).status).toBe(404)
    const imported = await seedStoredFile({ purpose: 'import', mime_type: 'text/csv' })
    const { pathname, search } = new URL((await get(`/v1/files/${imported.id}`)).body.url)
    for (const _ of [1, 2]) expect(await part(pathname + search)).toEqual(read)
    expect((await part(buildPath(imported))).status).toBe(404)
  })
})
