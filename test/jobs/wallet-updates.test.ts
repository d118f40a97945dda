import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import type { PassesGateway, Push } from '../../src/gateways/passes/passes.ts'
import { sweepPurchases } from '../../src/modules/purchases/jobs.ts'
import { markPassesChanged } from '../../src/modules/wallet/index.ts'
import { sweepCallbacks, sweepPassUpdates } from '../../src/modules/wallet/jobs.ts'
import { call, get, post, remove } from '../support/api.ts'
import { createJob } from '../support/campaigns.ts'
import { readPassJson } from '../support/pass-packages.ts'
import { describeRefusal } from '../support/refusals.ts'
import { db, next, write } from '../support/seeding/rows.ts'
import { givenPass } from '../support/seeding/sales/wallet-passes.ts'
import {
  callback,
  buildCallback,
  listCaptured,
  listChanged,
  givenGoogleKeys,
  listKinds,
  latest,
  loadPass,
  register,
  listRegistrations,
} from '../support/wallet.ts'

const minute = 60_000

/** The Worker's own context, with another gateway and another time. */
function createJobWith(passes: Partial<PassesGateway> = {}, minutes = 0): JobCtx {
  const job = createJob({ now: () => Date.now() + minutes * minute })
  return { ...job, passes: { ...job.passes, ...passes } }
}

const change = (purchase: string, status: string) =>
  write(sql`update purchases set status = ${status} where id = ${purchase}`, markPassesChanged([purchase], Date.now()))

const listUpdates = async (pass: string) =>
  (await listCaptured(pass)).filter(({ subject }) => subject !== 'issued' && !subject.startsWith('Pass for'))

