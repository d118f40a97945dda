import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { sweepProductMerges } from '../../../src/modules/catalogue/jobs.ts'
import { workRefundBatches } from '../../../src/modules/refund-batches/jobs.ts'
import { get, patch, post, remove } from '../../support/api.ts'
import { listEntries } from '../../support/audit.ts'
import { givenApprovalTeam } from '../../support/campaign-approvals.ts'
import { createJob } from '../../support/campaigns.ts'
import { work } from '../../support/data-imports.ts'
import { buildRefusal, codes } from '../../support/editions.ts'
import { createQuietJob, workUntilDone } from '../../support/refund-batches.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedPassDesign } from '../../support/seeding/catalogue.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { givenMember } from '../../support/seeding/members.ts'
import { seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { aBlock, seedMessage } from '../../support/seeding/messaging/email-messages.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { anOrder, givenOrders, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { makeBatch } from '../../support/seeding/sales/refund-batches.ts'
import { seedProduct, seedTrades } from '../../support/seeding/sales/trades.ts'

const path = '/v1/products'

const orderOf = (product: string, item: Record<string, unknown> = {}) =>
  anOrder({ items: [{ product, quantity: 1, unit_price: 100, ...item }] })

/** The ids of the edition's products by their names. */
async function mapProducts({ edition_id }: Shop): Promise<Record<string, string>> {
  const { body } = await get(`${path}?edition_id=${edition_id}`)
  return Object.fromEntries(body.results.map(({ id, name }: { id: string; name: string }) => [name, id]))
}

async function givenSpellings(shop: Shop): Promise<{ right: string; wrong: string; orders: string[] }> {
  const orders = await givenOrders(shop, [
    orderOf('Weekend ticket', { variant: 'Adult', options: ['Parking'] }),
    orderOf('Weekend tickett', { variant: 'ADULT', options: ['parking', 'Meal'], location: 'Gate' }),
    orderOf('Weekend tickett', { variant: 'Child', quantity: 2 }),
    orderOf('Day'),
  ])
  const { 'Weekend ticket': right = '', 'Weekend tickett': wrong = '' } = await mapProducts(shop)
  return { right, wrong, orders }
}

const merge = (into: string, product_id: string, token?: string) => post(`${path}/${into}/merge`, { product_id }, token)

const countIn = async (table: string, text: string): Promise<number> => {
  const columns = await db.all(sql<{ name: string }>`select name from pragma_table_info(${table})`)
  const isIn = sql.join(
    columns.map(({ name }) => sql`instr(${sql.identifier(name)}, ${text})`),
    sql` or `,
  )
  const row = await db.first(sql<{ n: number }>`select count(*) as n from ${sql.raw(table)} where ${isIn}`)
  return row?.n ?? 0
}

describe('mergeProducts', () => {
  it('moves orders, purchases, variants and options, and keeps everything else of them', async () => {
    const shop = await seedShop()
    const { right, wrong, orders } = await givenSpellings(shop)
    const before = await Promise.all(orders.map(async (id) => (await get(`/v1/orders/${id}`)).body))
    const own = (await get(`${path}/${right}`)).body
    const other = (await get(`${path}/${wrong}`)).body
    const { status, body } = await merge(right, wrong)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: right,
      name: 'Weekend ticket',
      aliases: ['Weekend tickett'],
      variants: [own.variants[0], { name: 'Child' }],
      options: [own.options[0], { name: 'Meal' }],
      is_merging: false,
    })
    expect((await get(`${path}/${right}`)).body).toEqual(body)

    const replaced = new Map([
      [wrong, right],
      [other.variants.find(({ name }: { name: string }) => name === 'ADULT').id, own.variants[0].id],
      [other.options.find(({ name }: { name: string }) => name === 'parking').id, own.options[0].id],
    ])
    const product = { name: 'Weekend ticket' }
    const expected = JSON.parse(JSON.stringify(before), (key, value: unknown) => {
      if (key === 'api_id' && typeof value === 'string') return replaced.get(value) ?? value
      if (key === 'product')
        return { ...(value as object), ...((value as { api_id: string }).api_id === right && product) }
      if (key === 'variant' && (value as { name: string } | null)?.name === 'ADULT')
        return { ...(value as object), name: 'Adult' }
      return value
    })
    const after = await Promise.all(orders.map(async (id) => (await get(`/v1/orders/${id}`)).body))
    expect(after).toEqual(expected)
    for (const table of ['orders', 'purchases']) expect([table, await countIn(table, wrong)]).toEqual([table, 0])
  })

  it('leads later imports with the former spelling to the product, and never to a new one', async () => {
    const shop = await seedShop()
    const { right, wrong } = await givenSpellings(shop)
    await merge(right, wrong)
    const reply = await importOrders(shop, [orderOf('WEEKEND TICKETT', { variant: 'adult' })])
    expect(reply.body.results).toMatchObject([{ action: 'created', warnings: [] }])
    expect(Object.keys(await mapProducts(shop)).toSorted()).toEqual(['Day', 'Weekend ticket'])
    const { body } = await get(`/v1/purchases?edition_id=${shop.edition_id}&product_id=${right}`)
    expect(body.count).toBe(5)
    // The former id still finds what it stood for.
    expect((await get(`/v1/purchases?edition_id=${shop.edition_id}&product_id=${wrong}`)).body).toMatchObject({
      count: 5,
    })
    expect((await get(`${path}/${wrong}`)).body).toMatchObject({ detail: `This product was merged into ${right}.` })
  })

  it('does not move an order again that comes again with the former spelling', async () => {
    const shop = await seedShop()
    const order = orderOf('Weekend tickett', { variant: 'Adult' })
    await givenOrders(shop, [order, orderOf('Weekend ticket', { variant: 'Adult' })])
    const { 'Weekend ticket': right = '', 'Weekend tickett': wrong = '' } = await mapProducts(shop)
    await merge(right, wrong)
    const again = await importOrders(shop, [order], { on_duplicate: 'update' })
    expect(again.body.results).toMatchObject([{ action: 'skipped' }])
  })

  it('takes the fields that the product lacks, and the pass design', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const right = await seedProduct(place, { name: 'Right', price_minor: null, deposit_minor: 0 })
    const wrong = await seedProduct(place, {
      name: 'Wrong',
      price_minor: 100,
      deposit_minor: 200,
      name_translations: { da: 'Forkert', nl: 'Fout' },
    })
    const design = await seedPassDesign(place, { product_id: wrong })
    await patch(`${path}/${right}`, { name_translations: { da: 'Rigtig' } })
    expect((await merge(right, wrong)).body).toMatchObject({
      name: 'Right',
      price: 1,
      deposit: 0,
      name_translations: { da: 'Rigtig', nl: 'Fout' },
    })
    expect((await get(`/v1/pass-designs/${design}`)).body.product_id).toBe(right)
  })

  it('rewrites what names the product: segments, conditions of blocks, memories and mappings of imports', async () => {
    const shop = await seedShop()
    const { right, wrong } = await givenSpellings(shop)
    const { body: segment } = await post('/v1/segments', {
      ...shop,
      name: 'Buyers',
      communication_type: 'transactional',
      communication_channel: 'email',
      expression: `purchases.exists(p, p.product_id == "${wrong}")`,
    })
    await write(sql`insert into import_product_history (edition_id, product_key, action, product_id, option_ids, used_at)
      values (${shop.edition_id}, 'k', 'map', ${wrong}, '[]', 1)`)
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const condition = `purchases.exists(p, p.product_id == "${wrong}")`
    const message = await seedMessage(place, {
      type: 'campaign',
      blocks: [aBlock(`In a text ${wrong}`), { ...aBlock('For buyers', 'blk_2'), condition }],
    })
    const { campaign } = await seedReady(place)
    await write(sql`insert into campaign_conditions (campaign_id, position, expression)
      values (${campaign.id}, 0, ${condition})`)
    await merge(right, wrong)
    expect((await get(`/v1/email-messages/${message}`)).body.blocks).toEqual([
      aBlock(`In a text ${wrong}`),
      { ...aBlock('For buyers', 'blk_2'), condition: condition.replace(wrong, right) },
    ])
    expect(await countIn('campaign_conditions', wrong)).toBe(0)
    expect((await get(`/v1/segments/${segment.id}`)).body.expression).toBe(
      `purchases.exists(p, p.product_id == "${right}")`,
    )
    for (const table of ['segments', 'import_product_history', 'import_products'])
      expect([table, await countIn(table, wrong)]).toEqual([table, 0])
  })

  it.each(['segment', 'message'] as const)(
    'makes the approval of a campaign outdated whose %s names the product, which has more buyers now',
    async (part) => {
      const team = await givenApprovalTeam()
      const shop = { organization_id: team.crowd.organization, edition_id: team.crowd.edition }
      const { right, wrong } = await givenSpellings(shop)
      const condition = `purchases.exists(p, p.product_id == "${wrong}")`
      const { segment, message } = team.ready
      const [changedPath, body] =
        part === 'segment'
          ? [`/v1/segments/${segment.id}`, { expression: condition }]
          : [
              `/v1/email-messages/${message}`,
              { blocks: [aBlock('For everybody'), { ...aBlock('For buyers', 'blk_2'), condition }] },
            ]
      expect((await patch(changedPath, body, team.admin.token)).status).toBe(200)
      await team.getScheduled()
      const reply = await merge(right, wrong, team.reviewer.token)
      expect(reply).toMatchObject({ status: 200, body: { warnings: [{ code: 'approval_lost' }] } })
      expect((await get(team.path)).body.approval.status).toBe('outdated')
      expect((await team.request()).status).toBe(200)
      expect((await team.approve(team.reviewer)).body.code).toBe('four_eyes_required')
      expect((await team.approve(team.admin)).status).toBe(200)
    },
  )

  it('keeps the undo of the imports possible', async () => {
    const shop = await seedShop()
    const order = orderOf('Weekend tickett')
    await givenOrders(shop, [order, orderOf('Weekend ticket')])
    const changed = { ...order, items: [{ product: 'Day', quantity: 1, unit_price: 100 }] }
    const { body: correction } = await importOrders(shop, [changed], { on_duplicate: 'update' })
    const { 'Weekend ticket': right = '', 'Weekend tickett': wrong = '' } = await mapProducts(shop)
    await merge(right, wrong)
    expect((await post(`/v1/data-imports/${correction.id}/undo`, {})).status).toBe(200)
    await work(correction.id)
    const undone = (await get(`/v1/orders/${correction.results[0].order_id}`)).body
    expect(undone.purchases[0].product).toMatchObject({ api_id: right, name: 'Weekend ticket' })
    expect(undone.cart.items[0].product.api_id).toBe(right)
  })

  it('merges products that were merged before', async () => {
    const shop = await seedShop()
    await givenOrders(
      shop,
      ['A', 'B', 'C'].map((name) => orderOf(name)),
    )
    const { A = '', B = '', C = '' } = await mapProducts(shop)
    await merge(B, A)
    const reply = await merge(C, B)
    expect(reply.body).toMatchObject({ aliases: ['A', 'B'] })
    expect(await listEntries(reply)).toMatchObject([
      { action: 'mergeProducts', resource_id: C, edition_id: shop.edition_id },
    ])
    await importOrders(shop, [orderOf('a'), orderOf('b')])
    const { body } = await get(`/v1/purchases?edition_id=${shop.edition_id}&product_id=${A}`)
    expect(body.results.map((one: { product: { api_id: string } }) => one.product.api_id)).toEqual(Array(5).fill(C))
  })

  it('refuses another product than one of its edition', async () => {
    const shop = await seedShop()
    const { right, wrong } = await givenSpellings(shop)
    const other = await seedEdition({ id: shop.organization_id })
    const foreign = await seedProduct({ organization: shop.organization_id, edition: other.id })
    for (const id of [foreign, 'prd_none'])
      expect(codes(await merge(right, id))).toEqual(buildRefusal('#/product_id does_not_exist'))
    expect(codes(await merge(right, right))).toEqual(buildRefusal('#/product_id invalid_choice'))
    const { token } = await givenMember({ id: shop.organization_id }, 'admin', other.id)
    expect((await merge(foreign, right, token)).status).toBe(400)
    expect((await merge(right, wrong, token)).status).toBe(404)
    await merge(right, wrong)
    expect(codes(await merge(right, wrong))).toEqual(buildRefusal('#/product_id does_not_exist'))
    expect((await merge(wrong, right)).status).toBe(404)
  })

  it('marks the passes of the moved purchases alone', async () => {
    const shop = await seedShop()
    const { right, wrong } = await givenSpellings(shop)
    const rows = await db.all(
      sql<{
        id: string
        product_id: string
      }>`select id, product_id from purchases where edition_id = ${shop.edition_id}`,
    )
    for (const { id } of rows)
      await write(sql`insert into wallet_passes (id, organization_id, edition_id, purchase_id, platform, provider,
          serial_number, status, change_number, changed_at, created_at, modified_at)
        values (${`wps_${id}`}, ${shop.organization_id}, ${shop.edition_id}, ${id}, 'google', 'vendor_a', ${id}, 'active',
          1, 1, 1, 1)`)
    await merge(right, wrong)
    const due = await db.all(sql<{ purchase_id: string }>`select purchase_id from wallet_passes
      where edition_id = ${shop.edition_id} and due_at is not null`)
    expect(due.map(({ purchase_id }) => purchase_id).toSorted()).toEqual(
      rows
        .filter(({ product_id }) => product_id === wrong)
        .map(({ id }) => id)
        .toSorted(),
    )
  })
})

