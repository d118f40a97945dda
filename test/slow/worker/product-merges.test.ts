import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { LostRace } from '../../../src/domain/errors.ts'
import { openJob } from '../../../src/entry/job.ts'
import { sweepAll } from '../../../src/entry/scheduled.ts'
import { sweepProductMerges } from '../../../src/modules/catalogue/jobs.ts'
import { findProduct } from '../../../src/modules/catalogue/products/queries.ts'
import { updateProduct } from '../../../src/modules/catalogue/products/update.ts'
import type { ImportRow } from '../../../src/modules/data-imports/background/steps.ts'
import { buildRemoval } from '../../../src/modules/data-imports/undo/catalogue.ts'
import { get, patch, post, remove } from '../../support/api.ts'
import { createJob } from '../../support/campaigns.ts'
import { createContextAt, interruptBefore } from '../../support/context.ts'
import { crashAt } from '../../support/crashes.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { db, type Place, write } from '../../support/seeding/rows.ts'
import { anOrder, importOrders, seedShop, type Shop } from '../../support/seeding/sales/orders.ts'
import { seedProduct, seedTrades } from '../../support/seeding/sales/trades.ts'

checkSalesCounts()

const path = '/v1/products'

/** The number of orders whose cart and purchases have other products. */
async function countTornOrders(edition: string): Promise<number> {
  const row = await db.first(sql<{ n: number }>`select count(*) as n from orders where edition_id = ${edition}
    and exists (select 1 from purchases where order_id = orders.id
      and not instr(orders.cart, purchases.product_id))`)
  return row?.n ?? 0
}

const countOf = async (edition: string, product: string): Promise<number> =>
  (await get(`/v1/purchases?edition_id=${edition}&product_id=${product}&page_size=1`)).body.count

/** Gives the carts of seeded orders the product of their purchases. */
async function seedCarts(place: Place, count: number): Promise<string> {
  await seedTrades(place, count)
  await db.all(sql`update orders set cart = json_set(cart, '$.items', json_array(json_object('id', 'itm_1', 'product_id',
    (select product_id from purchases where order_id = orders.id)))) where edition_id = ${place.edition}`)
  const row = await db.first(
    sql<{ product_id: string }>`select product_id from purchases where edition_id = ${place.edition} limit 1`,
  )
  return row?.product_id ?? ''
}

describe('sweepProductMerges', () => {
  it('moves every order once, whichever call to the database fails', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    let product = await seedCarts(place, 2100)
    for (let at = 1, isComplete = false; !isComplete; at++) {
      const into = await seedProduct(place)
      const merged = await post(`${path}/${into}/merge`, { product_id: product })
      expect([merged.status, merged.body.is_merging]).toEqual([200, true])
      const { bindings, hasCrashed } = crashAt(at)
      await sweepProductMerges({ ...openJob({ ...env, ...bindings }) }).catch(() => undefined)
      isComplete = !hasCrashed()
      expect([at, await countTornOrders(shop.edition_id)]).toEqual([at, 0])
      expect([at, await countOf(shop.edition_id, into)]).toEqual([at, 2100])
      // The claim of the sweep that died has ended.
      const later = () => Date.now() + 600_000
      await Promise.all([sweepProductMerges(createJob({ now: later })), sweepProductMerges(createJob({ now: later }))])
      await sweepProductMerges(createJob({ now: () => Date.now() + 1_200_000 }))
      expect((await get(`${path}/${into}`)).body.is_merging).toBe(false)
      const left = await db.first(sql<{ n: number }>`select
        (select count(*) from purchases where edition_id = ${shop.edition_id} and product_id <> ${into})
        + (select count(*) from orders where edition_id = ${shop.edition_id} and not instr(cart, ${into})) as n`)
      expect([at, left]).toEqual([at, { n: 0 }])
      product = into
    }
  }, 120_000)

  it('moves an order that an import has given an earlier date behind the walk', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const product = await seedCarts(place, 1500)
    const into = await seedProduct(place)
    await post(`${path}/${into}/merge`, { product_id: product })
    await db.all(sql`update orders set created_at = 1 where id = (
      select order_id from purchases where edition_id = ${shop.edition_id} and product_id = ${product} limit 1)`)
    for (const minutes of [0, 1]) await sweepProductMerges(createJob({ now: () => Date.now() + minutes * 60_000 }))
    expect(await db.all(sql`select 1 from purchases where product_id = ${product}`)).toEqual([])
    expect(await countTornOrders(shop.edition_id)).toBe(0)
  })
})

