import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { JobCtx } from '../../../src/context.ts'
import { sweepPassUpdates } from '../../../src/modules/wallet/jobs.ts'
import { patch, post, remove } from '../../support/api.ts'
import { createJob } from '../../support/campaigns.ts'
import { readPassJson } from '../../support/pass-packages.ts'
import { seedLocation } from '../../support/seeding/catalogue.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { seedFile } from '../../support/seeding/files.ts'
import { aRow } from '../../support/seeding/imports/staged-imports.ts'
import { db, freshId, seededAt, write } from '../../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import {
  enableWallet,
  givenPass,
  givenPassOf,
  type Pass,
  seedPasses,
} from '../../support/seeding/sales/wallet-passes.ts'
import { importFile, undoToEnd } from '../../support/undone-imports.ts'
import { listCaptured, listChanged, latest, loadPass, register } from '../../support/wallet.ts'

const minute = 60_000

const jobIn = (minutes: number, parts: Partial<JobCtx> = {}): JobCtx =>
  createJob({ now: () => Date.now() + minutes * minute, ...parts })

const sweep = (minutes = 0) => sweepPassUpdates(jobIn(minutes))

const editionRow = (edition: string) =>
  db.first(sql<{ apple_marked_to: string | null; google_marked_to: string | null; due_at: number | null }>`
    select apple_marked_to, google_marked_to, due_at from wallet_editions where edition_id = ${edition}`)

const bodiesOf = async (reference: string, subject: string) =>
  (await listCaptured(reference)).filter((one) => one.subject === subject).map(({ body }) => JSON.parse(body))

const classesOf = (edition: string) => bodiesOf(edition, 'Update of an edition')
const objectsOf = (pass: Pick<Pass, 'id'>) => bodiesOf(pass.id, 'Update of a pass')
const pushesOf = (pass: Pick<Pass, 'id'>) => bodiesOf(pass.id, 'Push to a phone')

const packageOf = async (pass: Pass) => readPassJson(new Uint8Array(await (await latest(pass)).arrayBuffer()))

interface PassPair {
  apple: Pass
  google: Pass
  phone: string
}

/** The passes of one purchase on both platforms, the one for Apple on a phone. */
async function seedPair(): Promise<PassPair> {
  const apple = await givenPass()
  const google = await givenPassOf({ ...apple, order: '', transaction: '' }, 'google')
  const phone = `${apple.serial}-phone`
  expect((await register(apple, phone)).status).toBe(201)
  return { apple, google, phone }
}

const renameOrganization = ({ organization }: Pass, name: string) =>
  patch(`/v1/organizations/${organization}`, { name })

const sharedChanges: [string, (pass: Pass) => Promise<unknown>, string, object][] = [
  [
    'another time',
    ({ edition }) => patch(`/v1/editions/${edition}`, { start_date: '2026-07-04T10:00:00Z' }),
    '2026-07-04T12:00:00+02:00',
    { dateTime: { start: '2026-07-04T12:00:00+02:00', end: null } },
  ],
  [
    'another time zone',
    ({ edition }) =>
      patch(`/v1/editions/${edition}`, { start_date: '2026-07-04T10:00:00Z', timezone: 'America/New_York' }),
    '2026-07-04T06:00:00-04:00',
    { dateTime: { start: '2026-07-04T06:00:00-04:00' } },
  ],
  [
    'another name',
    ({ edition }) => patch(`/v1/editions/${edition}`, { name: 'Lysfest 2027' }),
    'Lysfest 2027',
    { eventName: { defaultValue: { value: expect.stringContaining('Lysfest 2027') } } },
  ],
  [
    'an organisation with another name',
    (pass) => renameOrganization(pass, 'Sydlys'),
    '"organizationName":"Sydlys"',
    { issuerName: 'Sydlys' },
  ],
]