/** More orders than one step moves. */
async function givenLargeEdition() {
  const shop = await seedShop()
  const place = { organization: shop.organization_id, edition: shop.edition_id }
  await seedTrades(place, 2300)
  const [{ product_id: wrong }] = (await db.all(
    sql<{ product_id: string }>`select distinct product_id from purchases where edition_id = ${shop.edition_id}`,
  )) as [{ product_id: string }]
  return { shop, wrong, right: await seedProduct(place, { name: 'Right' }) }
}

const countPurchases = async (shop: Shop, id: string): Promise<number> =>
  (await get(`/v1/purchases?edition_id=${shop.edition_id}&product_id=${id}`)).body.count

describe('mergeProducts in a large edition', () => {
  it('moves the other orders in the background', async () => {
    const { shop, right, wrong } = await givenLargeEdition()
    expect((await merge(right, wrong)).body.is_merging).toBe(true)
    expect(await countIn('purchases', wrong)).toBe(1300)
    expect(await countPurchases(shop, right)).toBe(2300)
    await sweepProductMerges(createJob())
    expect([await countIn('purchases', wrong), await countIn('orders', wrong)]).toEqual([0, 0])
    expect((await get(`${path}/${right}`)).body.is_merging).toBe(false)
    expect(await countPurchases(shop, right)).toBe(2300)
  })

  describe('while the orders move', () => {
    let scene: Awaited<ReturnType<typeof givenLargeEdition>>
    beforeAll(async () => {
      scene = await givenLargeEdition()
      await merge(scene.right, scene.wrong)
    })

    it('refuses to merge the product into another, and to delete it', async () => {
      const { shop, right } = scene
      const other = await seedProduct({ organization: shop.organization_id, edition: shop.edition_id })
      expect(describeRefusal(await merge(other, right))).toBe('409 product_merging')
      expect(describeRefusal(await remove(`${path}/${right}`))).toBe('409 product_in_use')
    })

    it('finds people by the product as if all had moved', async () => {
      const { shop, right, wrong } = scene
      for (const id of [right, wrong]) {
        const expression = `purchases.exists(p, p.product_id == "${id}")`
        const { body: validation } = await post('/v1/segments/validate-cel', { ...shop, expression })
        expect(validation.estimated_user_count).toBe(id === right ? 2300 : 0)
      }
    })

    it('lists all purchases with the name of the product', async () => {
      const { body } = await get(`/v1/purchases?edition_id=${scene.shop.edition_id}&page_size=500`)
      expect(new Set(body.results.map((one: { product: { name: string } }) => one.product.name))).toEqual(
        new Set(['Right']),
      )
    })
  })

  it('keeps refund batches of the edition waiting until all purchases have moved', async () => {
    const { shop, right, wrong } = await givenLargeEdition()
    const { body: batch } = await makeBatch(shop, { filter: { product_id: wrong } })
    await merge(right, wrong)
    const readBatch = async () => (await get(`/v1/refund-batches/${batch.id}`)).body
    await workRefundBatches(createQuietJob(), [{ type: 'refund-batch.work', batch_id: batch.id }])
    expect(await readBatch()).toMatchObject({ status: 'counting', filter: { product_id: right } })
    await sweepProductMerges(createJob())
    expect(await workUntilDone(batch.id)).toMatchObject({ dry_run: { orders: expect.any(Number) } })
  })
})
