import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { handleRegistration } from '../../src/modules/wallet/apple/phone-requests.ts'
import { markPassesChanged } from '../../src/modules/wallet/index.ts'
import { call, callWith, get, remove } from '../support/api.ts'
import { createCountingLimiter, interruptDatabase } from '../support/bindings.ts'
import { createJob } from '../support/campaigns.ts'
import { dump } from '../support/dump.ts'
import { readToken } from '../support/pass-packages.ts'
import { describeRefusal } from '../support/refusals.ts'
import { db, write } from '../support/seeding/rows.ts'
import {
  givenPass,
  seedPasses,
  seedWalletPurchase,
  type Pass,
  givenPassOf,
} from '../support/seeding/sales/wallet-passes.ts'
import {
  listChanged,
  listKinds,
  latest,
  loadPass,
  register,
  listRegistrations,
  unregister,
  listWalletEvents,
} from '../support/wallet.ts'

const added = 'wallet.vendorA.pass-added'
const removed = 'wallet.vendorA.pass-removed'

const listDeliveries = (organization: string) =>
  db.all(sql<{ kind: string; status: string }>`select webhook_deliveries.kind, webhook_deliveries.status
    from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id
    where organization_id = ${organization}`)

async function registrationCost({ serial, token }: Pass, device: string) {
  const job = createJob()
  const request = { passType: 'pass.capture', serial, authorization: `ApplePass ${token}`, device }
  expect(await handleRegistration(job, request, async () => ({ pushToken: 'push' }))).toBe(true)
  return { ...job.db.meter }
}

