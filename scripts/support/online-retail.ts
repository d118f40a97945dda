import { parse } from 'csv-parse/sync'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExternalItem, ExternalOrder } from './external-order.ts'
import { root } from './paths.ts'

type Line = Record<
  'InvoiceNo' | 'StockCode' | 'Description' | 'Quantity' | 'InvoiceDate' | 'UnitPrice' | 'CustomerID' | 'Country',
  string
>

export const tableName = 'online-retail-1000.csv'

const readTable = (): Promise<string> => readFile(join(root, 'scripts', 'data', tableName), 'utf8')

export const readLines = async (): Promise<Line[]> => parse(await readTable(), { columns: true, bom: true })

const buildAddress = (customer: string): string => (customer ? `customer-${customer}@example.com` : '')

/** Adds a column of e-mail addresses to the shop's file, because orders need one and the shop published none. */
export async function buildTableWithAddresses(): Promise<string> {
  const lines = (await readTable()).trimEnd().split(/\r?\n/)
  const addresses = ['Email', ...(await readLines()).map(({ CustomerID }) => buildAddress(CustomerID))]
  return lines.map((line, index) => `${line},${addresses[index]}\r\n`).join('')
}

/** Parses `12/1/10 8:26`, a local time in London. All times are in December, when London has UTC. */
function parseInstant(text: string): string {
  const [, month, day, year, hour, minute] = /^(\d+)\/(\d+)\/(\d\d) (\d+):(\d\d)$/.exec(text)?.map(Number) ?? []
  if (month !== 12 || !day || !year || hour === undefined || minute === undefined)
    throw new Error(`${text} is not a time in December.`)
  return new Date(Date.UTC(2000 + year, month - 1, day, hour, minute)).toISOString()
}

const buildItem = (line: Line): ExternalItem => ({
  product: line.Description,
  quantity: Math.abs(Number(line.Quantity)),
  unit_price: Number(line.UnitPrice),
  vendor_code: line.StockCode,
})

/** Groups the lines of each invoice into an order. Odd values stay as they are, so that the API judges them. */
export const groupOrders = (lines: readonly Line[]): ExternalOrder[] =>
  [...Map.groupBy(lines, (line) => line.InvoiceNo)].map(([invoice, items]) => {
    const [first] = items as [Line]
    return {
      external_id: invoice,
      order_number: invoice,
      status: invoice.startsWith('C') ? 'cancelled' : 'completed',
      created: parseInstant(first.InvoiceDate),
      currency: 'gbp',
      customer: first.CustomerID ? { email: buildAddress(first.CustomerID) } : {},
      items: items.map(buildItem),
    }
  })
