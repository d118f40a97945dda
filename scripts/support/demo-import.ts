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
    const report = await client.post<{ results: Result[] }>('/v1/data-imports/external-orders', body)
    results.push(...report.results)
  }
  return results
}

/** Formats a JSON pointer without its positions: `#/orders/3/items/0/product` becomes `items/product`. */
const formatPlace = (pointer: string | null): string =>
  (pointer ?? '').replace(/^#\/orders\/\d+\/?/, '').replaceAll(/\/\d+/g, '')

/** Counts the outcomes of the orders. Refused orders are grouped by reason, with an example for each. */
export function summarizeResults(results: readonly Result[]): string[] {
  const actions = Map.groupBy(results, (result) => result.action)
  const counted = [...actions].map(([action, of]) => `${of.length} ${action === 'error' ? 'refused' : action}`)
  const refusals = results.flatMap(({ external_id, errors }) =>
    errors.map(({ detail, pointer }) => ({ external_id, reason: `${formatPlace(pointer)}: ${detail}` })),
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
const buildPath = (id: string, more = ''): string => `/v1/data-imports/${id}${more}`

/** Waits until the background work of the import has ended. */
async function waitForImport(client: Client, id: string): Promise<DataImport> {
  for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(200)) {
    const dataImport = await client.get<DataImport>(buildPath(id))
    if (dataImport.status === 'failed') throw new Error(`The import failed: ${dataImport.error_message}`)
    if (!underWay.includes(dataImport.status)) return dataImport
  }
  throw new Error('The import did not end in five minutes.')
}

async function uploadTable(client: Client, tenant: Tenant, table: string, name: string): Promise<DataImport> {
  const query = new URLSearchParams({ organization_id: tenant.organization_id, purpose: 'import' })
  const file = await client.upload<{ id: string }>(`/v1/files?${query.toString()}`, table, {
    'content-type': 'text/csv',
    'content-disposition': `attachment; filename="${name}"`,
  })
  const body = { ...tenant, file_id: file.id, external_source: 'online-retail', options: { default_currency: 'gbp' } }
  return waitForImport(client, (await client.post<DataImport>('/v1/data-imports', body)).id)
}

/** Lists the columns of the file with a sample and the suggested target. */
async function listSuggestions(client: Client, id: string): Promise<string[]> {
  const { results } = await client.get<Page<Column>>(buildPath(id, '/column-mappings'))
  return results.map(({ source_column, target_field, confidence, sample_values }) => {
    const suggested = target_field ? `${target_field} (${Math.round(confidence * 100)} %)` : 'nothing'
    return `  ${source_column.padEnd(12)} such as ${(sample_values[0] ?? '').padEnd(36)} ${suggested}`
  })
}

/** Processes the columns. Returns the faults that prevent it, or an empty list once the rows are read. */
async function processColumns(client: Client, id: string): Promise<string[]> {
  try {
    await client.post(buildPath(id, '/column-mappings/process'), {})
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.code !== 'column_mapping_incomplete') throw error
    return error.problem.errors.map(({ detail }) => `  ${detail}`)
  }
  const { status } = await waitForImport(client, id)
  if (status !== 'ready') throw new Error(`The import is ${status}, not ready.`)
  return []
}

const mappings = [
  { source_column: 'InvoiceNo', target_field: 'order.external_id' },
  { source_column: 'Description', target_field: 'item.product' },
  { source_column: 'StockCode', target_field: 'order.metadata.stock_codes' },
  { source_column: 'Country', target_field: 'order.metadata.country' },
  { source_column: 'InvoiceDate', target_field: 'order.created' },
]
const american = { source_column: 'InvoiceDate', transform: { type: 'date', args: { order: 'mdy' } } }

/** Maps the columns by hand until the rows can be read. */
async function mapColumns(client: Client, id: string, print: Print): Promise<void> {
  print('what keeps the rows from being read:', ...(await processColumns(client, id)))
  await client.patch(buildPath(id, '/column-mappings'), { mappings })
  const mappingLines = mappings.map(
    ({ source_column, target_field }) => `  ${source_column.padEnd(12)} is ${target_field}`,
  )
  print('mapped by hand, and what is asked then:', ...mappingLines, ...(await processColumns(client, id)))
  await client.patch(buildPath(id, '/column-mappings'), { mappings: [american] })
  const faults = await processColumns(client, id)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  print('the shop writes the month first; with that every row is read')
}

async function previewOrders(client: Client, id: string): Promise<string[]> {
  const { totals, results } = await client.get<Preview>(buildPath(id, '/preview?page_size=500'))
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

const describeResult = ({ status, created_orders, failed_orders }: DataImport): string =>
  `${status}: ${created_orders} orders made, ${failed_orders} left out`

async function startImport(client: Client, id: string): Promise<DataImport> {
  await client.post(buildPath(id, '/start'), { skip_invalid_rows: true })
  return waitForImport(client, id)
}

const brokenInvoice = '536414'
const correctedRow = `${brokenInvoice},22139,RETROSPOT TEA SET CERAMIC 11 PC,56,12/1/10 11:52,4.25,,United Kingdom,lost-and-found@example.com`

/** Corrects the broken row of the error report and imports it. The other rows of the report are credit notes. */
async function correctReport(client: Client, tenant: Tenant, id: string, print: Print): Promise<void> {
  const report = await client.download(buildPath(id, '/error-report'))
  const [header = '', ...rows] = report.trimEnd().split('\r\n')
  const broken = rows.find((row) => row.includes(`,${brokenInvoice},`))
  if (!broken) throw new Error(`Invoice ${brokenInvoice} is not in the report.`)
  print(`the error report has ${rows.length} rows; the broken one:`, `  ${broken}`)
  const corrected = `${broken.slice(0, broken.indexOf(`,${brokenInvoice},`) + 1)}${correctedRow}`
  print('corrected, as in a spreadsheet:', `  ${corrected}`)
  const again = await uploadTable(client, tenant, `${header}\r\n${corrected}\r\n`, 'errors.csv')
  await client.patch(buildPath(again.id, '/column-mappings'), { mappings: [american] })
  const faults = await processColumns(client, again.id)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  print(`uploaded again, its columns known from before: ${describeResult(await startImport(client, again.id))}`)
}

/** Imports the file of a shop: maps its columns, previews it, corrects a row, undoes the import and repeats it. */
export async function importTable(client: Client, tenant: Tenant, table: string, print: Print): Promise<void> {
  const first = await uploadTable(client, tenant, table, tableName)
  print(`${tableName} is uploaded and read: ${first.total_rows} rows; suggested for its columns:`)
  print(...(await listSuggestions(client, first.id)))
  await mapColumns(client, first.id, print)
  print(...(await previewOrders(client, first.id)))
  print(describeResult(await startImport(client, first.id)))
  await correctReport(client, tenant, first.id, print)
  const count = async () => (await client.get<Page<object>>(`/v1/orders?edition_id=${tenant.edition_id}`)).count
  await client.post(buildPath(first.id, '/undo'), {})
  const undone = await waitForImport(client, first.id)
  print(
    `the first import undone: ${undone.undone_orders} orders gone, ${undone.kept_orders} kept, ${await count()} left`,
  )
  const second = await uploadTable(client, tenant, table, tableName)
  await client.patch(buildPath(second.id, '/column-mappings'), { mappings: [american] })
  const faults = await processColumns(client, second.id)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  print(`the same file again, its columns known from before: ${describeResult(await startImport(client, second.id))}`)
  print(`${await count()} orders in the edition`)
}
