import { sql } from 'drizzle-orm'
import { unzipSync } from 'fflate'
import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/domain/text/encoding.ts'
import { call, callWith, get, post, publicUrl, remove } from '../support/api.ts'
import { interruptDatabase } from '../support/bindings.ts'
import { download, readPassJson } from '../support/pass-packages.ts'
import { describeRefusal } from '../support/refusals.ts'
import { db, write } from '../support/seeding/rows.ts'
import { seedTrade } from '../support/seeding/sales/trades.ts'
import { givenPass, seedWalletPurchase, givenPassOf } from '../support/seeding/sales/wallet-passes.ts'
import { listCaptured, latest, loadPass } from '../support/wallet.ts'

const buildPath = (purchase: string) => `/v1/purchases/${purchase}/wallet-passes`

const listRows = (purchase: string) => db.all(sql`select id from wallet_passes where purchase_id = ${purchase}`)

describe('createWalletPass', () => {
  it('makes a pass with a link, and returns the same pass when it is requested again', async () => {
    const { purchase, organization, edition } = await seedWalletPurchase()
    const reply = await post(buildPath(purchase), { platform: 'apple' })
    expect(reply.status, reply.text).toBe(201)
    expect(reply.body).toMatchObject({
      purchase_id: purchase,
      organization_id: organization,
      edition_id: edition,
      provider: 'vendorA',
      platform: 'apple',
      status: 'active',
      added_at: null,
      removed_at: null,
      voided_at: null,
    })
    expect(reply.body.add_url).toMatch(new RegExp(`^${publicUrl}/wallet/apple/passes/${reply.body.serial_number}\\.`))
    const secondReply = await post(buildPath(purchase), { platform: 'apple' })
    expect([secondReply.status, secondReply.body]).toEqual([201, reply.body])
    expect(await listRows(purchase)).toHaveLength(1)
    const { body } = await get(`/v1/purchases/${purchase}`)
    const { id, provider, platform, serial_number, status, added_at, removed_at } = reply.body
    expect(body.wallet_passes).toEqual([{ id, provider, platform, serial_number, status, added_at, removed_at }])
  })

  it('makes one pass for ten simultaneous requests', async () => {
    const { purchase } = await seedWalletPurchase()
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => post(buildPath(purchase), { platform: 'apple' })),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201))
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1)
    expect(await listRows(purchase)).toHaveLength(1)
  })

  it('returns the same pass when two requests issue it at the same time', async () => {
    const { purchase } = await seedWalletPurchase()
    const body = { platform: 'apple' }
    const raced = interruptDatabase(/insert into wallet_passes/, () => post(buildPath(purchase), body))
    const reply = await callWith(raced, buildPath(purchase), { method: 'POST', body })
    expect(reply.status).toBe(201)
    expect(await listRows(purchase)).toEqual([{ id: reply.body.id }])
  })

  it('issues no pass for a purchase that is cancelled at the same time', async () => {
    const { purchase } = await seedWalletPurchase()
    const cancel = () => write(sql`update purchases set status = 'cancelled' where id = ${purchase}`)
    const raced = interruptDatabase(/insert into wallet_passes/, cancel)
    const reply = await callWith(raced, buildPath(purchase), { method: 'POST', body: { platform: 'apple' } })
    expect([reply.status, reply.body.reason]).toEqual([409, 'purchase_not_active'])
    expect(await listRows(purchase)).toEqual([])
  })

  it('returns a link to save the pass at Google, and captures the class and the object of the purchase', async () => {
    const { purchase, edition } = await seedWalletPurchase()
    const { body } = await post(buildPath(purchase), { platform: 'google' })
    expect(body).toMatchObject({ provider: 'vendorB', platform: 'google' })
    const [, jwt = ''] = /^https:\/\/pay\.google\.com\/gp\/v\/save\/(.+)$/.exec(body.add_url) ?? []
    const ids = { id: `capture.${body.serial_number}`, classId: `capture.${edition}` }
    expect(decodeJwt(jwt)).toMatchObject({
      aud: 'google',
      typ: 'savetowallet',
      payload: { eventTicketObjects: [ids] },
    })
    const [captured] = await listCaptured(body.id)
    expect(JSON.parse(captured?.body ?? '')).toMatchObject({
      eventTicketClasses: [
        { id: `capture.${edition}`, callbackOptions: { url: `${publicUrl}/wallet/google/callback` } },
      ],
      eventTicketObjects: [
        {
          ...ids,
          state: 'ACTIVE',
          hexBackgroundColor: '#102040',
          barcode: { type: 'QR_CODE', value: purchase },
        },
      ],
    })
  })

  it('stores the pass once in the dev mailbox', async () => {
    const pass = await givenPass('google')
    await post(buildPath(pass.purchase), { platform: 'google' })
    expect(await listCaptured(pass.id)).toHaveLength(1)
    const list = await call('/dev/outbox.json?channel=wallet', { token: null })
    expect(new Set(list.body.results.map(({ channel }: { channel: string }) => channel))).toEqual(new Set(['wallet']))
    const outboxMessage = list.body.results.find((item: { reference: string }) => item.reference === pass.id)
    expect(outboxMessage).toMatchObject({ channel: 'wallet' })
    const page = await call(`/dev/outbox/${outboxMessage.id}`, { token: null })
    expect([page.status, page.text.includes('eventTicketObjects'), page.text.includes('>Wallet<')]).toEqual([
      200,
      true,
      true,
    ])
  })

  it('refuses a purchase that is not active, with a reason', async () => {
    for (const status of ['pending', 'used', 'refunded', 'expired', 'cancelled']) {
      const { purchase } = await seedWalletPurchase()
      await write(sql`update purchases set status = ${status} where id = ${purchase}`)
      const reply = await post(buildPath(purchase), { platform: 'apple' })
      expect([reply.status, reply.body]).toMatchObject([
        409,
        { code: 'wallet_pass_unavailable', reason: 'purchase_not_active', current_status: status },
      ])
      expect(await listRows(purchase)).toEqual([])
    }
  })

  it('refuses a product that is not for the wallet, or has no design', async () => {
    const { purchase, organization, edition } = await seedWalletPurchase()
    const other = await seedTrade({ organization, edition })
    const plain = await post(buildPath(other.purchase), { platform: 'apple' })
    expect([plain.status, plain.body.reason]).toEqual([409, 'product_not_for_wallet'])
    await write(sql`delete from pass_designs where edition_id = ${edition}`)
    const bare = await post(buildPath(purchase), { platform: 'apple' })
    expect([bare.status, bare.body.reason]).toEqual([409, 'no_pass_design'])
  })

  it('refuses a platform that is not configured, and one that does not exist', async () => {
    const { purchase } = await seedWalletPurchase()
    const request = { method: 'POST', body: { platform: 'google' } }
    const refusal = await callWith({ WALLET_VENDOR_B: '' }, buildPath(purchase), request)
    expect(describeRefusal(refusal)).toBe('400 validation_error: platform_not_offered #/platform')
    const unknown = await post(buildPath(purchase), { platform: 'samsung' })
    expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '#/platform'])
    expect(await listRows(purchase)).toEqual([])
  })

  it('reads the vendors from the configuration', async () => {
    const { purchase } = await seedWalletPurchase()
    const swapped = { WALLET_VENDOR_A: 'google', WALLET_VENDOR_B: 'apple' }
    const reply = await callWith(swapped, buildPath(purchase), { method: 'POST', body: { platform: 'google' } })
    expect(reply.body).toMatchObject({ provider: 'vendorA', platform: 'google' })
  })

  it('does not show the link in the audit log', async () => {
    const pass = await givenPass()
    const { body, text } = await get(`/v1/audit-log?organization_id=${pass.organization}&action=createWalletPass`)
    expect(body.results).toMatchObject([{ action: 'createWalletPass', resource_id: pass.id }])
    expect(text.includes('/wallet/apple/passes/')).toBe(false)
  })
})

