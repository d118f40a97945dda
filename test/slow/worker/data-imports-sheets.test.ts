/// <reference types="vite/types/importMeta.d.ts" />
import { describe, expect, it } from 'vitest'
import type { TargetMapping } from '../../../src/domain/data-imports/mapping/index.ts'
import { get } from '../../support/api.ts'
import { readColumns, mapColumns, pathOf, process } from '../../support/data-imports.ts'
import type { WholeFile } from '../../support/import-mapping/whole-file.ts'
import { startImport } from '../../support/imported-tables.ts'
import { givenImport } from '../../support/seeding/imports/data-imports.ts'
import { seedShop, type Shop } from '../../support/seeding/sales/orders.ts'

interface ExpectedOrder {
  errors?: string[]
  status: string
  created_at?: string
  currency: string
  amount_minor?: number
  customer: { email?: string; phone_number?: string }
  items: { quantity: number; unit_price_minor?: number; line_total_minor?: number; status?: string }[]
  service_fee_minor?: number
  discount_minor?: number
}

const files = import.meta.glob<string>('../../../packages/table-reader/test/corpus/sheet-*.{csv,xlsx}', {
  query: '?url&inline',
  import: 'default',
  eager: true,
})
const outcomes = import.meta.glob<WholeFile>('../../support/import-files/sheet-*.json', {
  import: 'default',
  eager: true,
})