describe('a change of a purchase', () => {
  it('updates the pass at Google once', async () => {
    const pass = await givenPass('google')
    await change(pass.purchase, 'used')
    await Promise.all([sweepPassUpdates(createJobWith()), sweepPassUpdates(createJobWith())])
    await sweepPassUpdates(createJobWith())
    await sweepPassUpdates(createJobWith({}, 10))
    const updates = await listUpdates(pass.id)
    expect(updates).toHaveLength(1)
    expect(JSON.parse(updates[0]?.body ?? '{}')).toMatchObject({ object: `capture.${pass.serial}`, state: 'COMPLETED' })
    expect(await loadPass(pass.id)).toMatchObject({ due_at: null, claimed_until: null, update_error: null })
    await change(pass.purchase, 'refunded')
    await sweepPassUpdates(createJobWith())
    expect((await listUpdates(pass.id)).map(({ body }) => JSON.parse(body).state)).toEqual(['COMPLETED', 'INACTIVE'])
  })

  it('updates the pass on its last use, on a reverted use, and at the end of its validity', async () => {
    const pass = await givenPass('google')
    const states = async () => {
      await sweepPassUpdates(createJobWith())
      return (await listUpdates(pass.id)).map(({ body }) => JSON.parse(body).state)
    }
    const use = await post(`/v1/purchases/${pass.purchase}/uses`, {})
    expect([use.status, await states()]).toEqual([201, ['COMPLETED']])
    const reverted = await post(`/v1/purchases/${pass.purchase}/uses/${use.body.id}/revert`, {})
    expect([reverted.status, await states()]).toEqual([200, ['COMPLETED', 'ACTIVE']])
    await write(sql`update purchases set valid_until = ${Date.now() - 1} where id = ${pass.purchase}`)
    await sweepPurchases(createJobWith())
    expect(await states()).toEqual(['COMPLETED', 'ACTIVE', 'EXPIRED'])
  })

  it('pushes to each phone once, and sends the changed pass to the phone', async () => {
    const pass = await givenPass()
    const phones = Array.from({ length: 30 }, (_, index) => `${pass.serial}-${index}`)
    for (const phone of phones) await register(pass, phone)
    const lastUpdated = (await listChanged(phones[0] ?? '')).body.lastUpdated
    await change(pass.purchase, 'cancelled')
    await Promise.all([sweepPassUpdates(createJobWith()), sweepPassUpdates(createJobWith())])
    await sweepPassUpdates(createJobWith())
    await sweepPassUpdates(createJobWith({}, 10))
    const pushed = (await listUpdates(pass.id)).map(({ body }) => JSON.parse(body).push_token)
    expect(pushed.toSorted()).toEqual(phones.map((phone) => `push-${phone}`).toSorted())
    expect((await listChanged(phones[0] ?? '', lastUpdated)).body.serialNumbers).toEqual([pass.serial])
    const fields = readPassJson(new Uint8Array(await (await latest(pass)).arrayBuffer()))
    expect(fields).toMatchObject({ voided: true, eventTicket: { auxiliaryFields: expect.anything() } })
    expect(JSON.stringify(fields)).toContain('Not valid')
  })

  it('makes no call for a pass without a phone', async () => {
    const pass = await givenPass()
    await change(pass.purchase, 'used')
    expect(await loadPass(pass.id)).toMatchObject({ due_at: null })
    await sweepPassUpdates(createJobWith())
    expect(await listUpdates(pass.id)).toEqual([])
  })

  it('is not lost in a crash after the claim, when only the remaining phones are notified', async () => {
    const pass = await givenPass()
    for (const phone of ['one', 'two', 'three']) await register(pass, `${pass.serial}-${phone}`)
    await change(pass.purchase, 'used')
    const notified: string[] = []
    const dying = createJobWith({
      pushApple: async ({ push_token, pass_id }: Push) => {
        if (pass_id !== pass.id) return 'sent'
        if (notified.length === 1) throw new Error('the machine died')
        notified.push(push_token)
        return 'sent'
      },
    })
    await expect(sweepPassUpdates(dying)).rejects.toThrow('passes could not be updated')
    const going = (minutes: number) =>
      createJobWith(
        {
          pushApple: async ({ push_token, pass_id }: Push) => {
            if (pass_id === pass.id) notified.push(push_token)
            return 'sent'
          },
        },
        minutes,
      )
    await sweepPassUpdates(going(1))
    expect(notified).toHaveLength(1)
    await sweepPassUpdates(going(6))
    await sweepPassUpdates(going(12))
    expect([notified.length, new Set(notified).size]).toEqual([3, 3])
  })

  it('stays due when the purchase changes again during the notification', async () => {
    const pass = await givenPass('google')
    await change(pass.purchase, 'used')
    const states: string[] = []
    const busy = createJobWith({
      updateGoogle: async (content) => {
        if (content.id !== pass.id) return { ok: true }
        states.push(content.state)
        if (states.length === 1) await change(pass.purchase, 'refunded')
        return { ok: true }
      },
    })
    await sweepPassUpdates(busy)
    await sweepPassUpdates(busy)
    expect(states).toEqual(['used', 'void'])
    expect(await loadPass(pass.id)).toMatchObject({ due_at: null })
  })

  it('is retried after temporary failures, and given up after permanent ones', async () => {
    const pass = await givenPass('google')
    await change(pass.purchase, 'used')
    let calls = 0
    const failing = (kind: 'transient' | 'permanent', minutes: number) =>
      createJobWith(
        {
          updateGoogle: async (content) => {
            if (content.id !== pass.id) return { ok: true }
            calls++
            return { ok: false, kind, code: 'status_503' }
          },
        },
        minutes,
      )
    await sweepPassUpdates(failing('transient', 0))
    expect(await loadPass(pass.id)).toMatchObject({ update_error: 'status_503', due_at: expect.any(Number) })
    await sweepPassUpdates(failing('transient', 0))
    expect(calls).toBe(1)
    await sweepPassUpdates(failing('permanent', 2))
    expect([calls, (await loadPass(pass.id)).due_at]).toEqual([2, null])
    await sweepPassUpdates(failing('permanent', 100_000))
    expect(calls).toBe(2)
  })

  it('removes a phone that has deleted the pass, and announces the last one', async () => {
    const pass = await givenPass()
    await register(pass, `${pass.serial}-one`)
    await register(pass, `${pass.serial}-two`)
    await change(pass.purchase, 'used')
    await sweepPassUpdates(createJobWith({ pushApple: async ({ pass_id }) => (pass_id === pass.id ? 'gone' : 'sent') }))
    expect(await listRegistrations(pass.id)).toEqual([])
    expect(await loadPass(pass.id)).toMatchObject({ registrations_count: 0, removed_at: expect.any(Number) })
    expect(await listKinds(pass.organization)).toEqual(['wallet.vendorA.pass-added', 'wallet.vendorA.pass-removed'])
  })

  it('ends at once when no connection to Apple is configured', async () => {
    const pass = await givenPass()
    await register(pass, `${pass.serial}-one`)
    await change(pass.purchase, 'used')
    await sweepPassUpdates(createJobWith({ pushApple: async () => 'off' }))
    expect(await loadPass(pass.id)).toMatchObject({ due_at: null, attempts: 0 })
  })
})

