import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { allSweeps } from '../../src/entry/scheduled.ts'
import { compareStorage, sweepObjects, sweepUploads } from '../../src/modules/files/jobs.ts'
import { callWith, get, remove } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { crashAt } from '../support/crashes.ts'
import { checkAccount, makeFreshPng, queryRows, listStoredKeys, uploadRaw, watchStore } from '../support/files.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { fakeImages, fetchFile } from '../support/served-files.ts'

const dayMs = 86_400_000

let here: { id: string }
beforeEach(async () => {
  here = await givenOrganization()
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  await env.DB.prepare('delete from sweep_positions').run()
})

async function dayLater(): Promise<void> {
  const job = createContextAt(Date.now() + dayMs + 1)
  await sweepUploads(job)
  await sweepObjects(job)
  for (let steps = 0; steps < 3; steps++) await compareStorage(job)
}

const isWhole = { isCounted: true, isStored: true, lost: 0 }

/** Lists keys in the store that no row of the database knows. */
async function unknownKeys(): Promise<string[]> {
  const storedObjects = await queryRows<{ storage_key: string }>('select storage_key from stored_objects')
  const keys = new Set(storedObjects.map(({ storage_key }) => storage_key))
  return (await listStoredKeys()).filter((key) => !keys.has(key))
}

describe('an upload that crashes', () => {
  it('causes no wrong answer at any call of the store or the database, and leaves no trace after a day', async () => {
    const bytes = makeFreshPng()
    let crashes = 0
    for (let at = 1; ; at++) {
      const { bindings, hasCrashed } = crashAt(at)
      const reply = await uploadRaw(here.id, bytes, { bindings })
      const account = await checkAccount(here.id)
      expect([at, account]).toMatchObject([at, isWhole])
      if (!hasCrashed()) {
        expect(reply.status).toBe(201)
        break
      }
      crashes++
      // The upload may be done although its answer is lost.
      if (reply.status === 201) expect((await get(`/v1/files/${reply.body.id}`)).status).toBe(200)
    }
    // The crashes come before and after the store and the commit.
    expect(crashes).toBe(4)
    await dayLater()
    expect(await checkAccount(here.id)).toMatchObject({ objects: 1, ...isWhole })
    expect(await unknownKeys()).toEqual([])
    expect(await queryRows('select * from objects_to_delete')).toEqual([])
  })

  it('is stored once when it is sent again with its Idempotency-Key', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const bytes = makeFreshPng()
    for (let at = 1; ; at++) {
      const { bindings, hasCrashed } = crashAt(at)
      await uploadRaw(here.id, bytes, { bindings, headers })
      // The crashed request holds the key for as long as its body may take.
      await env.DB.prepare('update idempotency_keys set claimed_until = 0 where status is null').run()
      if (!hasCrashed()) break
    }
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [1], ...isWhole })
  })
})

describe('a deletion that crashes', () => {
  it('leaves the file complete or deleted at any call, and its bytes deleted after the sweep', async () => {
    await sweepObjects(createContextAt(Date.now()))
    const before = await unknownKeys()
    for (let at = 1; ; at++) {
      const { body } = await uploadRaw(here.id, makeFreshPng())
      const { bindings, hasCrashed } = crashAt(at)
      const reply = await callWith(bindings, `/v1/files/${body.id}`, { method: 'DELETE' })
      const status = (await get(`/v1/files/${body.id}`)).status
      expect(await checkAccount(here.id)).toMatchObject(isWhole)
      if (reply.status === 204) expect(status).toBe(404)
      await sweepObjects(createContextAt(Date.now()))
      if (status === 200) expect((await remove(`/v1/files/${body.id}`)).status).toBe(204)
      if (!hasCrashed()) break
    }
    await sweepObjects(createContextAt(Date.now()))
    expect(await checkAccount(here.id)).toMatchObject({ objects: 0, ...isWhole })
    expect(await unknownKeys()).toEqual(before)
  })
})

describe('a deletion', () => {
  it('deletes the variants of the bytes with the last file that has them', async () => {
    const bytes = makeFreshPng()
    const files = [(await uploadRaw(here.id, bytes)).body, (await uploadRaw(here.id, bytes)).body]
    const [row] = await queryRows<{ storage_key: string }>('select storage_key from files where id = ?', files[0].id)
    const key = row?.storage_key ?? ''
    for (const variant of ['thumbnail', 'optimized', 'large'])
      await fetchFile(new URL(files[0].image[variant]).pathname, { bindings: fakeImages() })
    const variants = ['large', 'optimized', 'thumbnail'].map((name) => `derived/${key}/${name}.webp`)
    await remove(`/v1/files/${files[0].id}`)
    await sweepObjects(createContextAt(Date.now()))
    expect(await listStoredKeys(`derived/${key}/`)).toEqual(variants)
    await remove(`/v1/files/${files[1].id}`)
    await sweepObjects(createContextAt(Date.now()))
    expect(await listStoredKeys(`derived/${key}/`)).toEqual([])
    expect(await listStoredKeys()).not.toContain(key)
  })
})