const sheets = Object.entries(files).map(([path, url]) => {
  const name = path.replace(/.*\//, '')
  const outcome = outcomes[`../../support/import-files/${name.replace(/\.\w+$/, '.json')}`]!
  const bytes = Uint8Array.fromBase64(url.slice(url.indexOf(',') + 1))
  return [name, bytes, outcome] as const
})

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const uploadOf = (name: string) => ({ name, type: name.endsWith('.xlsx') ? workbookType : 'text/csv' })

const answerOf = ({ target, columns, transform }: TargetMapping) => {
  const { type, ...args } = transform ?? { type: 'none' }
  return { source_index: columns[0], target_field: target, transform: { type, args } }
}

const computePrice = ({ quantity, unit_price_minor, line_total_minor }: ExpectedOrder['items'][number]): number =>
  line_total_minor ?? quantity * (unit_price_minor ?? 0)

const sum = (numbers: readonly number[]): number => numbers.reduce((all, number) => all + number, 0)

/** Sums the prices of the tickets that the amount includes, or else of those that are not cancelled. */
function sumTickets(order: ExpectedOrder): number {
  const sumPrices = (items: ExpectedOrder['items']) => sum(items.map(computePrice)) - (order.discount_minor ?? 0)
  const live = order.items.filter(({ status }) => status !== 'cancelled')
  const isWhole = order.amount_minor === sumPrices(order.items) + (order.service_fee_minor ?? 0)
  return sumPrices(isWhole || (order.status === 'cancelled' && live.length === 0) ? order.items : live)
}

/** Returns the amount in the file, or else the sum of the tickets. */
const computeAmount = (order: ExpectedOrder): number =>
  order.amount_minor ?? sumTickets(order) + (order.service_fee_minor ?? 0)

interface BriefOrder {
  status: string
  amount: string
  created: string | null
  contact: string | null
  tickets: number
  paid: number
}

const summarise = (order: ExpectedOrder): BriefOrder => ({
  status: order.status,
  amount: `${computeAmount(order) / 100} ${order.currency}`,
  created: order.created_at ?? null,
  contact: order.customer.email ?? order.customer.phone_number ?? null,
  tickets: sum(order.items.map(({ quantity }) => quantity)),
  paid: sumTickets(order) / 100,
})

interface StoredOrder extends Omit<BriefOrder, 'contact' | 'amount' | 'tickets' | 'paid'> {
  id: string
  amount: number
  currency: string
  customer: { email: string | null; phone_number: string | null }
  purchases: { price_paid: number }[]
}

const byContact = (one: BriefOrder, other: BriefOrder): number =>
  `${one.contact} ${one.amount}` < `${other.contact} ${other.amount}` ? -1 : 1

/** Lists the orders of an edition, with their times only when the file has times. */
async function storedOrders({ edition_id }: Shop, expected: readonly BriefOrder[]): Promise<BriefOrder[]> {
  const { body } = await get(`/v1/orders?edition_id=${edition_id}&page_size=100`)
  const ids = (body.results as { id: string }[]).map(({ id }) => id)
  const orders = await Promise.all(ids.map(async (id) => (await get(`/v1/orders/${id}`)).body as StoredOrder))
  const isDated = expected.some(({ created }) => created !== null)
  return orders
    .map(({ status, amount, currency, created, customer, purchases }) => ({
      status,
      amount: `${amount} ${currency}`,
      created: isDated ? created : null,
      contact: customer.email ?? customer.phone_number,
      tickets: purchases.length,
      paid: Math.round(sum(purchases.map(({ price_paid }) => price_paid * 100))) / 100,
    }))
    .toSorted(byContact)
}

interface PreviewedOrder {
  action: string
  amount: number
  currency: string
}

/** Rows whose id cannot be read belong to no order. */
const isOfOrder = ({ errors = [] }: ExpectedOrder): boolean =>
  !errors.some((text) => text.includes('order.external_id'))

interface ShownRow {
  errors: { row: number; target_field: string | null; code: string; message: string }[]
}

async function rowErrors(id: string): Promise<string[]> {
  const { body } = await get(pathOf(id, '/rows?outcome=error&page_size=100'))
  return (body.results as ShownRow[]).flatMap(({ errors }) =>
    errors.map(({ row, target_field, code, message }) => `${row} ${target_field} ${code}: ${message}`),
  )
}

const listSuggested = ({ columns }: WholeFile): string[] =>
  columns
    .map((column) => / = ([\w.]+)(?:,| \d,)/.exec(column)?.[1] ?? 'nothing')
    .filter((target) => !target.startsWith('consent.'))

async function suggestedHere(id: string): Promise<string[]> {
  const { results } = await readColumns(id)
  return (results as { target_field: string | null }[]).map(({ target_field }) => target_field ?? 'nothing')
}

describe('a sheet by a person or an export of a system', () => {
  it('comes in at least 25 kinds', () => {
    expect(sheets.length).toBeGreaterThanOrEqual(25)
  })

  it.each(sheets)('is imported as expected, over HTTP: %s', async (name, bytes, expected) => {
    const tenant = await seedShop({ currency: 'dkk' })
    const { id } = await givenImport(tenant, bytes, { options: {} }, uploadOf(name))
    const suggested = await suggestedHere(id)
    const withoutConsents = suggested.filter((_, index) => !expected.columns[index]?.includes('= consent.'))
    expect(withoutConsents).toEqual(listSuggested(expected))
    if (expected.answers.length > 0) {
      const mapped = await mapColumns(id, expected.answers.map(answerOf))
      expect(mapped.status, mapped.text).toBe(200)
    }
    await process(id)
    const orders = (expected.orders ?? []) as ExpectedOrder[]
    const good = orders.filter(({ errors }) => !errors).map(summarise)
    const failing = orders.filter(isOfOrder).length - good.length
    const { body } = await get(pathOf(id, '/preview?page_size=100'))
    const previewedOrders = body.results as PreviewedOrder[]
    expect(body.totals).toMatchObject({ create: good.length, error: failing })
    expect(
      previewedOrders
        .filter(({ action }) => action === 'create')
        .map(({ amount, currency }) => `${amount} ${currency}`),
    ).toEqual(good.map(({ amount }) => amount))
    const result = await startImport(id, { skip_invalid_rows: true })
    expect(result).toMatchObject({ created_orders: good.length, failed_orders: failing })
    const errorTexts = orders.flatMap(({ errors = [] }) => errors.filter((text) => text.includes(': ')))
    expect(await rowErrors(id)).toEqual(expect.arrayContaining(errorTexts))
    const stored = await storedOrders(tenant, good)
    const plain = good.map((order) => ({
      ...order,
      created: good.some(({ created }) => created !== null) ? order.created : null,
    }))
    expect(stored).toEqual(plain.toSorted(byContact))
  })
})