describe('listWalletPasses', () => {
  it('lists the passes of the purchase, also void ones, in the order of creation', async () => {
    const pass = await givenPass()
    const path = `/v1/purchases/${pass.purchase}/wallet-passes`
    expect((await remove(`${path}/${pass.id}`)).status).toBe(204)
    const { body: samePass } = await post(path, { platform: 'apple' })
    const listedPasses = (await get(path)).body.results.map(({ id, status }: { id: string; status: string }) => [
      id,
      status,
    ])
    expect(listedPasses).toEqual([
      [pass.id, 'voided'],
      [samePass.id, samePass.status],
    ])
  })
})

describe('the package of a pass', () => {
  it('contains the fields of the purchase, and a manifest with the hash of each file', async () => {
    const pass = await givenPass()
    await write(sql`update purchases set vendor_code = 'ÆØÅ-17' where id = ${pass.purchase}`)
    const bytes = await download(pass.add_url)
    expect(readPassJson(bytes)).toMatchObject({
      passTypeIdentifier: 'pass.capture',
      serialNumber: pass.serial,
      webServiceURL: `${publicUrl}/wallet/apple`,
      backgroundColor: 'rgb(16, 32, 64)',
      logoText: 'Nordlys',
      voided: false,
      barcodes: [{ message: 'ÆØÅ-17', messageEncoding: 'utf-8' }],
    })
    const { 'manifest.json': manifest, ...files } = unzipSync(bytes)
    const hashes = await Promise.all(
      Object.entries(files).map(async ([name, content]) => [name, toHex(await crypto.subtle.digest('SHA-1', content))]),
    )
    expect(JSON.parse(new TextDecoder().decode(manifest))).toEqual(Object.fromEntries(hashes))
    expect(Object.keys(files).toSorted()).toEqual(['icon.png', 'icon@2x.png', 'icon@3x.png', 'pass.json'])
  })

  it('contains a token of which only a hash is stored', async () => {
    const pass = await givenPass()
    expect(pass.token.length).toBeGreaterThanOrEqual(16)
    expect(JSON.stringify(await loadPass(pass.id)).includes(pass.token)).toBe(false)
  })

  it('is refused for a forged link, a link of another pass, and a void pass', async () => {
    const pass = await givenPass()
    const other = await givenPass()
    const { pathname } = new URL(pass.add_url)
    const [, mac = ''] = pathname.split('.')
    const wrong = [
      `${pathname.slice(0, -1)}${pathname.endsWith('A') ? 'B' : 'A'}`,
      `/wallet/apple/passes/${other.serial}.${mac}`,
      '/wallet/apple/passes/nothing',
    ]
    for (const path of wrong) expect([path, (await call(path, { token: null })).status]).toEqual([path, 404])
    expect((await remove(`${buildPath(pass.purchase)}/${pass.id}`)).status).toBe(204)
    expect((await call(pathname, { token: null })).status).toBe(404)
  })
})

