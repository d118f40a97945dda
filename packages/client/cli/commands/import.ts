import { type Command, Option } from 'commander'
import { randomUUID } from 'node:crypto'
import { isApiError } from '../../src/index.ts'
import { canAsk, confirmWork } from '../ask.ts'
import { type Context, openContext } from '../context.ts'
import { UsageError, WorkError } from '../errors.ts'
import { applyColumnOptions, decideColumns, reviewColumns } from '../imports/columns.ts'
import { followImport } from '../imports/follow.ts'
import {
  type DataImport,
  type ImportJob,
  type ImportOptions,
  importPath,
  readImport,
  readPair,
} from '../imports/job.ts'
import { describeTotals, type Preview, previewImport, showPreview } from '../imports/preview.ts'
import { applyProductOptions, decideProducts } from '../imports/products.ts'
import { type Report, saveReport } from '../imports/report.ts'
import { deriveKey, inspectFile, type LocalFile, uploadTable } from '../imports/upload.ts'
import { openState, type StoredState } from '../state.ts'
import { addImportUndo } from './import-undo.ts'

/** The state that an interrupted run leaves for the next one with the same file. */
interface Run {
  /** The first part of its idempotency keys. */
  key: string
  import_id?: string
  skips_invalid?: boolean
  report?: Report
}

const runningWork: Partial<Record<DataImport['status'], string>> = {
  parsing: 'Reading the file',
  processing_columns: 'Reading the rows',
  importing: 'Importing',
  cancelling: 'Cancelling',
  undoing: 'Undoing',
}

const editableStatuses = ['mapping_columns', 'mapping_products', 'ready']

async function importFile(path: string, options: ImportOptions, command: Command): Promise<void> {
  const { edition } = options
  if (edition === undefined) throw new UsageError('Say with --edition edt_… where the orders belong.')
  if (!options.yes && !options.dryRun && !canAsk())
    throw new UsageError('Without a terminal, add --yes to import, or --dry-run to see what would happen.')
  const settings = options.option.map((pair) => readPair('--option', pair))
  const file = await inspectFile(path)
  const context = await openContext(command)
  const key = [context.connection.url, edition, options.kind, file.sha256]
  const state = openState<Run>('imports', key)
  const row = await openImport(context, file, { options, state })
  const job = { context, id: row.id, path, options }
  const changes = Object.fromEntries(settings.map(({ name, value }) => [name, readValue(value)]))
  await runImport(job, await updateOptions(job, row, changes), state)
}

/** Finds the import of an earlier run with the same file, or makes one. */
async function openImport(
  context: Context,
  file: LocalFile,
  { options, state }: { options: ImportOptions; state: StoredState<Run> },
): Promise<DataImport> {
  const { client, output } = context
  const run = (await state.read()) ?? { key: randomUUID() }
  if (run.import_id !== undefined) {
    const row = await findImport(context, run.import_id)
    if (row && !isOver(row)) {
      output.note(`Going on with import ${row.id} of this file.`)
      return row
    }
    run.key = randomUUID()
  }
  await state.write({ key: run.key })
  const { data: edition } = await client.GET('/v1/editions/{id}', { params: { path: { id: options.edition ?? '' } } })
  const place = { organization_id: edition.organization.id, edition_id: edition.id }
  const file_id = await uploadTable(context, file, place, run.key)
  const body = {
    ...place,
    file_id,
    kind: options.kind,
    ...(options.source === undefined ? {} : { external_source: options.source }),
  }
  const headers = { 'Idempotency-Key': deriveKey(run.key, 'import', body) }
  const { data: row } = await client.POST('/v1/data-imports', { body, headers })
  await state.write({ key: run.key, import_id: row.id })
  return row
}

async function findImport(context: Context, id: string): Promise<DataImport | null> {
  try {
    return await readImport({ context, id })
  } catch (error) {
    if (isApiError(error) && error.status === 404) return null
    throw error
  }
}

/** True if nothing is left to do for the import, so that the file is imported anew. */
const isOver = ({ status, allowed_actions }: DataImport): boolean =>
  ['cancelled', 'undoing', 'undone'].includes(status) || (status === 'failed' && !allowed_actions.includes('start'))

/** `--option` has texts, and the options of the API may be booleans and null. */
function readValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return text === 'null' ? null : text
}

