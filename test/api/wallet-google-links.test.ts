import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openJob } from '../../src/entry/job.ts'
import { sweepPassUpdates } from '../../src/modules/wallet/jobs.ts'
import { callWith, get, patch, post, remove, type Reply } from '../support/api.ts'
import { type FakeGoogleWallet, type GoogleConduct, serveGoogleWallet } from '../support/fake-google-wallet.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedPassDesign } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedFiles } from '../support/seeding/files.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedTrade } from '../support/seeding/sales/trades.ts'
import { enableWallet, seedWalletPurchase } from '../support/seeding/sales/wallet-passes.ts'

/** The longest address of a service account: account and project have 30 characters each. */
const longestEmail = `${'a'.repeat(30)}@${'p'.repeat(30)}.iam.gserviceaccount.com`

let google: FakeGoogleWallet
beforeEach(async () => {
  google = await serveGoogleWallet()
})
afterEach(() => vi.restoreAllMocks())

const issue = (purchase: string, headers: Record<string, string> = {}): Promise<Reply> =>
  callWith(google.bindings, `/v1/purchases/${purchase}/wallet-passes`, {
    method: 'POST',
    body: { platform: 'google' },
    headers,
  })

/** Tells Google what is due, of other tests too. */
const sweep = () => sweepPassUpdates(openJob({ ...env, ...google.bindings }))

const passesOf = (purchase: string) =>
  db.all(sql<{ id: string; stored_at: number | null }>`select id, stored_at from wallet_passes
    where purchase_id = ${purchase} and platform = 'google'`)

const objectOf = (reply: Reply) => google.objects.get(`${google.issuerId}.${reply.body.serial_number}`)

/** Runs something once, while Google stores the first pass. */
function actDuringStore(act: () => Promise<unknown>): void {
  let isFirst = true
  google.respondWith(async ({ method, resource }): Promise<GoogleConduct> => {
    if (isFirst && method === 'POST' && resource === 'eventTicketObject') {
      isFirst = false
      await act()
    }
    return 'accept'
  })
}

const auditOf = async (organization: string) =>
  (await get(`/v1/audit-log?organization_id=${organization}&action=createWalletPass`)).body.results