describe('an edition with issued passes', () => {
  it.each(sharedChanges)(
    'changes one class at Google and each pass on a phone when it gets %s',
    async (_, change, text, fields) => {
      const { apple, google, phone } = await seedPair()
      const { lastUpdated } = (await listChanged(phone)).body
      const modified = (await latest(apple)).headers.get('last-modified') ?? ''
      expect(await change(apple)).toMatchObject({ status: 200 })
      await sweep()
      expect(await classesOf(apple.edition)).toMatchObject([fields])
      expect(await objectsOf(google)).toEqual([])
      expect(await pushesOf(apple)).toEqual([{ push_token: `push-${phone}` }])
      expect((await listChanged(phone, lastUpdated)).body.serialNumbers).toEqual([apple.serial])
      expect((await latest(apple, { headers: { 'if-modified-since': modified } })).status).toBe(200)
      expect(JSON.stringify(await packageOf(apple))).toContain(text)
      await sweep(10)
      expect([await classesOf(apple.edition), await pushesOf(apple)]).toMatchObject([[{}], [{}]])
    },
  )

  it('changes each pass at Google too when its language changes', async () => {
    const { apple, google } = await seedPair()
    await write(sql`update products set name_translations = '{"da":"Aftenbillet"}' where edition_id = ${apple.edition}`)
    await sweep()
    expect((await patch(`/v1/editions/${apple.edition}`, { default_language: 'da' })).status).toBe(200)
    await sweep()
    expect((await classesOf(apple.edition)).at(-1)).toMatchObject({ eventName: { defaultValue: { language: 'da' } } })
    expect((await objectsOf(google)).at(-1)).toMatchObject({
      ticketType: { defaultValue: { language: 'da', value: 'Aftenbillet' } },
    })
    expect(JSON.stringify(await packageOf(apple))).toContain('Arrangement')
  })

  it('makes no call for a change that no pass shows', async () => {
    const { apple, google } = await seedPair()
    await patch(`/v1/editions/${apple.edition}`, { sms_sender_name: 'Nordlys' })
    await renameOrganization(apple, (await packageOf(apple))['organizationName'] as string)
    await sweep()
    expect([await classesOf(apple.edition), await objectsOf(google), await pushesOf(apple)]).toEqual([[], [], []])
  })

  it('changes each pass once, to the last state, after several changes at once', async () => {
    const { apple } = await seedPair()
    for (const name of ['One', 'Two', 'Three']) await patch(`/v1/editions/${apple.edition}`, { name })
    await sweep()
    expect(await classesOf(apple.edition)).toMatchObject([
      { eventName: { defaultValue: { value: expect.stringMatching(/Three$/) } } },
    ])
    expect(await pushesOf(apple)).toHaveLength(1)
  })

  it('does not change passes of other editions and organisations when it gets another name', async () => {
    const changed = await seedPair()
    const foreign = await seedPair()
    const sibling = await seedEdition({ id: changed.apple.organization })
    const rows = await Promise.all([foreign.apple, foreign.google].map(({ id }) => loadPass(id)))
    await patch(`/v1/editions/${changed.apple.edition}`, { name: 'Renamed' })
    await patch(`/v1/editions/${sibling.id}`, { name: 'Renamed' })
    await renameOrganization(changed.apple, 'Renamed')
    await sweep()
    expect(await Promise.all([foreign.apple, foreign.google].map(({ id }) => loadPass(id)))).toEqual(rows)
    expect([await classesOf(foreign.apple.edition), await classesOf(sibling.id)]).toEqual([[], []])
  })

  it('leaves a void pass void and an erased pass without its name when it gets another name', async () => {
    const voided = await seedPair()
    const erased = await seedPair()
    for (const pass of [voided.apple, voided.google])
      expect((await remove(`/v1/purchases/${pass.purchase}/wallet-passes/${pass.id}`)).status).toBe(204)
    expect((await post(`/v1/user/${erased.apple.user}/erase`, {})).status).toBe(200)
    await sweep()
    for (const { apple } of [voided, erased])
      await patch(`/v1/editions/${apple.edition}`, { name: 'Late', default_language: 'da' })
    await sweep()
    expect(await packageOf(voided.apple)).toMatchObject({ voided: true })
    expect((await objectsOf(voided.google)).map(({ state }) => state)).toEqual(['INACTIVE', 'INACTIVE'])
    expect(await pushesOf(erased.apple)).toEqual([])
    expect((await latest(erased.apple)).status).toBe(401)
    expect((await objectsOf(erased.google)).map(({ ticketHolderName }) => ticketHolderName)).toEqual(['', ''])
    expect(await loadPass(erased.apple.id)).toMatchObject({ token_hash: null, due_at: null })
  })
})