describe('registering a phone', () => {
  it('returns 201 for a new phone and 200 for a known one, and sends a webhook for the first phone', async () => {
    const pass = await givenPass()
    expect((await register(pass, 'phone-1')).status).toBe(201)
    expect((await register(pass, 'phone-1')).status).toBe(200)
    expect(await listRegistrations(pass.id)).toMatchObject([{ device_id: 'phone-1', push_token: 'push-phone-1' }])
    const row = await loadPass(pass.id)
    expect(row).toMatchObject({ registrations_count: 1, added_at: expect.any(Number), removed_at: null })
    const [event, ...others] = await listWalletEvents(pass.organization)
    expect(others).toEqual([])
    expect(JSON.parse(event?.payload ?? '{}')).toMatchObject({
      type: added,
      edition_id: pass.edition,
      data: {
        pass: { id: pass.id, serial_number: pass.serial, provider: 'vendorA', platform: 'apple' },
        purchase: { id: pass.purchase },
        user: { api_id: pass.user },
        occurred_at: new Date(row.added_at ?? 0).toISOString(),
      },
    })
    expect(await listDeliveries(pass.organization)).toMatchObject([{ kind: added }])
  })

  it('keeps the latest push token of a phone', async () => {
    const pass = await givenPass()
    await register(pass, 'phone-1')
    expect((await register(pass, 'phone-1', { push: 'another' })).status).toBe(200)
    expect(await listRegistrations(pass.id)).toMatchObject([{ push_token: 'another' }])
    expect(await listKinds(pass.organization)).toEqual([added])
  })

  it('sends one webhook when twenty first phones register at once, and one when the last unregister', async () => {
    const pass = await givenPass()
    const phones = Array.from({ length: 20 }, (_, index) => `phone-${index}`)
    const arrived = await Promise.all(phones.map((phone) => register(pass, phone)))
    expect(arrived.map(({ status }) => status)).toEqual(phones.map(() => 201))
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 20 })
    expect(await listKinds(pass.organization)).toEqual([added])
    const unregisterReplies = await Promise.all(phones.map((phone) => unregister(pass, phone)))
    expect(unregisterReplies.map(({ status }) => status)).toEqual(phones.map(() => 200))
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 0, removed_at: expect.any(Number) })
    expect(await listKinds(pass.organization)).toEqual([added, removed])
  })

  it('sends the right webhooks when two phones register or unregister at the same time', async () => {
    const pass = await givenPass()
    const registrationPath = `/wallet/apple/v1/devices/phone-1/registrations/pass.capture/${pass.serial}`
    const headers = { authorization: `ApplePass ${pass.token}` }
    const arriving = interruptDatabase(/insert into "wallet_registrations"/, () => register(pass, 'phone-2'))
    const body = { pushToken: 'push' }
    expect((await callWith(arriving, registrationPath, { token: null, headers, body })).status).toBe(201)
    expect(await listKinds(pass.organization)).toEqual([added])
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 2 })
    const leaving = interruptDatabase(/delete from "wallet_registrations"/, () => unregister(pass, 'phone-2'))
    const request = { method: 'DELETE', token: null, headers }
    expect((await callWith(leaving, registrationPath, request)).status).toBe(200)
    expect(await listKinds(pass.organization)).toEqual([added, removed])
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 0 })
  })

  it('sends one webhook when one phone registers ten times at once', async () => {
    const pass = await givenPass()
    const replies = await Promise.all(Array.from({ length: 10 }, () => register(pass, 'phone-1')))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array.from({ length: 9 }, () => 200), 201])
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 1 })
    expect(await listKinds(pass.organization)).toEqual([added])
  })

  it('takes as many queries for the hundredth phone as for the second', async () => {
    const pass = await givenPass()
    await register(pass, 'phone-1')
    const second = await registrationCost(pass, 'phone-2')
    const rows = Array.from({ length: 500 }, (_, index) => [pass.id, `crowd-${index}`])
    await write(
      sql`insert into wallet_registrations (pass_id, device_id, push_token, notified_number, created_at, modified_at)
        select value ->> 0, value ->> 1, 'push', 0, 1, 1 from json_each(${JSON.stringify(rows)})`,
      sql`update wallet_passes set registrations_count = 502 where id = ${pass.id}`,
    )
    const later = await registrationCost(pass, 'phone-3')
    expect(later).toEqual(second)
    expect([later.queries, later.rows_written]).toEqual([4, 4])
  })

  it('removes the oldest phone beyond a thousand', async () => {
    const pass = await givenPass()
    const rows = Array.from({ length: 1000 }, (_, index) => [pass.id, `crowd-${index}`, index])
    await write(
      sql`insert into wallet_registrations (pass_id, device_id, push_token, notified_number, created_at, modified_at)
        select value ->> 0, value ->> 1, 'push', 0, value ->> 2, 1 from json_each(${JSON.stringify(rows)})`,
      sql`update wallet_passes set registrations_count = 1000, added_at = 1 where id = ${pass.id}`,
    )
    expect((await register(pass, 'phone-1')).status).toBe(201)
    const phones = (await listRegistrations(pass.id)).map(({ device_id }) => device_id)
    expect([phones.length, phones.includes('crowd-0'), phones.includes('phone-1')]).toEqual([1000, false, true])
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 1000 })
  })

  it('refuses a wrong token, another pass’s token and an unknown serial number alike, and writes nothing', async () => {
    const pass = await givenPass()
    const other = await givenPass()
    const before = await dump()
    const attempts = [
      await register(pass, 'phone-1', { auth: 'ApplePass 0000000000000000000000' }),
      await register(pass, 'phone-1', { auth: `ApplePass ${other.token}` }),
      await register(pass, 'phone-1', { auth: `Bearer ${pass.token}` }),
      await register(pass, 'phone-1', { auth: '' }),
      await register({ ...pass, serial: 'f'.repeat(32) }, 'phone-1'),
      await register({ ...pass, serial: "x' or 1" }, 'phone-1'),
      await unregister(pass, 'phone-1', { auth: `ApplePass ${other.token}` }),
    ]
    for (const { status, body } of attempts) expect(describeRefusal({ status, body })).toBe('401 not_authenticated')
    expect(new Set(attempts.map(({ body }) => body.detail)).size).toBe(1)
    expect((await latest(pass, { auth: `ApplePass ${other.token}` })).status).toBe(401)
    expect(await dump()).toEqual(before)
  })

  it('refuses bodies without a push token, bodies that are too large, and invalid ids', async () => {
    const pass = await givenPass()
    const before = await dump()
    for (const body of [{}, { pushToken: '' }, { pushToken: 7 }, { pushToken: 'x'.repeat(256) }]) {
      const reply = await register(pass, 'phone-1', { body })
      expect([reply.status, reply.body.errors]).toMatchObject([400, [{ pointer: '#/pushToken' }]])
    }
    expect((await register(pass, 'phone-1', { body: { pushToken: 'x'.repeat(5000) } })).status).toBe(413)
    expect((await register(pass, 'x'.repeat(129))).status).toBe(400)
    expect((await register(pass, '%00')).status).toBe(400)
    const elsewhere = `/wallet/apple/v1/devices/phone-1/registrations/pass.other/${pass.serial}`
    const headers = { authorization: `ApplePass ${pass.token}` }
    expect((await call(elsewhere, { token: null, headers, body: { pushToken: 'push' } })).status).toBe(404)
    expect(await dump()).toEqual(before)
  })

  it('accepts a token that was issued before the key was changed', async () => {
    const pass = await givenPass()
    const path = `/wallet/apple/v1/devices/phone-1/registrations/pass.capture/${pass.serial}`
    const headers = { authorization: `ApplePass ${pass.token}` }
    const reply = await callWith({ LINK_SIGNING_KEY: 'another' }, path, {
      token: null,
      headers,
      body: { pushToken: 'push' },
    })
    expect(reply.status).toBe(201)
  })

  it('accepts a token and a download link that a previous key made', async () => {
    const pass = await givenPass()
    await write(sql`update wallet_passes set token_hash = ${'1'.repeat(64)} where id = ${pass.id}`)
    const { pathname } = new URL(pass.add_url)
    const path = `/wallet/apple/v1/devices/phone-1/registrations/pass.capture/${pass.serial}`
    const headers = { authorization: `ApplePass ${pass.token}` }
    const request = { token: null, headers, body: { pushToken: 'push' } }
    const forgotten = { LINK_SIGNING_KEY: 'another' }
    expect((await callWith(forgotten, pathname, { token: null })).status).toBe(404)
    expect((await callWith(forgotten, path, request)).status).toBe(401)
    const previous = { ...forgotten, LINK_SIGNING_KEY_PREVIOUS: 'link-signing-key-of-the-tests' }
    expect((await callWith(previous, pathname, { token: null })).status).toBe(200)
    expect((await callWith(previous, path, request)).status).toBe(201)
  })

  it('is limited for each network', async () => {
    const pass = await givenPass()
    const limiter = createCountingLimiter(1)
    const bindings = { LINK_RATE_LIMITER: limiter, RATE_LIMIT_PER_MINUTE: '600' }
    const path = `/wallet/apple/v1/devices/phone-1/registrations/pass.capture/${pass.serial}`
    const request = { method: 'DELETE', token: null, headers: { 'cf-connecting-ip': '192.0.2.7' } }
    expect((await callWith(bindings, path, request)).status).toBe(401)
    expect((await callWith(bindings, path, request)).status).toBe(429)
  })
})