/** Some options are stored in lower case. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === 'string' && typeof other === 'string' && one.toLowerCase() === other.toLowerCase())

async function updateOptions(job: ImportJob, row: DataImport, options: object): Promise<DataImport> {
  const stored = row.options as Record<string, unknown>
  if (Object.entries(options).every(([name, value]) => isSame(stored[name], value))) return row
  const label = runningWork[row.status]
  const current = label === undefined ? row : await followImport(job.context, row.id, label)
  if (!current.allowed_actions.includes('update'))
    throw new UsageError(`The import is ${current.status}, so its options cannot change any more.`)
  const { data } = await job.context.client.PATCH('/v1/data-imports/{id}', { ...importPath(row), body: { options } })
  return data
}

/** Takes the import from its status to its end. */
async function runImport(job: ImportJob, first: DataImport, state: StoredState<Run>): Promise<void> {
  const openSteps = new Set<Step>(['columns', 'products', 'process'])
  for (let row = first; ;) {
    const label = runningWork[row.status]
    if (label !== undefined) row = await followWork(job, row, label)
    else if (editableStatuses.includes(row.status) && (await applyOptions(job, row, openSteps)))
      row = await readImport(job)
    else if (row.status === 'mapping_columns') row = await processColumns(job, row, openSteps)
    else if (row.status === 'mapping_products') row = await decideProducts(job).then(() => readImport(job))
    else if (row.status === 'ready') {
      const preview = await previewImport(job)
      await showPreview(job, preview)
      if (job.options.dryRun) return endDryRun(job, row, preview)
      row = await startImport(job, row, { preview, state })
    } else if (row.status === 'failed') row = await restartImport(job, row, { state, isFirst: row === first })
    else return endImport(job, row, state)
  }
}

async function followWork(job: ImportJob, row: DataImport, label: string): Promise<DataImport> {
  const { output } = job.context
  const onInterrupt = () => {
    if (row.status === 'importing')
      output.note(
        `\nThe import goes on. Run the same command again to follow it, or: ecm api cancelDataImport id=${row.id}`,
      )
    process.exit(130)
  }
  process.once('SIGINT', onInterrupt)
  try {
    return await followImport(job.context, row.id, label)
  } finally {
    process.off('SIGINT', onInterrupt)
  }
}

/** The steps that a run does once, so that it ends also if the service stores something else than it was sent. */
type Step = 'columns' | 'products' | 'process'

async function applyOptions(job: ImportJob, { status }: DataImport, openSteps: Set<Step>): Promise<boolean> {
  if (openSteps.delete('columns') && (await applyColumnOptions(job))) return true
  return status !== 'mapping_columns' && openSteps.delete('products') && applyProductOptions(job)
}

async function processColumns(job: ImportJob, row: DataImport, openSteps: Set<Step>): Promise<DataImport> {
  const { client, output } = job.context
  const { error_code, error_message } = row
  const isFirst = openSteps.delete('process')
  if (error_message !== null && !isFirst && (job.options.yes || !canAsk()))
    throw new WorkError(error_code ?? 'column_mapping_incomplete', error_message)
  if (error_message !== null) output.note(error_message)
  await decideColumns(job)
  await reviewColumns(job)
  return (await client.POST('/v1/data-imports/{id}/column-mappings/process', importPath(job))).data
}

function endDryRun(job: ImportJob, row: DataImport, preview: Preview): void {
  const { output } = job.context
  if (!output.isTable) output.object({ import: row, preview })
  output.note(`Nothing was imported. Without --dry-run the same command starts import ${row.id}.`)
}

/** Saves the report of errors, and says where. */
async function placeReport(job: ImportJob, row: DataImport, state: StoredState<Run>): Promise<string | null> {
  const earlier = (await state.read())?.report ?? null
  const report = await saveReport(job, row, earlier)
  if (report === null) return null
  if (report.sha256 !== earlier?.sha256) job.context.output.note(`The rows with errors are in ${report.path}.`)
  await updateRun(state, { report })
  return report.path
}

const updateRun = async (state: StoredState<Run>, changes: Partial<Run>): Promise<void> =>
  state.write({ ...((await state.read()) ?? { key: randomUUID() }), ...changes })

interface Start {
  preview: Preview
  state: StoredState<Run>
}