describe('a name or a design that the operator changes', () => {
  const variant = async ({ purchase }: Pass) => {
    const id = freshId('variant')
    await write(
      sql`insert into variants (id, product_id, name, name_folded, created_at)
        select ${id}, product_id, 'Adult', 'adult', ${seededAt} from purchases where id = ${purchase}`,
      sql`update purchases set variant_id = ${id} where id = ${purchase}`,
    )
    return sql`update variants set name = 'Senior' where id = ${id}`
  }
  const changes: [string, (pass: Pass) => Promise<ReturnType<typeof sql>>, string, object | null][] = [
    [
      'of a product',
      async ({ edition }) => sql`update products set name = 'Evening' where edition_id = ${edition}`,
      'Evening',
      { ticketType: { defaultValue: { value: 'Evening' } } },
    ],
    [
      'of a variant',
      variant,
      'Senior',
      { ticketType: { defaultValue: { value: expect.stringMatching(/, Senior$/) } } },
    ],
    [
      'of a pass',
      async ({ edition }) => sql`update pass_designs set design = '{"background_color":"#ff0000"}'
        where edition_id = ${edition}`,
      'rgb(255, 0, 0)',
      { hexBackgroundColor: '#ff0000' },
    ],
    [
      'of a location',
      async ({ purchase, organization, edition }) => {
        const location = await seedLocation({ organization, edition })
        await write(sql`update purchases set location_id = ${location} where id = ${purchase}`)
        return sql`update locations set name = 'Harbour' where id = ${location}`
      },
      'Harbour',
      null,
    ],
  ]
  it.each(changes)('%s reaches every pass that shows it', async (_, prepare, text, object) => {
    const { apple, google, phone } = await seedPair()
    await write(await prepare(apple))
    await sweep()
    expect(await pushesOf(apple)).toEqual([{ push_token: `push-${phone}` }])
    expect(JSON.stringify(await packageOf(apple))).toContain(text)
    expect(await objectsOf(google)).toMatchObject(object ? [object] : [])
  })

  it('changes the logo of the class', async () => {
    const { apple } = await seedPair()
    const logo = await seedFile({ organization: apple.organization, edition: null })
    await write(sql`update pass_designs set logo_image_id = ${logo} where edition_id = ${apple.edition}`)
    await sweep()
    expect(await classesOf(apple.edition)).toMatchObject([
      { logo: { sourceUri: { uri: expect.stringContaining(`/files/${logo}/`) } } },
    ])
  })
})

describe('a customer who gets another name', () => {
  const holderOf = async ({ google }: PassPair) => (await objectsOf(google)).map((one) => one.ticketHolderName)

  it('has it on the passes after an update by hand', async () => {
    const pair = await seedPair()
    expect((await patch(`/v1/user/${pair.apple.user}`, { first_name: 'Freja', last_name: 'Dahl' })).status).toBe(200)
    await sweep()
    expect(await holderOf(pair)).toEqual(['Freja Dahl'])
    expect(await pushesOf(pair.apple)).toHaveLength(1)
    expect(JSON.stringify(await packageOf(pair.apple))).toContain('Freja Dahl')
  })

  it('causes a change of passes that other contact data does not cause', async () => {
    const pair = await seedPair()
    expect((await patch(`/v1/user/${pair.apple.user}`, { phone_number: '+45 32 12 34 56' })).status).toBe(200)
    await sweep()
    expect([await holderOf(pair), await pushesOf(pair.apple)]).toEqual([[], []])
  })

  /** The passes of a ticket that an order of this customer bought. */
  async function seedShopPair(shop: Shop, email: string): Promise<PassPair> {
    const bought = await db.first(sql<{ id: string; user: string }>`select purchases.id, users.id as user
      from purchases join users on users.id = purchases.user_id
      where purchases.edition_id = ${shop.edition_id} and users.email = ${email}`)
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const purchase = bought?.id ?? ''
    await enableWallet(place, purchase)
    const trade = { ...place, purchase, user: bought?.user ?? '', order: '', transaction: '' }
    const [apple, google] = [await givenPassOf(trade, 'apple'), await givenPassOf(trade, 'google')]
    const phone = `${apple.serial}-phone`
    await register(apple, phone)
    return { apple, google, phone }
  }

  it('has it on the earlier passes of an edition after another import', async () => {
    const shop = await seedShop()
    const email = `${crypto.randomUUID()}@example.dk`
    const order = (last_name: string) =>
      anOrder({
        customer: { email, first_name: 'Ægir', last_name },
        items: [{ product: 'Day ticket', quantity: 1, unit_price: 1 }],
      })
    await importOrders(shop, [order('Holm')])
    const pair = await seedShopPair(shop, email)
    expect((await importOrders(shop, [order('Dahl')])).body.status).toBe('completed')
    await sweep()
    expect(await holderOf(pair)).toEqual(['Ægir Dahl'])
    expect(await pushesOf(pair.apple)).toHaveLength(1)
  })

  it('has the earlier name after an undo of the import', async () => {
    const shop = await seedShop()
    const email = `${crypto.randomUUID()}@example.dk`
    await importFile(shop, [aRow({ 'customer.email': email, 'customer.first_name': 'Ægir' })])
    const pair = await seedShopPair(shop, email)
    const { id } = await importFile(shop, [aRow({ 'customer.email': email, 'customer.first_name': 'Freja' })])
    await sweep()
    await undoToEnd(id)
    await sweep()
    expect(await holderOf(pair)).toEqual(['Freja', 'Ægir'])
    expect(await pushesOf(pair.apple)).toHaveLength(2)
  })
})

