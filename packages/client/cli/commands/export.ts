import { type Command, Argument, Option } from 'commander'
import { closest } from 'fastest-levenshtein'
import { operations } from '../../src/generated/operations.ts'
import { type Context, openContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { type ExportRequest, runExport, type Size } from '../exports/run.ts'
import { openFile, openStdout, type Target } from '../exports/target.ts'
import { readPair } from '../imports/job.ts'

interface ExportOptions {
  edition?: string
  organization?: string
  filter: readonly string[]
  columns?: string
  format?: 'csv' | 'ndjson' | 'json' | 'html'
  language?: string
  bom: boolean
  output?: string
}

const things = {
  orders: { id: 'exportOrders', isResumable: true, formats: ['csv', 'ndjson'] },
  purchases: { id: 'exportPurchases', isResumable: true, formats: ['csv', 'ndjson'] },
  segment: { id: 'exportSegmentUsers', isResumable: false, formats: ['csv'] },
  customer: { id: 'exportUser', isResumable: false, formats: ['json', 'html'] },
} as const
type Thing = keyof typeof things

/** Parameters that have options of their own. */
const otherParameters: readonly string[] = [
  'columns',
  'format',
  'bom',
  'after',
  'language',
  'edition_id',
  'organization_id',
]

function readFilters(thing: Thing, pairs: readonly string[]): Record<string, string> {
  const names = operations[things[thing].id].query.filter((name) => !otherParameters.includes(name))
  const filters = pairs.map((pair) => readPair('--filter', pair))
  for (const { name } of filters)
    if (!(names as readonly string[]).includes(name))
      throw new UsageError(
        names.length === 0
          ? `An export of a ${thing} takes no filters.`
          : `${thing} have no filter ${name}. Did you mean ${closest(name, names)}? There are ${names.join(', ')}.`,
      )
  return Object.fromEntries(filters.map(({ name, value }) => [name, value]))
}

function buildRequest(thing: Thing, id: string | undefined, options: ExportOptions): ExportRequest {
  const { edition, organization, columns, language, bom } = options
  const { id: operation, isResumable, formats } = things[thing]
  const format = options.format ?? formats[0]
  if (!(formats as readonly string[]).includes(format))
    throw new UsageError(`${thing} can be exported as ${formats.join(' or ')}, and not as ${format}.`)
  if (isResumable === (id !== undefined))
    throw new UsageError(
      isResumable ? `Leave out ${id}: choose ${thing} with --filter.` : `Name the ${thing} by its id.`,
    )
  if (isResumable && edition === undefined && organization === undefined)
    throw new UsageError('Say with --edition edt_… or --organization org_… what to export.')
  const query = {
    ...readFilters(thing, options.filter),
    ...(edition === undefined ? {} : { edition_id: edition }),
    ...(organization === undefined ? {} : { organization_id: organization }),
    ...(columns === undefined ? {} : { columns }),
    ...(language === undefined ? {} : { language }),
    ...(thing === 'segment' ? {} : { format }),
    ...(bom || format !== 'csv' ? {} : { bom: 'false' }),
  }
  return {
    path: operations[operation].path,
    params: { path: id === undefined ? {} : { id }, query },
    format: format === 'csv' || format === 'ndjson' ? format : null,
    isResumable,
  }
}

const openTarget = async ({ connection, output }: Context, request: ExportRequest, path: string | undefined) => {
  if (path === undefined) return openStdout()
  // Another role may see other values in the same rows.
  const key = [connection.url, connection.token ?? '', request.path, JSON.stringify(request.params)]
  const target = await openFile(path, key, request.isResumable ? request.format : null)
  if (target.position.rows > 0) output.note(`Going on with ${path}.part.`)
  return target
}

const describeSize = ({ rows, bytes }: Size): string => `${rows === null ? '' : `${rows} rows, `}${bytes} bytes`

async function writeExport(context: Context, request: ExportRequest, target: Target): Promise<Size> {
  const progress = context.output.progress('Exporting')
  const onWrite = (size: Size) => progress.update(`Exporting: ${describeSize(size)}`)
  try {
    return await runExport({ context, request, target, onWrite })
  } finally {
    progress.stop()
    await target.close()
  }
}

async function exportThing(
  thing: Thing,
  id: string | undefined,
  options: ExportOptions,
  command: Command,
): Promise<void> {
  const request = buildRequest(thing, id, options)
  const context = await openContext(command)
  const target = await openTarget(context, request, options.output)
  const size = await writeExport(context, request, target)
  if (options.output === undefined) return
  if (context.output.isTable) context.output.note(`${options.output}: ${describeSize(size)}.`)
  else context.output.object({ file: options.output, ...size })
}

const collect = (value: string, values: readonly string[]): string[] => [...values, value]

export function addExport(program: Command): void {
  program
    .command('export')
    .description('Export orders, purchases, the members of a segment, or all data of a customer')
    .addArgument(new Argument('<what>', 'what to export').choices(Object.keys(things)))
    .argument('[id]', 'id of the segment or of the customer')
    .option('--edition <id>', 'orders or purchases of this edition')
    .option('--organization <id>', 'orders or purchases of all editions of this organisation')
    .option('--filter <pair>', 'a filter of the list: status=completed', collect, [])
    .option('--columns <names>', 'columns in their order, separated by commas')
    .addOption(new Option('--format <format>', 'form of the file').choices(['csv', 'ndjson', 'json', 'html']))
    .option('--language <code>', 'language of the page of a customer')
    .option('--no-bom', 'a CSV file for programs, without a byte order mark')
    .option('-o, --output <file>', 'the file to write; stdout without it')
    .addHelpText(
      'after',
      `
The file is called FILE.part until it is complete. After a lost connection the export goes on behind its last complete
row. When the program was ended, the same command goes on within a day. Exports of a segment or a customer, and of
columns without the id, begin again.

Examples:
  ecm export orders --edition edt_… -o orders.csv
  ecm export purchases --edition edt_… --filter status=active --columns id,vendor_code -o tickets.csv
  ecm export orders --organization org_… --format ndjson | jq -r .id
  ecm export segment seg_… -o members.csv
  ecm export customer usr_… --format html -o customer.html`,
    )
    .action(exportThing)
}
