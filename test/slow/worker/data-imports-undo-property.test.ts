import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { aRow, seedStarted } from '../../support/seeding/imports/staged-imports.ts'
import { givenConsent } from '../../support/seeding/messaging/consents.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { seedShop, importOrders, type Shop } from '../../support/seeding/sales/orders.ts'
import { loadImport, loadImportOrders, runToEnd } from '../../support/staged-imports.ts'
import { dumpBeside, listUndone, undoToEnd } from '../../support/undone-imports.ts'
import { expectVerified } from '../../support/verified.ts'

afterAll(expectVerified)

checkSalesCounts()

const people = ['ida', 'bo', 'eva', 'nis']
const phones: Record<string, string> = { ida: '+4520304050', bo: '+4520304051', eva: '+4520304052', nis: '+4520304053' }

/** A row may name its customer by address, number, or both, with or without a name. */
const customer = fc.record({
  person: fc.constantFrom(...people),
  has: fc.constantFrom('email', 'phone', 'both'),
  name: fc.constantFrom(undefined, 'Ægir', 'Maria'),
})
const row = fc.record({
  order: fc.constantFrom('1', '2', '3', '4', '5'),
  product: fc.constantFrom('Day ticket', 'Camping', 'Food'),
  variant: fc.constantFrom(undefined, 'Red', 'Blue'),
  location: fc.constantFrom(undefined, 'North'),
  options: fc.constantFrom(undefined, ['Lunch']),
  quantity: fc.integer({ min: 1, max: 3 }),
  holder: fc.constantFrom(undefined, ...people, 'new'),
})
const order = fc.record({
  customer,
  status: fc.constantFrom('pending', 'confirmed', 'completed', 'cancelled'),
  number: fc.constantFrom(undefined, 'N-1', 'N-2'),
  coupon: fc.constantFrom(undefined, 'HALF'),
  discount: fc.constantFrom(undefined, 100),
  consent: fc.constantFrom(undefined, true, false),
  locale: fc.constantFrom(undefined, 'da', 'de'),
})
const arbitraryFile = fc.record({
  rows: fc.array(row, { minLength: 1, maxLength: 8 }),
  orders: fc.array(order, { minLength: 5, maxLength: 5 }),
})
type File = typeof arbitraryFile extends fc.Arbitrary<infer Value> ? Value : never
type OrderPart = File['orders'][number]

const buildContact = ({ person, has, name }: OrderPart['customer']) => ({
  'customer.email': has === 'phone' ? undefined : `${person}@example.dk`,
  'customer.phone_number': has === 'email' ? undefined : phones[person],
  'customer.first_name': name,
})

const buildRows = ({ rows, orders }: File, key: string) =>
  rows.map(({ order: id, product, variant, location, options, quantity, holder }) => {
    const of = orders[Number(id) - 1] as OrderPart
    return aRow({
      'order.external_id': id,
      ...buildContact(of.customer),
      'order.status': of.status,
      'order.order_number': of.number,
      'order.coupon_code': of.coupon,
      'order.discount': of.discount,
      'customer.locale': of.locale,
      [`consent.${key}`]: of.consent,
      'item.product': product,
      'item.variant': variant,
      'item.location': location,
      'item.options': options,
      'item.quantity': quantity,
      'item.user.email': holder && `${holder}@example.dk`,
    })
  })

async function importFile(shop: Shop, file: File, key: string) {
  const id = await seedStarted(shop, buildRows(file, key), { options: { on_duplicate: 'update', skipped: true } })
  await write(
    sql`insert into import_constants (import_id, target_field, value) values (${id}, ${`consent.${key}`}, 'no')`,
  )
  await runToEnd(id)
  return id
}

const listOutcomes = async (id: string) =>
  (await loadImportOrders(id)).map(({ number, outcome, errors, warnings }) => ({ number, outcome, errors, warnings }))

/** Seeds customers of another edition whom this edition does not know yet. */
async function givenNeighbours(shop: Shop) {
  const other = await seedShop()
  await write(sql`update editions set organization_id = ${shop.organization_id} where id = ${other.edition_id}`)
  const neighbours = { organization_id: shop.organization_id, edition_id: other.edition_id }
  await importOrders(neighbours, [
    {
      external_id: 'n1',
      currency: 'dkk',
      customer: { email: 'ida@example.dk' },
      items: [{ product: 'Tea', quantity: 1, unit_price: 1 }],
    },
    {
      external_id: 'n2',
      currency: 'dkk',
      customer: { phone_number: phones['bo'] },
      items: [{ product: 'Tea', quantity: 1, unit_price: 1 }],
    },
  ])
}

it('an undo restores every table, and the file can be imported again with the same result', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryFile, arbitraryFile, async (first, second) => {
      const shop = await seedShop()
      const { key, id: consent } = (await givenConsent(shop.organization_id, {})) as { key: string; id: string }
      await write(
        sql`update consents set created_at = 0 where id = ${consent}`,
        sql`update consent_versions set created_at = 0 where consent_id = ${consent}`,
      )
      await givenNeighbours(shop)
      await importFile(shop, first, key)
      const before = await dumpBeside()

      const id = await importFile(shop, second, key)
      const outcomes = await listOutcomes(id)
      const imported = await loadImport(id)
      // The file may contain no order that can be imported.
      if (imported.undo_until === null) return
      const undone = await undoToEnd(id)
      expect(undone).toMatchObject({
        status: 'undone',
        phase: null,
        kept_orders: 0,
        undone_orders: imported.created_orders + imported.updated_orders,
      })
      expect(await dumpBeside()).toEqual(before)
      expect((await listUndone(id)).map(({ undo_data: kept }) => kept)).toEqual(outcomes.map(() => null))

      expect(await listOutcomes(await importFile(shop, second, key))).toEqual(outcomes)
    }),
    { numRuns: 8, endOnFailure: true },
  )
})

it('an undo changes nothing of other organisations', async () => {
  const [shop, stranger] = [await seedShop(), await seedShop()]
  await runToEnd(await seedStarted(stranger, [aRow({ 'customer.email': 'ida@example.dk' })]))
  const before = await dumpBeside()
  const id = await seedStarted(shop, [aRow({ 'customer.email': 'ida@example.dk' })])
  await runToEnd(id)
  await undoToEnd(id)
  expect(await dumpBeside()).toEqual(before)
  expect(await db.all(sql`select id from users where organization_id = ${shop.organization_id}`)).toEqual([])
})