describe('unregistering a phone', () => {
  it('sends a webhook for the last phone, returns 200 when repeated, and can be undone by registering', async () => {
    const pass = await givenPass()
    await register(pass, 'phone-1')
    await register(pass, 'phone-2')
    expect((await unregister(pass, 'phone-1')).status).toBe(200)
    expect((await unregister(pass, 'phone-1')).status).toBe(200)
    expect(await listKinds(pass.organization)).toEqual([added])
    expect((await unregister(pass, 'phone-2')).status).toBe(200)
    expect(await listKinds(pass.organization)).toEqual([added, removed])
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 0, removed_at: expect.any(Number) })
    await register(pass, 'phone-1')
    expect(await listKinds(pass.organization)).toEqual([added, removed, added])
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 1, removed_at: null })
  })

  it('is stored at vendor B without a webhook', async () => {
    const purchase = await seedWalletPurchase()
    const swapped = { WALLET_VENDOR_A: 'google', WALLET_VENDOR_B: 'apple' }
    const path = `/v1/purchases/${purchase.purchase}/wallet-passes`
    const { body } = await callWith(swapped, path, { method: 'POST', body: { platform: 'apple' } })
    const pass = { ...purchase, ...body, serial: body.serial_number, token: await readToken(body.add_url) }
    await register(pass, 'phone-1')
    await unregister(pass, 'phone-1')
    expect(await listKinds(purchase.organization)).toEqual(['wallet.vendorB.pass-added'])
    const purchaseReply = await get(`/v1/purchases/${purchase.purchase}`)
    expect(purchaseReply.body.wallet_passes).toMatchObject([{ provider: 'vendorB', removed_at: expect.any(String) }])
  })
})

