import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import type { ExternalItem, ExternalOrder } from './external-order.ts'
import { root } from './paths.ts'

type Line = Record<
  'InvoiceNo' | 'StockCode' | 'Description' | 'Quantity' | 'InvoiceDate' | 'UnitPrice' | 'CustomerID' | 'Country',
  string
>

export const tableName = 'online-retail-1000.csv'

const readTable = (): Promise<string> => readFile(join(root, 'scripts', 'data', tableName), 'utf8')

export const readLines = async (): Promise<Line[]> => parse(await readTable(), { columns: true, bom: true })

const addressOf = (customer: string): string => (customer ? `customer-${customer}@example.com` : '')

/** The shop's file as it is, with a column of addresses: the shop published none, and an order needs one. */
export async function tableWithAddresses(): Promise<string> {
  const lines = (await readTable()).trimEnd().split(/\r?\n/)
  const addresses = ['Email', ...(await readLines()).map(({ CustomerID }) => addressOf(CustomerID))]
  return lines.map((line, index) => `${line},${addresses[index]}\r\n`).join('')
}

/** `12/1/10 8:26` in London; all of the file is of December, when London keeps UTC. */
function instantOf(text: string): string {
  const [, month, day, year, hour, minute] = /^(\d+)\/(\d+)\/(\d\d) (\d+):(\d\d)$/.exec(text)?.map(Number) ?? []
  if (month !== 12 || !day || !year || hour === undefined || minute === undefined)
    throw new Error(`${text} is no time of December.`)
  return new Date(Date.UTC(2000 + year, month - 1, day, hour, minute)).toISOString()
}

const itemOf = (line: Line): ExternalItem => ({
  product: line.Description,
  quantity: Math.abs(Number(line.Quantity)),
  unit_price: Number(line.UnitPrice),
  vendor_code: line.StockCode,
})

/** One order an invoice, with everything as the shop wrote it down: what is odd is for the API to judge. */
export const ordersOf = (lines: readonly Line[]): ExternalOrder[] =>
  [...Map.groupBy(lines, (line) => line.InvoiceNo)].map(([invoice, items]) => {
    const [first] = items as [Line]
    return {
      external_id: invoice,
      order_number: invoice,
      status: invoice.startsWith('C') ? 'cancelled' : 'completed',
      created: instantOf(first.InvoiceDate),
      currency: 'gbp',
      customer: first.CustomerID ? { email: addressOf(first.CustomerID) } : {},
      items: items.map(itemOf),
    }
  })