describe('voidWalletPass', () => {
  it('voids a pass once', async () => {
    const pass = await givenPass()
    const path = `${buildPath(pass.purchase)}/${pass.id}`
    expect((await remove(path)).status).toBe(204)
    const first = await loadPass(pass.id)
    expect(first).toMatchObject({ status: 'voided', voided_at: expect.any(Number) })
    expect((await remove(path)).status).toBe(204)
    expect(await loadPass(pass.id)).toEqual(first)
  })

  it('lets a later request make another pass', async () => {
    const pass = await givenPass()
    await remove(`${buildPath(pass.purchase)}/${pass.id}`)
    const nextPass = await givenPassOf({ ...pass, order: '', transaction: '' }, 'apple')
    expect(nextPass.id).not.toBe(pass.id)
    const { body } = await get(buildPath(pass.purchase))
    expect(body.results.map(({ status }: { status: string }) => status).toSorted()).toEqual(['active', 'voided'])
  })

  it('shows the pass as void to the phone that has it', async () => {
    const pass = await givenPass()
    await remove(`${buildPath(pass.purchase)}/${pass.id}`)
    const response = await latest(pass)
    expect(response.status).toBe(200)
    expect(readPassJson(new Uint8Array(await response.arrayBuffer()))).toMatchObject({ voided: true })
  })

  it('returns 404 under another purchase', async () => {
    const pass = await givenPass()
    const other = await seedWalletPurchase()
    expect((await remove(`${buildPath(other.purchase)}/${pass.id}`)).status).toBe(404)
    expect(await loadPass(pass.id)).toMatchObject({ status: 'active' })
  })
})