describe('the list of changed passes', () => {
  it('has passes that changed since the given time, each once, and is 204 when nothing changed', async () => {
    const one = await givenPass()
    const two = await givenPass()
    const device = `phone-of-${one.serial}`
    expect((await listChanged(device)).status).toBe(204)
    await register(one, device)
    await register(two, device)
    const all = await listChanged(device)
    expect([all.status, all.body.serialNumbers.toSorted()]).toEqual([200, [one.serial, two.serial].toSorted()])
    expect((await listChanged(device, all.body.lastUpdated)).status).toBe(204)
    await remove(`/v1/purchases/${two.purchase}/wallet-passes/${two.id}`)
    const since = await listChanged(device, all.body.lastUpdated)
    expect(since.body.serialNumbers).toEqual([two.serial])
    expect((await listChanged(device, since.body.lastUpdated)).status).toBe(204)
    expect((await listChanged(device, "1' or 1")).status).toBe(200)
  })

  it('has every pass of a phone with more than 500, although many changed at the same time', async () => {
    const pass = await givenPass()
    const device = `${pass.serial}-phone`
    await seedPasses(pass, pass.purchase, 700, { registrations_count: 1 })
    await write(
      sql`update wallet_passes set change_number = (select max(change_number) + 1 from wallet_passes)
        + (select count(*) / 200 from wallet_passes as earlier where earlier.edition_id = wallet_passes.edition_id
          and earlier.id < wallet_passes.id) where edition_id = ${pass.edition}`,
      sql`insert into wallet_registrations (pass_id, device_id, push_token, notified_number, created_at, modified_at)
        select id, ${device}, 'push', 0, 0, 0 from wallet_passes where edition_id = ${pass.edition}`,
    )
    const serials: string[] = []
    for (let reply = await listChanged(device); reply.status === 200;) {
      serials.push(...reply.body.serialNumbers)
      reply = await listChanged(device, reply.body.lastUpdated)
    }
    expect([serials.length, new Set(serials).size]).toEqual([701, 701])
  })

  it('has no passes of another pass type', async () => {
    const reply = await call('/wallet/apple/v1/devices/phone-1/registrations/pass.other', { token: null })
    expect(reply.status).toBe(404)
  })
})

describe('the latest pass', () => {
  it('is sent as a package, and as 304 to a phone that has it', async () => {
    const pass = await givenPass()
    const response = await latest(pass)
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      200,
      'application/vnd.apple.pkpass',
      'no-store',
    ])
    const lastModified = response.headers.get('last-modified') ?? ''
    expect((await latest(pass, { headers: { 'if-modified-since': lastModified } })).status).toBe(304)
  })

  it('is sent again after two changes within a second', async () => {
    const pass = await givenPass()
    const now = Date.now()
    await write(markPassesChanged([pass.purchase], now))
    const first = (await latest(pass)).headers.get('last-modified') ?? ''
    await write(markPassesChanged([pass.purchase], now))
    expect((await latest(pass, { headers: { 'if-modified-since': first } })).status).toBe(200)
  })
})

describe('the log of phones', () => {
  it('records what phones report, without possible secrets, and in bounded size', async () => {
    const written = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    const secret = 'q7Zk2mPp9vXw4LtR8nBc'
    const logs = [`Wrong token ApplePass ${secret}`, ...Array.from({ length: 50 }, () => 'x '.repeat(5000))]
    const reply = await call('/wallet/apple/v1/log', { method: 'POST', token: null, body: { logs: logs.slice(0, 3) } })
    const lines = written.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('wallet_log'))
    written.mockRestore()
    expect(reply.status).toBe(200)
    expect(lines).toHaveLength(1)
    expect([lines[0]?.includes(secret), (lines[0]?.length ?? 0) < 5000]).toEqual([false, true])
    expect((await call('/wallet/apple/v1/log', { method: 'POST', token: null, body: { logs } })).status).toBe(413)
    expect((await call('/wallet/apple/v1/log', { method: 'POST', token: null, raw: 'no json' })).status).toBe(200)
  })
})

it('refuses to register a phone with the token of another pass', async () => {
  const pass = await givenPass()
  const other = await givenPassOf({ ...(await givenPass()), order: '', transaction: '' }, 'google')
  const reply = await register({ ...pass, serial: other.serial }, 'phone-1')
  expect(reply.status).toBe(401)
})