/** Merges a product of 1,500 orders, of which the last one has the variant "Adult", into one whose "Adult" is unsold. */
async function givenRunningMerge() {
  const shop = await seedShop()
  const place = { organization: shop.organization_id, edition: shop.edition_id }
  const from = await seedCarts(place, 1500)
  const variants = [{ name: 'Adult' }]
  const { body: source } = await patch(`${path}/${from}`, { variants, options: [{ name: 'Meal' }] })
  await db.all(sql`update purchases set variant_id = ${source.variants[0].id}, options = json_array(json_object(
    'api_id', ${source.options[0].id}, 'name', 'Meal')) where id = (
    select purchases.id from purchases join orders on orders.id = order_id where orders.edition_id = ${shop.edition_id}
    order by orders.created_at desc, orders.seq desc limit 1)`)
  const { body: target } = await post(path, { ...shop, name: 'Target', variants, options: [{ name: 'Meal' }] })
  const { body } = await post(`${path}/${target.id}/merge`, { product_id: from })
  expect(body.is_merging).toBe(true)
  return {
    shop,
    from,
    target: target.id as string,
    variant: target.variants[0].id as string,
    option: target.options[0].id as string,
  }
}

/** A merge of a product without orders whose step is due. */
async function seedDueMerge(): Promise<string> {
  const shop = await seedShop()
  const place = { organization: shop.organization_id, edition: shop.edition_id }
  const [from, into] = [await seedProduct(place), await seedProduct(place)]
  await post(`${path}/${into}/merge`, { product_id: from })
  await db.all(sql`update product_merges set due_at = 1 where id = ${from}`)
  return from
}

const loadMerge = (id: string) =>
  db.first(sql<{ due_at: number | null; claimed_until: number | null }>`select due_at, claimed_until from product_merges
    where id = ${id}`)