describe('the daily sweep of files', () => {
  it('deletes bytes without a row, unless they are recent', async () => {
    const file = (await uploadRaw(here.id, makeFreshPng())).body
    await env.FILES.put('objects/feed', 'left over')
    await env.FILES.put('derived/objects/feed/thumbnail', 'left over')
    await env.FILES.put('unlike/others', 'not ours to judge')
    await compareStorage(createContextAt(Date.now()))
    expect(await listStoredKeys()).toContain('objects/feed')
    await dayLater()
    expect(await listStoredKeys()).not.toContain('objects/feed')
    expect(await listStoredKeys('derived/')).toEqual([])
    expect(await listStoredKeys('unlike/')).toEqual(['unlike/others'])
    expect((await get(`/v1/files/${file.id}`)).status).toBe(200)
    expect(await checkAccount(here.id)).toMatchObject({ objects: 1, ...isWhole })
  })

  it('keeps bytes without a row while what goes out is held, so that a restore of the database can be undone', async () => {
    await env.FILES.put('objects/since', 'uploaded since')
    const job = createContextAt(Date.now() + dayMs + 1)
    await compareStorage({ ...job, config: { ...job.config, outgoing: 'hold' } })
    expect(await listStoredKeys()).toContain('objects/since')
    await env.DB.prepare('delete from sweep_positions').run()
    await dayLater()
    expect(await listStoredKeys()).not.toContain('objects/since')
  })

  it('keeps the bytes of deleted files while what goes out is held', async () => {
    const file = (await uploadRaw(here.id, makeFreshPng())).body
    const [row] = await queryRows<{ storage_key: string }>('select storage_key from files where id = ?', file.id)
    await remove(`/v1/files/${file.id}`)
    const job = createContextAt(Date.now())
    await allSweeps['file-objects']({ ...job, config: { ...job.config, outgoing: 'hold' } })
    expect(await listStoredKeys()).toContain(row?.storage_key)
    await allSweeps['file-objects'](job)
    expect(await listStoredKeys()).not.toContain(row?.storage_key)
  })

  it('reports files whose bytes are lost, and uploading the same bytes restores them', async () => {
    const bytes = makeFreshPng()
    const file = (await uploadRaw(here.id, bytes)).body
    const [row] = await queryRows<{ storage_key: string }>('select storage_key from files where id = ?', file.id)
    await env.FILES.delete(row?.storage_key ?? '')
    await dayLater()
    const marked = 'select is_missing from stored_objects where organization_id = ?'
    expect(await queryRows(marked, here.id)).toEqual([{ is_missing: 1 }])
    await uploadRaw(here.id, bytes)
    expect(await queryRows(marked, here.id)).toEqual([{ is_missing: 0 }])
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [2], ...isWhole })
    await dayLater()
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [2], ...isWhole })
  })

  it('reads the whole store in steps, once a day', async () => {
    const job = createContextAt(Date.now() + dayMs)
    const calls: string[] = []
    const files = {
      ...job.files,
      list: (options: Parameters<typeof job.files.list>[0]) => (
        calls.push(options.after),
        job.files.list({ ...options, limit: 2 })
      ),
    }
    await Promise.all(Array.from({ length: 5 }, () => uploadRaw(here.id, makeFreshPng())))
    await compareStorage({ ...job, files })
    await compareStorage({ ...job, files })
    expect(calls).toEqual(['', ''])
    await compareStorage({ ...job, now: () => Date.now() + 3 * dayMs, files })
    expect(calls).toHaveLength(4)
    expect(await checkAccount(here.id)).toMatchObject({ objects: 5, ...isWhole })
  })
})

describe('the object store', () => {
  it('stores nothing of a body that breaks off', async () => {
    const before = await listStoredKeys()
    const { bindings } = { bindings: watchStore(() => undefined) }
    for (const length of [1000, 6_000_000]) {
      let sent = 0
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent >= length) controller.error(new Error('The client is gone.'))
          else controller.enqueue(new Uint8Array(100_000).fill((sent += 100_000)))
        },
      })
      const reply = await uploadRaw(here.id, stream, { type: 'text/csv', bindings })
      expect(describeRefusal(reply)).toBe('499 client_closed_request')
    }
    expect(await listStoredKeys()).toEqual(before)
  })
})