async function startImport(job: ImportJob, row: DataImport, { preview, state }: Start): Promise<DataImport> {
  const { context, options, id } = job
  const errors = preview.totals?.error ?? 0
  const hasErrors = errors > 0 || row.invalid_rows > 0
  await placeReport(job, row, state)
  if (hasErrors && errors === preview.total_orders)
    throw new WorkError('all_orders_failed', `None of the ${options.kind} can be imported. Correct their errors first.`)
  if (hasErrors && options.yes && !options.skipInvalid)
    throw new WorkError(
      'import_has_invalid_rows',
      'Correct the rows with errors, or add --skip-invalid to leave them out.',
    )
  const otherwise = `Nothing was imported. Import ${id} waits for the same command.`
  const errorHint = hasErrors ? ', without those with errors' : ''
  await confirmWork(`Import into ${row.edition.full_name}: ${describeTotals(preview)}${errorHint}?`, {
    ...(options.yes === undefined ? {} : { yes: options.yes }),
    otherwise,
  })
  await updateRun(state, { import_id: id, skips_invalid: hasErrors })
  const body = { skip_invalid_rows: hasErrors }
  return (await context.client.POST('/v1/data-imports/{id}/start', { ...importPath({ id }), body })).data
}

/** Continues an import that failed in an earlier run, and ends with the reason of one that fails now. */
async function restartImport(
  job: ImportJob,
  row: DataImport,
  { state, isFirst }: { state: StoredState<Run>; isFirst: boolean },
): Promise<DataImport> {
  const canStart = row.allowed_actions.includes('start')
  if (canStart && isFirst) {
    const run = await state.read()
    const body = { skip_invalid_rows: run?.skips_invalid ?? false }
    return (await job.context.client.POST('/v1/data-imports/{id}/start', { ...importPath(row), body })).data
  }
  await placeReport(job, row, state)
  if (!canStart) await state.remove()
  throw new WorkError(
    row.error_code ?? 'import_failed',
    `The import failed: ${row.error_message ?? 'for an unknown reason'}`,
  )
}

const shownFields = [
  'id',
  'status',
  'created_orders',
  'updated_orders',
  'skipped_orders',
  'failed_orders',
  'undo_until',
] as const

async function endImport(job: ImportJob, row: DataImport, state: StoredState<Run>): Promise<void> {
  const { output } = job.context
  const error_report = await placeReport(job, row, state)
  const run = await state.read()
  await state.remove()
  const fields = Object.fromEntries(shownFields.map((name) => [name, row[name]]))
  output.object(output.isTable ? { ...fields, error_report } : { ...row, error_report })
  if (row.undo_until !== null) output.note(`\`ecm import undo ${row.id}\` takes it back.`)
  if (row.status === 'completed' || (row.status === 'completed_with_errors' && run?.skips_invalid)) return
  throw new WorkError(`import_${row.status}`, `The import ended as ${row.status}.`)
}

const collect = (value: string, values: readonly string[]): string[] => [...values, value]

export function addImport(program: Command): void {
  const command = program
    .command('import')
    .description('Import orders or customers from a CSV, XLSX or ZIP file')
    .argument('<file>', 'the file to import')
    .option('--edition <id>', 'edition that gets the orders')
    .addOption(new Option('--kind <kind>', 'what the rows are').choices(['orders', 'customers']).default('orders'))
    .option('--source <name>', 'the other system, if you import files of several ones')
    .option('--map <pair>', 'what a column becomes: "Header=customer.email", or "#3=…" by position', collect, [])
    .option('--ignore <header>', 'leave a column out', collect, [])
    .option('--constant <pair>', 'the same value for every row: "order.currency=dkk"', collect, [])
    .option('--product <pair>', 'what a product becomes: "Name=prd_…", "Name=create" or "Name=ignore"', collect, [])
    .option('--option <pair>', 'an option of the import: "date_format=dmy", "on_duplicate=update"', collect, [])
    .option('--dry-run', 'show the preview, and import nothing')
    .option('--skip-invalid', 'leave out the orders with errors')
    .option('--yes', 'start without a question')
  command
    .addHelpText(
      'after',
      `
The rows with errors are saved beside the file, as FILE.errors.csv: correct them there and import that file. A run that
was interrupted goes on with the same import when you repeat it with the same file.

Examples:
  ecm import orders.csv --edition edt_… --dry-run
  ecm import orders.csv --edition edt_… --map "Ref=order.external_id" --option date_format=dmy --yes
  ecm import members.xlsx --edition edt_… --kind customers
  ecm import undo imp_…
  ecm api listImportTargetFields edition_id=edt_…`,
    )
    .action(importFile)
  addImportUndo(command)
}