describe('other causes of an update', () => {
  const place = (pass: { organization: string; edition: string }) => ({
    organization_id: pass.organization,
    edition_id: pass.edition,
    source: 'shop',
    on_duplicate: 'update',
  })

  /** Imports an order, makes a pass for it, and returns how to import the order again with other fields. */
  async function givenImportedPass() {
    const pass = await givenPass('google')
    const order = {
      external_id: `W-${pass.serial}`,
      currency: 'dkk',
      customer: { email: `first-${next()}@example.test`, first_name: 'Ægir' },
      items: [{ product: 'Evening ticket', quantity: 1, unit_price: 100 }],
    }
    const send = async (fields: object) => {
      const reply = await post('/v1/data-imports/external-orders', {
        ...place(pass),
        orders: [{ ...order, ...fields }],
      })
      expect(reply.body.status).toBe('completed')
    }
    await send({})
    const bought = await db.first(sql<{ id: string; product_id: string }>`select id, product_id from purchases
      where edition_id = ${pass.edition} order by created_at desc, id desc limit 1`)
    await write(
      sql`update products set is_wallet_enabled = 1 where id = ${bought?.product_id}`,
      sql`update pass_designs set product_id = null where edition_id = ${pass.edition}`,
    )
    await sweepPassUpdates(createJobWith())
    const { body } = await post(`/v1/purchases/${bought?.id}/wallet-passes`, { platform: 'google' })
    expect(body.id).toMatch(/^wps_/)
    return { id: body.id as string, send }
  }

  it('include an import that moves the order to another customer', async () => {
    const { id, send } = await givenImportedPass()
    await send({ customer: { email: `second-${next()}@example.test`, first_name: 'Freja' } })
    await sweepPassUpdates(createJobWith())
    const updates = (await listUpdates(id)).map(({ body }) => JSON.parse(body))
    expect(updates).toMatchObject([{ state: 'ACTIVE', ticketHolderName: 'Freja' }])
  })

  it('include an import that cancels the order', async () => {
    const { id, send } = await givenImportedPass()
    await send({ status: 'cancelled' })
    await sweepPassUpdates(createJobWith())
    const updates = (await listUpdates(id)).map(({ body }) => JSON.parse(body))
    expect(updates).toMatchObject([{ state: 'INACTIVE' }])
  })

  it('include voiding the pass', async () => {
    const pass = await givenPass('google')
    await remove(`/v1/purchases/${pass.purchase}/wallet-passes/${pass.id}`)
    await sweepPassUpdates(createJobWith())
    expect((await listUpdates(pass.id)).map(({ body }) => JSON.parse(body).state)).toEqual(['INACTIVE'])
  })
})

it('the sweep deletes expired nonces of callbacks, and no others', async () => {
  const keys = await givenGoogleKeys()
  const pass = await givenPass('google')
  const soon = await buildCallback(keys, pass, 'save', { message: { expTimeMillis: Date.now() + 30 * minute } })
  const lateCallback = await buildCallback(keys, pass, 'del', { message: { expTimeMillis: Date.now() + 90 * minute } })
  await callback(soon)
  await callback(lateCallback)
  await sweepCallbacks(createJobWith({}, 60))
  const rows = await db.all(sql`select event from wallet_callbacks where pass_id = ${pass.id}`)
  expect(rows).toEqual([{ event: 'del' }])
})

describe('an erased customer', () => {
  it('has no phones, and the token of the pass is refused', async () => {
    const pass = await givenPass()
    const google = await post(`/v1/purchases/${pass.purchase}/wallet-passes`, { platform: 'google' })
    await register(pass, `${pass.serial}-one`)
    const exported = await get(`/v1/user/${pass.user}/export`)
    expect(exported.body.wallet_passes).toHaveLength(2)
    expect(exported.body.wallet_phones).toMatchObject([
      { device_id: `${pass.serial}-one`, push_token: `push-${pass.serial}-one` },
    ])
    expect((await post(`/v1/user/${pass.user}/erase`, {})).status).toBe(200)
    expect(await listRegistrations(pass.id)).toEqual([])
    expect((await register(pass, `${pass.serial}-two`)).status).toBe(401)
    expect((await latest(pass)).status).toBe(401)
    await sweepPassUpdates(createJobWith())
    const last = (await listUpdates(google.body.id)).at(-1)
    expect(JSON.parse(last?.body ?? '{}')).toMatchObject({ ticketHolderName: '' })
  })

  it('gets no link to a pass', async () => {
    const pass = await givenPass()
    expect((await post(`/v1/user/${pass.user}/erase`, {})).status).toBe(200)
    for (const platform of ['apple', 'google']) {
      const reply = await post(`/v1/purchases/${pass.purchase}/wallet-passes`, { platform })
      expect(describeRefusal(reply)).toBe('409 user_erased')
    }
    expect((await call(new URL(pass.add_url).pathname, { token: null })).status).toBe(404)
  })
})