describe('an edition with many passes', () => {
  const many = 1100
  const step = 200

  /** Passes with a phone each, beside a pass that was issued. */
  async function seedMany(): Promise<Pass> {
    const pass = await givenPass()
    const ids = await seedPasses(pass, pass.purchase, many, { registrations_count: 1, token_hash: 'hash' })
    await write(sql`insert into wallet_registrations (pass_id, device_id, push_token, notified_number, created_at,
        modified_at)
      select value, 'device-' || value, 'push-' || value, 0, 0, 0 from json_each(${JSON.stringify(ids)})`)
    return pass
  }

  /** A job that records the passes that it has pushed or updated, in order. */
  function recordingJob(minutes = 0, onPush: (count: number) => Promise<unknown> = async () => undefined) {
    const job = jobIn(minutes)
    const updatedPasses: string[] = []
    job.passes = {
      ...job.passes,
      pushApple: async ({ pass_id }) => {
        await onPush(updatedPasses.push(pass_id))
        return 'sent'
      },
      updateGoogle: async ({ id }) => {
        updatedPasses.push(id)
        return { ok: true }
      },
    }
    return { job, updatedPasses }
  }

  const countWaiting = async ({ edition }: Pass) =>
    (
      await db.first(sql<{ waiting: number }>`select count(*) as waiting from wallet_registrations
        join wallet_passes on wallet_passes.id = pass_id
        where edition_id = ${edition} and notified_number < change_number`)
    )?.waiting

  it('changes them in steps, and a ticket that is used at the same time does not wait for them', async () => {
    const pass = await seedMany()
    const other = await givenPass('google')
    await patch(`/v1/editions/${pass.edition}`, { name: 'Moved' })
    const { job, updatedPasses } = recordingJob(0, async (count) => {
      if (count === 1) expect((await post(`/v1/purchases/${other.purchase}/uses`, {})).status).toBe(201)
    })
    await sweepPassUpdates(job)
    expect(updatedPasses.indexOf(other.id)).toBeGreaterThan(0)
    expect(updatedPasses.indexOf(other.id)).toBeLessThanOrEqual(step)
    expect([new Set(updatedPasses).size, updatedPasses.length]).toEqual([many + 1, many + 1])
    expect([await countWaiting(pass), (await editionRow(pass.edition))?.apple_marked_to]).toEqual([0, null])
    const sizes = await db.all(sql<{ size: number }>`select count(*) as size from wallet_passes
      where edition_id = ${pass.edition} group by change_number`)
    expect(Math.max(...sizes.map(({ size }) => size))).toBeLessThanOrEqual(step)
  })

  it('changes all of them when the sweep crashes in between and the edition changes again', async () => {
    const pass = await seedMany()
    await patch(`/v1/editions/${pass.edition}`, { name: 'First' })
    const { job: dying } = recordingJob()
    let batches = 0
    const batch = dying.db.batch.bind(dying.db)
    dying.db.batch = async (statements) => {
      if (++batches === 2) throw new Error('the machine died')
      return batch(statements)
    }
    await expect(sweepPassUpdates(dying)).rejects.toThrow('the machine died')
    expect((await editionRow(pass.edition))?.apple_marked_to).toMatch(/^wps_/)
    const first = await db.first(sql<{ last: number }>`select max(change_number) as last from wallet_passes`)
    await patch(`/v1/editions/${pass.edition}`, { name: 'Second' })
    const { job, updatedPasses } = recordingJob(6)
    await sweepPassUpdates(job)
    expect(updatedPasses).toHaveLength(many)
    const stale = await db.all(sql`select id from wallet_passes where edition_id = ${pass.edition}
      and change_number <= ${first?.last}`)
    expect([stale, await countWaiting(pass)]).toEqual([[], 0])
  })

  it('takes turns with another edition', async () => {
    const large = await seedMany()
    const small = await seedPair()
    for (const { edition } of [large, small.apple]) await patch(`/v1/editions/${edition}`, { name: 'Moved' })
    const { job, updatedPasses } = recordingJob()
    await sweepPassUpdates(job)
    expect(updatedPasses.indexOf(small.apple.id)).toBeGreaterThanOrEqual(0)
    expect(updatedPasses.indexOf(small.apple.id)).toBeLessThanOrEqual(step)
  })
})