describe('a running merge', () => {
  it('keeps the variants and options that it gives to later orders', async () => {
    const { shop, from, target, variant, option } = await givenRunningMerge()
    for (const field of ['variants', 'options'])
      expect(describeRefusal(await patch(`${path}/${target}`, { [field]: [] }))).toBe('409 product_merging')
    const { status } = await patch(`${path}/${target}`, {
      name: 'Renamed',
      variants: [{ id: variant, name: 'Grown-up' }, { name: 'Child' }],
    })
    expect(status).toBe(200)
    await sweepProductMerges(createJob())
    expect(await loadMerge(from)).toEqual({ due_at: null, claimed_until: null })
    expect(
      await db.all(sql`select variant_id, options ->> '$[0].api_id' as option_id from purchases
        where edition_id = ${shop.edition_id} and variant_id is not null`),
    ).toEqual([{ variant_id: variant, option_id: option }])
    expect(describeRefusal(await patch(`${path}/${target}`, { variants: [] }))).toBe('409 product_in_use')
  })

  it('begins at the same time as the removal of a variant, and one of them loses', async () => {
    const shop = await seedShop()
    const place = { organization: shop.organization_id, edition: shop.edition_id }
    const from = await seedCarts(place, 1100)
    const { body: target } = await post(path, { ...shop, name: 'Target', variants: [{ name: 'Adult' }] })
    const product = await findProduct(createContextAt(Date.now()), target.id)
    const merge = () => post(`${path}/${target.id}/merge`, { product_id: from })
    await expect(updateProduct(interruptBefore(merge), product, { variants: [] })).rejects.toThrow(LostRace)
    expect((await get(`${path}/${target.id}`)).body).toMatchObject({ is_merging: true, variants: [{ name: 'Adult' }] })
  })

  it('outlives the undo of the import that added its variant and option', async () => {
    const { shop, from, variant, option } = await givenRunningMerge()
    const row = { id: 'imp_other', edition_id: shop.edition_id, kept_orders: 0 } as ImportRow
    for (const entry of [
      { kind: 'options' as const, id: option },
      { kind: 'variants' as const, id: variant },
    ])
      await write(...buildRemoval(row, entry))
    await sweepProductMerges(createJob())
    expect(await loadMerge(from)).toEqual({ due_at: null, claimed_until: null })
  })

  it('waits when it loses a race, while others go on, and says so in the log', async () => {
    const [broken, sound] = [await givenRunningMerge(), await givenRunningMerge()]
    await db.all(sql`update product_merges set due_at = 1 where id = ${broken.from}`)
    const variant = await db.first(sql<{ name: string }>`delete from variants where id = ${broken.variant} returning *`)
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    await sweepAll(createJob())
    expect(await loadMerge(sound.from)).toEqual({ due_at: null, claimed_until: null })
    expect(await loadMerge(broken.from)).toEqual({ due_at: expect.any(Number), claimed_until: null })
    expect(warn.mock.calls.join(' ')).toContain(broken.from)
    warn.mockRestore()
    const columns = Object.keys(variant ?? {})
    await write(sql`insert into variants (${sql.raw(columns.join(', '))})
      values (${sql.join(
        Object.values(variant ?? {}).map((value) => sql`${value}`),
        sql`, `,
      )})`)
    await sweepProductMerges(createJob({ now: () => Date.now() + 120_000 }))
    expect(await loadMerge(broken.from)).toEqual({ due_at: null, claimed_until: null })
  })

  it('takes at most 50 steps of a minute, so that other sweeps have their queries', async () => {
    const job = createJob()
    let batches = 0
    const batch = job.db.batch.bind(job.db)
    job.db.batch = async (statements) => {
      batches++
      return batch(statements)
    }
    const merges = []
    for (let index = 0; index < 55; index++) merges.push(await seedDueMerge())
    await sweepProductMerges(job)
    expect(batches).toBe(50)
    await sweepProductMerges(createJob())
    for (const id of merges) expect(await loadMerge(id)).toEqual({ due_at: null, claimed_until: null })
  })
})

describe('an import that has read the catalogue before a merge', () => {
  it.each(['purchases', 'orders'])('cannot write the merged product into %s', async (table) => {
    const shop = await seedShop()
    await importOrders(shop, [anOrder({ items: [{ product: 'A', quantity: 1, unit_price: 1 }] })])
    const [{ id: from }] = (await get(`${path}?edition_id=${shop.edition_id}`)).body.results
    const { body: into } = await post(path, { ...shop, name: 'B' })
    await post(`${path}/${into.id}/merge`, { product_id: from })
    const copy = {
      purchases: sql`update purchases set product_id = ${from} where product_id = ${into.id}`,
      orders: sql`update orders set cart = replace(cart, ${into.id}, ${from}) where edition_id = ${shop.edition_id}`,
    }[table as 'purchases' | 'orders']
    await expect(db.all(copy)).rejects.toThrow('FOREIGN KEY')
  })

  it('reads it again when both happen at once', async () => {
    const shop = await seedShop()
    const order = (product: string) => anOrder({ items: [{ product, quantity: 1, unit_price: 1 }] })
    await importOrders(shop, [order('A'), order('B')])
    const { body } = await get(`${path}?edition_id=${shop.edition_id}&ordering=name`)
    const [a, b] = body.results as { id: string }[]
    const [merged, ...imports] = await Promise.all([
      post(`${path}/${b?.id}/merge`, { product_id: a?.id }),
      ...Array.from({ length: 5 }, () => importOrders(shop, [order('A'), order('a')])),
    ])
    expect([merged, ...imports].map(({ status }) => status)).toEqual([200, 201, 201, 201, 201, 201])
    expect((await get(`${path}?edition_id=${shop.edition_id}`)).body.count).toBe(1)
    expect(await countOf(shop.edition_id, b?.id ?? '')).toBe(12)
    expect(await countTornOrders(shop.edition_id)).toBe(0)
  })
})

