import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { sweepObjects, sweepUploads } from '../../src/modules/files/jobs.ts'
import { callWith, get } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { crashAt } from '../support/crashes.ts'
import { isWhole, putPart, startUpload, makeTable } from '../support/file-uploads.ts'
import { checkAccount, listStoredKeys, loadUsedBytes } from '../support/files.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'

let here: { id: string }
beforeEach(async () => {
  here = await givenOrganization()
})

describe('an abandoned upload in parts', () => {
  it('is deleted a day after its start, and its bytes no longer count', async () => {
    const before = await listStoredKeys()
    const [open, joined] = [makeTable(5000), makeTable(6000)]
    const first = await startUpload(here, open)
    await putPart(first.id, 1, open)
    const second = await startUpload(here, joined)
    await putPart(second.id, 1, joined)
    // The request joined the parts and crashed before it stored the file.
    const [row] = (await env.DB.prepare('select * from file_uploads where id = ?').bind(second.id).all()).results
    const [part] = (await env.DB.prepare('select * from file_upload_parts where upload_id = ?').bind(second.id).all())
      .results
    const upload = env.FILES.resumeMultipartUpload(String(row?.['storage_key']), String(row?.['store_upload_id']))
    await upload.complete([{ partNumber: 1, etag: String(part?.['store_etag']) }])
    const job = createContextAt(Date.now() + 86_400_001)
    await sweepUploads(job)
    expect(await loadUsedBytes(here.id)).toBe(0)
    await sweepObjects(job)
    expect((await listStoredKeys()).filter((key) => !before.includes(key))).toEqual([])
    expect((await get(`/v1/files/uploads/${first.id}`)).status).toBe(404)
    expect(await checkAccount(here.id)).toMatchObject({ objects: 0, ...isWhole })
  })

  it('is deleted completely although the sweep crashes at any call of the store or the database', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const bytes = makeTable(5000)
    const upload = await startUpload(here, bytes)
    for (let at = 1; ; at++) {
      const { bindings, hasCrashed } = crashAt(at)
      await putPart(upload.id, 1, bytes, { bindings })
      expect(await checkAccount(here.id)).toMatchObject({ objects: 0, ...isWhole })
      if (!hasCrashed()) break
    }
    for (let at = 1; ; at++) {
      const { bindings, hasCrashed } = crashAt(at)
      const reply = await callWith(bindings, `/v1/files/uploads/${upload.id}/complete`, { method: 'POST' })
      expect(await checkAccount(here.id)).toMatchObject(isWhole)
      if (hasCrashed()) continue
      expect(reply.status).toBe(201)
      break
    }
    expect(await checkAccount(here.id)).toEqual({ objects: 1, references: [1], ...isWhole })
    vi.restoreAllMocks()
  })
})
