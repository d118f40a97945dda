import { z } from '@hono/zod-openapi'
import { tableFormats } from '../../domain/text/table-file.ts'
import { BooleanFilter, Choices, describeChoices } from './list-query.ts'

/** The columns of an exported file. By default it has all of them. */
export const ExportColumns = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  Choices(names)
    .optional()
    .transform((columns): readonly Names[number][] => columns ?? names)
    .openapi({
      ...describeChoices(names),
      description: `Columns in the order of the file, separated by commas. Default: ${names.join(', ')}.`,
    })

export const ByteOrderMark = BooleanFilter.optional().openapi({
  description:
    'Whether a CSV file starts with a byte order mark, which spreadsheets need. Default: true. Programs send `false`.',
})

/** The query parameters of the export of a list: its filters, columns and format. */
export const exportQuery = <
  const Names extends readonly [string, ...string[]],
  Filters extends z.ZodRawShape,
>(options: {
  columns: Names
  filters: Filters
}) =>
  z.object({
    ...options.filters,
    columns: ExportColumns(options.columns),
    format: z.enum(tableFormats).default('csv').openapi({ description: 'The format of the file.' }),
    bom: ByteOrderMark,
    after: z.string().max(64).optional().openapi({
      description:
        'The id in the last complete row of an earlier file, to continue after that row. Send the same filters again.',
    }),
  })

/** What a request for an export asks for besides the filters. */
export interface ExportRequest<Column extends string> {
  columns: readonly Column[]
  format: (typeof tableFormats)[number]
  bom?: boolean | undefined
  after?: string | undefined
}

/** The file that an export answers with, in both formats. */
export const buildExportFile = (example: string, ndjsonExample: string) => ({
  type: 'text/csv' as const,
  description: 'CSV (RFC 4180) with a header row, or one JSON object a line. UTF-8.',
  example,
  ndjsonExample,
})

export const exportDescription =
  'Rows come in the order of their creation, of an organisation edition after edition. What a spreadsheet would run as a ' +
  'formula, also where it cuts a cell at another delimiter, starts with an apostrophe in CSV. When something fails in the ' +
  'middle, the connection breaks: send `after` to continue. The audit log records each export.'