describe('the link to save a pass at Google', () => {
  it('holds only ids, because Google has stored the class and the pass', async () => {
    const { purchase, edition } = await seedWalletPurchase()
    const reply = await issue(purchase)
    expect(reply.status, reply.text).toBe(201)
    const classId = `${google.issuerId}.${edition}`
    const id = `${google.issuerId}.${reply.body.serial_number}`
    expect(decodeJwt(reply.body.add_url.split('/').at(-1))).toMatchObject({
      aud: 'google',
      typ: 'savetowallet',
      payload: { eventTicketObjects: [{ id, classId }] },
    })
    expect(decodeJwt(reply.body.add_url.split('/').at(-1))['payload']).toEqual({
      eventTicketObjects: [{ id, classId }],
    })
    expect(google.classes.get(classId)).toMatchObject({ reviewStatus: 'UNDER_REVIEW' })
    expect(google.objects.get(id)).toMatchObject({ classId, state: 'ACTIVE', hexBackgroundColor: '#102040' })
  })

  it('has fewer than 1,800 characters when every name has 500 characters', async () => {
    google = await serveGoogleWallet(longestEmail)
    const { purchase, edition, organization, user } = await seedWalletPurchase()
    const rename = (name: string) =>
      write(
        sql`update organizations set name = ${name} where id = ${organization}`,
        sql`update editions set full_name = ${name} where id = ${edition}`,
        sql`update products set name = ${name} where edition_id = ${edition}`,
        sql`update edition_customers set first_name = ${name}, last_name = ${name} where edition_id = ${edition}
          and user_seq = (select seq from users where id = ${user})`,
        sql`update purchases set vendor_code = ${name} where id = ${purchase}`,
      )
    const longName = ' ﷺ"👩‍👩‍👧‍👦ø'.repeat(34)
    await rename(longName)
    const reply = await issue(purchase)
    // Other tests list these rows, and the API allows no such names.
    await rename('Nordlys')
    expect([reply.status, reply.body.add_url.length < 1800, longName.length >= 500]).toEqual([201, true, true])
    const { eventName, issuerName } = google.classes.get(`${google.issuerId}.${edition}`) ?? {}
    expect(String(issuerName).length).toBeLessThanOrEqual(200)
    expect([String(issuerName).endsWith('…'), JSON.stringify(eventName).includes('…')]).toEqual([true, true])
    expect(objectOf(reply)).toMatchObject({ barcode: { value: longName } })
  })

  it('is made without another call to Google when it is requested again, also while Google is down', async () => {
    const { purchase, organization } = await seedWalletPurchase()
    const first = await issue(purchase)
    const calls = google.calls.length
    google.respondWith('cut')
    const secondReply = await issue(purchase)
    expect([secondReply.status, secondReply.body.id]).toEqual([201, first.body.id])
    expect(google.calls).toHaveLength(calls)
    expect(await auditOf(organization)).toHaveLength(1)
  })

  it('does not change the class of the edition when another pass is issued', async () => {
    const { purchase, edition, organization } = await seedWalletPurchase()
    const other = await seedTrade({ organization, edition })
    await enableWallet({ organization, edition }, other.purchase)
    await issue(purchase)
    google.classes.set(`${google.issuerId}.${edition}`, { operator: 'added a picture' })
    expect((await issue(other.purchase)).status).toBe(201)
    expect(google.classes.get(`${google.issuerId}.${edition}`)).toEqual({ operator: 'added a picture' })
    expect(google.objects.size).toBe(2)
  })

  it('belongs to the class of its own edition, also when another edition has the same name', async () => {
    const first = await seedWalletPurchase()
    const edition = await seedEdition({ id: first.organization }, { name: 'Sommerfest', start_at: null, end_at: null })
    await write(sql`update editions set full_name = 'Sommerfest', start_at = 0 where id = ${first.edition}`)
    const second = await seedTrade({ organization: first.organization, edition: edition.id })
    await enableWallet({ organization: first.organization, edition: edition.id }, second.purchase)
    await issue(first.purchase)
    await issue(second.purchase)
    expect([...google.classes.keys()]).toEqual([
      `${google.issuerId}.${first.edition}`,
      `${google.issuerId}.${edition.id}`,
    ])
    expect(google.classes.get(`${google.issuerId}.${first.edition}`)).toMatchObject({
      dateTime: { start: '1970-01-01T01:00:00+01:00' },
    })
    expect(google.classes.get(`${google.issuerId}.${edition.id}`)).not.toHaveProperty('dateTime')
  })

  it('has a class with the logo of the edition, whichever product comes first', async () => {
    const { purchase, edition, organization } = await seedWalletPurchase()
    const [productLogo = '', editionLogo = ''] = await seedFiles({ organization, edition: null }, 2)
    await write(sql`update pass_designs set logo_image_id = ${productLogo} where edition_id = ${edition}`)
    await seedPassDesign({ organization, edition }, { logo_image_id: editionLogo })
    await issue(purchase)
    expect(google.classes.get(`${google.issuerId}.${edition}`)).toMatchObject({
      logo: { sourceUri: { uri: expect.stringContaining(`/files/${editionLogo}/`) } },
    })
  })

  it('is made for one pass and one object when ten requests come at once', async () => {
    const { purchase, organization } = await seedWalletPurchase()
    const replies = await Promise.all(Array.from({ length: 10 }, () => issue(purchase)))
    expect(new Set(replies.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect([google.classes.size, google.objects.size]).toEqual([1, 1])
    expect(await auditOf(organization)).toHaveLength(1)
  })
})

describe('a pass that Google does not store', () => {
  it('returns 503 while Google is down, and the same pass when the request is repeated with its key', async () => {
    const { purchase, organization } = await seedWalletPurchase()
    const key = { 'idempotency-key': crypto.randomUUID() }
    for (const conduct of ['cut', 503, 429] as const) {
      google.respondWith(conduct)
      const refusal = await issue(purchase, key)
      expect(describeRefusal(refusal)).toBe('503 wallet_unavailable')
      expect(refusal.headers.get('retry-after')).toBe('60')
    }
    expect(await auditOf(organization)).toEqual([])
    google.respondWith('accept')
    const reply = await issue(purchase, key)
    expect([reply.status, (await passesOf(purchase)).map(({ id }) => id)]).toEqual([201, [reply.body.id]])
    expect(google.objects.size).toBe(1)
    expect(await auditOf(organization)).toMatchObject([{ resource_id: reply.body.id }])
    expect((await issue(purchase, key)).body).toEqual(reply.body)
  })

  it.each([400, 401, 403])('returns 503 without a time to retry when Google refuses with %i', async (status) => {
    const { purchase } = await seedWalletPurchase()
    google.respondWith(status)
    const reply = await issue(purchase)
    expect([reply.status, reply.body.reason, reply.headers.get('retry-after')]).toEqual([503, `status_${status}`, null])
  })

  it('returns 503 when the service account is invalid', async () => {
    const { purchase } = await seedWalletPurchase()
    google.bindings.WALLET_GOOGLE_SERVICE_ACCOUNT = '{}'
    expect((await issue(purchase)).body).toMatchObject({ code: 'wallet_unavailable', reason: 'no_account' })
  })

  it.each(['eventTicketClass', 'eventTicketObject'] as const)(
    'is stored once with its current content when the answer about the %s is lost',
    async (resource) => {
      const { purchase, user } = await seedWalletPurchase()
      google.respondWith((call) => (call.resource === resource ? 'accept and cut' : 'accept'))
      expect((await issue(purchase)).status).toBe(503)
      google.respondWith('accept')
      expect((await patch(`/v1/user/${user}`, { first_name: 'Freja', last_name: 'Dahl' })).status).toBe(200)
      const reply = await issue(purchase)
      expect(reply.status).toBe(201)
      expect([...google.objects.values()]).toMatchObject([{ ticketHolderName: 'Freja Dahl' }])
      expect(await passesOf(purchase)).toEqual([{ id: reply.body.id, stored_at: expect.any(Number) }])
    },
  )

  it('is stored again when it changes while Google stores it', async () => {
    const { purchase, user } = await seedWalletPurchase()
    actDuringStore(async () => {
      await patch(`/v1/user/${user}`, { first_name: 'Freja', last_name: 'Dahl' })
      await sweep()
    })
    const reply = await issue(purchase)
    expect([reply.status, objectOf(reply)?.['ticketHolderName']]).toEqual([201, 'Freja Dahl'])
  })

  it('is not issued when it is voided at the same time, and the request makes another pass', async () => {
    const { purchase } = await seedWalletPurchase()
    actDuringStore(async () => {
      const [pass] = await passesOf(purchase)
      expect((await remove(`/v1/purchases/${purchase}/wallet-passes/${pass?.id}`)).status).toBe(204)
    })
    const reply = await issue(purchase)
    expect(reply.body).toMatchObject({ status: 'active', voided_at: null })
    await sweep()
    expect([...google.objects.values()].map(({ state }) => state).toSorted()).toEqual(['ACTIVE', 'INACTIVE'])
  })

  it('keeps no name at Google when the customer is erased while Google stores it', async () => {
    const { purchase, user } = await seedWalletPurchase()
    actDuringStore(async () => {
      expect((await post(`/v1/user/${user}/erase`, {})).status).toBe(200)
    })
    await issue(purchase)
    await sweep()
    expect([...google.objects.values()]).toMatchObject([{ ticketHolderName: '' }])
  })

  it('is found and changed by an erasure although its answer was lost', async () => {
    const { purchase, user } = await seedWalletPurchase()
    google.respondWith('accept and cut')
    await issue(purchase)
    google.respondWith(({ resource }) => (resource === 'eventTicketObject' ? 'accept and cut' : 'accept'))
    await issue(purchase)
    google.respondWith('accept')
    expect(JSON.stringify([...google.objects.values()])).toContain('Holm')
    await post(`/v1/user/${user}/erase`, {})
    await sweep()
    expect([...google.objects.values()]).toMatchObject([{ ticketHolderName: '' }])
  })
})

describe('the class of an edition at Google', () => {
  it('follows the edition without a call for each pass', async () => {
    const { purchase, edition } = await seedWalletPurchase()
    await issue(purchase)
    await sweep()
    const calls = google.calls.length
    await patch(`/v1/editions/${edition}`, { start_date: '2026-07-04T10:00:00Z', end_date: '2026-07-05T10:00:00Z' })
    await sweep()
    const id = `${google.issuerId}.${edition}`
    expect(google.calls.slice(calls)).toEqual([{ method: 'PATCH', resource: 'eventTicketClass', id }])
    expect(google.classes.get(id)).toMatchObject({
      dateTime: { start: '2026-07-04T12:00:00+02:00', end: '2026-07-05T12:00:00+02:00' },
    })
    await patch(`/v1/editions/${edition}`, { start_date: null, end_date: null })
    await sweep()
    expect(google.classes.get(id)).not.toHaveProperty('dateTime')
  })

  it('is changed later when Google is down, and when it is not there yet', async () => {
    const { purchase, edition } = await seedWalletPurchase()
    const row = () =>
      db.first(sql<{ due_at: number | null; update_error: string | null }>`select due_at, update_error
      from wallet_editions where edition_id = ${edition}`)
    google.respondWith('cut')
    await issue(purchase)
    google.respondWith('accept')
    await patch(`/v1/editions/${edition}`, { name: 'Moved' })
    await sweep()
    expect(await row()).toEqual({ due_at: expect.any(Number), update_error: 'status_404' })
    await issue(purchase)
    await patch(`/v1/editions/${edition}`, { name: 'Moved again' })
    google.respondWith('cut')
    await sweep()
    expect(await row()).toEqual({ due_at: expect.any(Number), update_error: 'network_error' })
    google.respondWith('accept')
    const job = openJob({ ...env, ...google.bindings })
    await sweepPassUpdates({ ...job, now: () => Date.now() + 120_000 })
    expect(await row()).toEqual({ due_at: null, update_error: null })
    expect(JSON.stringify(google.classes.get(`${google.issuerId}.${edition}`))).toContain('Moved again')
  })

  it('is requested once in a sweep while Google is down, and every change is made later', async () => {
    const editions = [await seedWalletPurchase(), await seedWalletPurchase()]
    for (const { purchase } of editions) await issue(purchase)
    await sweep()
    for (const { edition } of editions) await patch(`/v1/editions/${edition}`, { name: 'Moved' })
    google.respondWith('cut')
    const calls = google.calls.length
    await sweep()
    expect(google.calls.slice(calls).filter(({ resource }) => resource === 'eventTicketClass')).toHaveLength(1)
    google.respondWith('accept')
    for (const minutes of [10, 20, 30])
      await sweepPassUpdates({
        ...openJob({ ...env, ...google.bindings }),
        now: () => Date.now() + minutes * 60_000,
      })
    expect([...google.classes.values()].map(({ eventName }) => JSON.stringify(eventName))).toEqual([
      expect.stringContaining('Moved'),
      expect.stringContaining('Moved'),
    ])
  })
})
