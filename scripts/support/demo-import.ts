import { setTimeout as wait } from 'node:timers/promises'
import { ApiError, type Client, type Page } from './client.ts'
import { type ExternalOrder, ordersPerCall } from './external-order.ts'
import { tableName } from './online-retail.ts'

/** Writes lines for the reader of the demonstration. */
export type Print = (...lines: string[]) => void

interface Result {
  index: number
  external_id: string | null
  action: 'created' | 'updated' | 'skipped' | 'error'
  order_id: string | null
  errors: { code: string; detail: string; pointer: string | null }[]
}

export interface Tenant {
  organization_id: string
  edition_id: string
}

/** Imports the orders, as many in a call as the API accepts, and returns the outcome of each. */
export async function importOrders(
  client: Client,
  tenant: Tenant,
  orders: readonly ExternalOrder[],
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < orders.length; start += ordersPerCall) {
    const part = orders.slice(start, start + ordersPerCall)
    const body = { ...tenant, source: 'online-retail', orders: part }
    const answer = await client.post<{ results: Result[] }>('/v1/data-imports/external-orders', body)
    results.push(...answer.results)
  }
  return results
}

/** Where an error is, without the positions: `#/orders/3/items/0/product` is `items/product`. */
const place = (pointer: string | null): string =>
  (pointer ?? '').replace(/^#\/orders\/\d+\/?/, '').replaceAll(/\/\d+/g, '')

/** The outcomes of the orders; refusals by their reason, each with an example. */
export function account(results: readonly Result[]): string[] {
  const actions = Map.groupBy(results, (result) => result.action)
  const counted = [...actions].map(([action, of]) => `${of.length} ${action === 'error' ? 'refused' : action}`)
  const refusals = results.flatMap(({ external_id, errors }) =>
    errors.map(({ detail, pointer }) => ({ external_id, reason: `${place(pointer)}: ${detail}` })),
  )
  const reasons = [...Map.groupBy(refusals, (refusal) => refusal.reason)].map(
    ([reason, of]) => `because of ${reason} (${of.length} ×, as in invoice ${of[0]?.external_id})`,
  )
  return [counted.join(', '), ...reasons]
}

interface DataImport {
  id: string
  status: string
  error_message: string | null
  total_rows: number
  total_orders: number
  created_orders: number
  failed_orders: number
  undone_orders: number
  kept_orders: number
}

interface Column {
  source_column: string
  target_field: string | null
  confidence: number
  sample_values: string[]
}

interface PreviewOrder {
  external_id: string | null
  row_numbers: number[]
  action: string
  amount: number | null
  currency: string | null
  customer: { email: string | null; is_new: boolean } | null
  items: object[]
  errors: { row: number; message: string }[]
}

interface Preview extends Page<PreviewOrder> {
  totals: Record<string, number>
}

const underWay = ['parsing', 'processing_columns', 'importing', 'undoing']
const patienceMs = 300_000
const pathOf = (id: string, more = ''): string => `/v1/data-imports/${id}${more}`

/** The import after its work in the background. */
async function settled(client: Client, id: string): Promise<DataImport> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(200)) {
    const found = await client.get<DataImport>(pathOf(id))
    if (found.status === 'failed') throw new Error(`The import failed: ${found.error_message}`)
    if (!underWay.includes(found.status)) return found
  }
  throw new Error('The import did not end in five minutes.')
}

async function uploaded(client: Client, tenant: Tenant, table: string, name: string): Promise<DataImport> {
  const query = new URLSearchParams({ organization_id: tenant.organization_id, purpose: 'import' })
  const file = await client.upload<{ id: string }>(`/v1/files?${query.toString()}`, table, {
    'content-type': 'text/csv',
    'content-disposition': `attachment; filename="${name}"`,
  })
  const body = { ...tenant, file_id: file.id, external_source: 'online-retail', options: { default_currency: 'gbp' } }
  return settled(client, (await client.post<DataImport>('/v1/data-imports', body)).id)
}

/** What the service says of the columns, each with what it suggests. */
async function suggestions(client: Client, id: string): Promise<string[]> {
  const { results } = await client.get<Page<Column>>(pathOf(id, '/column-mappings'))
  return results.map(({ source_column, target_field, confidence, sample_values }) => {
    const suggested = target_field ? `${target_field} (${Math.round(confidence * 100)} %)` : 'nothing'
    return `  ${source_column.padEnd(12)} such as ${(sample_values[0] ?? '').padEnd(36)} ${suggested}`
  })
}

/** The faults that prevent reading the rows by these columns; empty once they are read. */
async function processed(client: Client, id: string): Promise<string[]> {
  try {
    await client.post(pathOf(id, '/column-mappings/process'), {})
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.code !== 'column_mapping_incomplete') throw error
    return error.problem.errors.map(({ detail }) => `  ${detail}`)
  }
  const { status } = await settled(client, id)
  if (status !== 'ready') throw new Error(`The import is ${status}, not ready.`)
  return []
}