const spellings = ['Day', 'Week', 'Wéék-end', 'VIP', 'Camp'] as const

/** A product of the model: its name, its other names, and the number of units sold. */
interface ModelProduct {
  name: string
  aliases: Set<string>
  sold: number
}

class Model {
  products: ModelProduct[] = []

  find(name: string): ModelProduct | undefined {
    return this.products.find((product) => product.name === name || product.aliases.has(name))
  }

  sell(name: string): void {
    const product = this.find(name)
    if (product) product.sold++
    else this.products.push({ name, aliases: new Set(), sold: 1 })
  }

  rename(product: ModelProduct, name: string): boolean {
    const owner = this.find(name)
    if (owner && owner !== product) return false
    product.aliases.delete(name)
    if (product.sold > 0 && name !== product.name) product.aliases.add(product.name)
    product.name = name
    return true
  }

  merge(into: ModelProduct, merged: ModelProduct): void {
    into.aliases = new Set([...into.aliases, ...merged.aliases, merged.name])
    into.sold += merged.sold
    this.products = this.products.filter((product) => product !== merged)
  }

  remove(product: ModelProduct): boolean {
    if (product.sold > 0) return false
    this.products = this.products.filter((one) => one !== product)
    return true
  }

  describe() {
    return this.products
      .map(({ name, aliases, sold }) => ({ name, aliases: [...aliases].toSorted(), sold }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
  }
}

async function describeStored({ edition_id }: Shop) {
  const { body } = await get(`${path}?edition_id=${edition_id}`)
  const products = await Promise.all(
    body.results.map(async ({ id }: { id: string }) => {
      const { name, aliases } = (await get(`${path}/${id}`)).body
      return { name, aliases: aliases.toSorted(), sold: await countOf(edition_id, id) }
    }),
  )
  return products.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

const name = fc.constantFrom(...spellings)
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sell' as const), name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('create' as const), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('merge' as const), name, other: name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), name, other: name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), name }) },
)

type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

/** Does the command in the model and by the API. Both have to succeed or to refuse it. */
async function run(shop: Shop, model: Model, step: Command): Promise<void> {
  const idOf = async (wanted: string): Promise<string> => {
    const { body } = await get(`${path}?edition_id=${shop.edition_id}`)
    return body.results.find((one: { name: string }) => one.name === wanted)?.id ?? ''
  }
  if (step.kind === 'sell') {
    model.sell(step.name)
    const items = [{ product: step.name.toUpperCase(), quantity: 1, unit_price: 1 }]
    const first = model.find(step.name)?.sold === 1 && (await idOf(step.name)) === ''
    const order = anOrder({ items: first ? [{ ...items[0], product: step.name }] : items })
    expect((await importOrders(shop, [order])).status).toBe(201)
    return
  }
  const product = model.find(step.name)
  if (step.kind === 'create') {
    const { status } = await post(path, { ...shop, name: step.name })
    expect(status).toBe(product ? 400 : 201)
    if (!product) model.products.push({ name: step.name, aliases: new Set(), sold: 0 })
    return
  }
  if (!product) return
  const id = await idOf(product.name)
  if (step.kind === 'remove') expect((await remove(`${path}/${id}`)).status).toBe(model.remove(product) ? 204 : 409)
  else if (step.kind === 'rename') {
    const { status } = await patch(`${path}/${id}`, { name: step.other })
    expect(status).toBe(model.rename(product, step.other) ? 200 : 400)
  } else {
    const other = model.find(step.other)
    if (!other || other === product) return
    expect((await post(`${path}/${id}/merge`, { product_id: await idOf(other.name) })).status).toBe(200)
    model.merge(product, other)
  }
}

describe('products under any sequence of imports, merges and renames', () => {
  it('are those of a model in which every name leads to one product', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 14 }), async (steps) => {
        const shop = await seedShop()
        const model = new Model()
        for (const step of steps) await run(shop, model, step)
        expect(await describeStored(shop)).toEqual(model.describe())
        expect(await countTornOrders(shop.edition_id)).toBe(0)
      }),
      { numRuns: dearRuns(100, 12) },
    )
  }, 300_000)
})