const answers = [
  { source_column: 'InvoiceNo', target_field: 'order.external_id' },
  { source_column: 'Description', target_field: 'item.product' },
  { source_column: 'StockCode', target_field: 'item.vendor_code' },
  { source_column: 'Country', target_field: 'order.metadata.country' },
  { source_column: 'InvoiceDate', target_field: 'order.created' },
]
const american = { source_column: 'InvoiceDate', transform: { type: 'date', args: { order: 'mdy' } } }

/** Answers what the service asks, until the rows are read. */
async function mapColumns(client: Client, id: string, print: Print): Promise<void> {
  print('what keeps the rows from being read:', ...(await processed(client, id)))
  await client.patch(pathOf(id, '/column-mappings'), { mappings: answers })
  const answered = answers.map(({ source_column, target_field }) => `  ${source_column.padEnd(12)} is ${target_field}`)
  print('mapped by hand, and what is asked then:', ...answered, ...(await processed(client, id)))
  await client.patch(pathOf(id, '/column-mappings'), { mappings: [american] })
  const left = await processed(client, id)
  if (left.length > 0) throw new Error(left.join('\n'))
  print('the shop writes the month first; with that every row is read')
}

async function previewed(client: Client, id: string): Promise<string[]> {
  const { totals, results } = await client.get<Preview>(pathOf(id, '/preview?page_size=500'))
  const [first] = results.filter(({ action }) => action === 'create')
  const counted = Object.entries(totals).filter(([, count]) => count > 0)
  const refused = results.flatMap(({ external_id, errors: [error] }) =>
    error ? [`  line ${error.row}, invoice ${external_id ?? 'without a number'}: ${error.message}`] : [],
  )
  return [
    `preview, before anything is written: ${counted.map(([action, count]) => `${count} to ${action}`).join(', ')}`,
    `  invoice ${first?.external_id}: ${first?.items.length} items, ${first?.amount?.toFixed(2)} ` +
      `${first?.currency?.toUpperCase()}, ${first?.customer?.email}, ${first?.customer?.is_new ? 'new' : 'known'}`,
    ...refused,
  ]
}

const madeOf = ({ status, created_orders, failed_orders }: DataImport): string =>
  `${status}: ${created_orders} orders made, ${failed_orders} left out`

async function started(client: Client, id: string): Promise<DataImport> {
  await client.post(pathOf(id, '/start'), { skip_invalid_rows: true })
  return settled(client, id)
}

const brokenInvoice = '536414'
const mendedRow = `${brokenInvoice},22139,RETROSPOT TEA SET CERAMIC 11 PC,56,12/1/10 11:52,4.25,,United Kingdom,lost-and-found@example.com`

/** Mends the broken row where the report shows it, and imports the rest of the report without the credit notes. */
async function mendReport(client: Client, tenant: Tenant, id: string, print: Print): Promise<void> {
  const report = await client.download(pathOf(id, '/error-report'))
  const [header = '', ...rows] = report.trimEnd().split('\r\n')
  const broken = rows.find((row) => row.includes(`,${brokenInvoice},`))
  if (!broken) throw new Error(`Invoice ${brokenInvoice} is not in the report.`)
  print(`the error report has ${rows.length} rows; the broken one:`, `  ${broken}`)
  const mended = `${broken.slice(0, broken.indexOf(`,${brokenInvoice},`) + 1)}${mendedRow}`
  print('mended, as it would be in a spreadsheet:', `  ${mended}`)
  const again = await uploaded(client, tenant, `${header}\r\n${mended}\r\n`, 'errors.csv')
  await client.patch(pathOf(again.id, '/column-mappings'), { mappings: [american] })
  const left = await processed(client, again.id)
  if (left.length > 0) throw new Error(left.join('\n'))
  print(`uploaded again, its columns known from before: ${madeOf(await started(client, again.id))}`)
}

/** Brings a file in as its shop keeps it: suggestions, preview, a mended row, undone, and once more. */
export async function importTable(client: Client, tenant: Tenant, table: string, print: Print): Promise<void> {
  const first = await uploaded(client, tenant, table, tableName)
  print(`${tableName} is uploaded and read: ${first.total_rows} rows; suggested for its columns:`)
  print(...(await suggestions(client, first.id)))
  await mapColumns(client, first.id, print)
  print(...(await previewed(client, first.id)))
  print(madeOf(await started(client, first.id)))
  await mendReport(client, tenant, first.id, print)
  const count = async () => (await client.get<Page<object>>(`/v1/orders?edition_id=${tenant.edition_id}`)).count
  await client.post(pathOf(first.id, '/undo'), {})
  const undone = await settled(client, first.id)
  print(
    `the first import undone: ${undone.undone_orders} orders gone, ${undone.kept_orders} kept, ${await count()} left`,
  )
  const second = await uploaded(client, tenant, table, tableName)
  await client.patch(pathOf(second.id, '/column-mappings'), { mappings: [american] })
  const left = await processed(client, second.id)
  if (left.length > 0) throw new Error(left.join('\n'))
  print(`the same file again, its columns known from before: ${madeOf(await started(client, second.id))}`)
  print(`${await count()} orders in the edition`)
}
