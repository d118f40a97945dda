import { z } from '@hono/zod-openapi'
import {
  dataImportStatuses,
  dateOptions,
  decimalOptions,
  importActionNames,
  importDelimiters,
  importEncodings,
  keptDays,
  quoteOptions,
} from '../../domain/data-imports/data-imports.ts'
import { duplicatePolicies, maxExternalSourceLength } from '../../domain/orders/external-orders.ts'
import { maxNameLength } from '../../domain/files/names.ts'
import { groupings } from '../../domain/data-imports/mapping/index.ts'
import { currencies } from '../../domain/money.ts'
import { orderStatuses } from '../../domain/orders/orders.ts'
import {
  Count,
  EditionSummary,
  Id,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
  TimeZone,
} from '../../http/fields.ts'
import { ListPage, type ListFilters, IdFilter, listQuery, TextFilter } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'
import { ImportParams, keepers, tag } from './contract-parts.ts'

const ImportName = RequiredText(255).openapi({ example: 'Orders of 2025' })
const ExternalSource = RequiredText(maxExternalSourceLength)
const sources = ['csv', 'api'] as const

const optionFields = {
  delimiter: z.enum(importDelimiters).openapi({ description: 'Between the cells of a CSV file.' }),
  encoding: z.enum(importEncodings).openapi({ description: 'Of a CSV file.' }),
  quotes: z.enum(quoteOptions).openapi({ description: '`none`: a quotation mark is a character like others.' }),
  has_header: z.boolean().nullable().openapi({ description: 'Null: the file shows it.' }),
  decimal_separator: z.enum(decimalOptions).openapi({ description: 'Of all columns that say nothing else.' }),
  date_format: z.enum(dateOptions).openapi({ description: 'Of all columns that say nothing else.' }),
  timezone: TimeZone.nullable().openapi({ description: "Of local times; null: the edition's." }),
  group_by: z.enum(groupings).nullable().openapi({
    description:
      'What the rows of one order have in common. Null until the file is read, and where it does not show it: then it is `external_id` if a column is mapped to `order.external_id`, and else `row`.',
  }),
  on_duplicate: z.enum(duplicatePolicies).openapi({
    description: 'What becomes of an order that an import brought before: left alone, brought up to date, or an error.',
  }),
  default_currency: z.enum(currencies).nullable().openapi({ description: "Null: the edition's." }),
  default_status: z.enum(orderStatuses).openapi({ description: 'Of orders whose rows say none.' }),
  create_users: z.boolean().openapi({ description: 'False: orders of unknown customers are errors.' }),
  create_missing_products: z.boolean().openapi({
    description: 'False: products that the edition does not have wait to be mapped.',
  }),
  emit_webhooks: z.boolean(),
  send_receipts: z.boolean(),
  skipped: z.boolean().openapi({
    description: 'What a no to a consent means: with this, that the question was shown and skipped; without, nothing.',
  }),
}
const Options = z.object(optionFields).openapi('DataImportOptions')
const OptionChanges = z.object(optionFields).partial()

const ImportedFile = z.object({ id: Id('fil'), name: z.string().max(maxNameLength), size: Count })

export const DataImport = z
  .object({
    id: Id('imp'),
    name: ImportName,
    source: z.enum(sources).openapi({ description: '`api` for a call with external orders.' }),
    external_source: ExternalSource.nullable().openapi({
      description:
        'The other system: an order with the same id from the same system is the same order. Null until it is given or the file is read.',
    }),
    detected_source: z
      .object({ source: z.string(), label: z.string(), confidence: z.number().min(0).max(1) })
      .nullable()
      .openapi({ description: 'The system whose export the file is; null where its columns show none.' }),
    status: z.enum(dataImportStatuses),
    organization: OrganizationSummary,
    edition: EditionSummary,
    file: orNull(ImportedFile.openapi('ImportedFile')).openapi({
      description: 'Null while there is none, and for a file of the whole organisation to roles of an edition.',
    }),
    options: Options,
    total_rows: Count,
    valid_rows: Count,
    invalid_rows: Count,
    processed_rows: Count,
    total_orders: Count,
    created_orders: Count,
    updated_orders: Count,
    skipped_orders: Count,
    failed_orders: Count,
    undone_orders: Count,
    kept_orders: Count.openapi({ description: 'Orders that an undo kept because they were changed.' }),
    progress: z.number().min(0).max(1).openapi({ description: 'Of the work under way.', example: 1 }),
    column_summary: z
      .object({ total: Count, mapped: Count, ignored: Count, missing_required: z.array(z.string()) })
      .openapi('ImportColumnSummary'),
    product_summary: z
      .object({ total: Count, mapped: Count, ignored: Count, unmapped: Count })
      .openapi('ImportProductSummary'),
    error_code: z.string().nullable().openapi({ description: 'Null where there is no `error_message`.' }),
    error_message: z
      .string()
      .nullable()
      .openapi({ description: 'Why the import failed or came back to its mapping; null where it did not.' }),
    error_report_url: z.string().nullable().openapi({ description: 'Null while no row has an error.' }),
    allowed_actions: z.array(z.enum(importActionNames)),
    created_by: Id('usr').nullable().openapi({ description: 'Null for the superuser of the platform.' }),
    started_at: Timestamp.nullable().openapi({ description: 'Null until the orders are begun.' }),
    completed_at: Timestamp.nullable().openapi({ description: 'Null until every order is decided.' }),
    undo_until: Timestamp.nullable().openapi({ description: 'Null where there is nothing to undo.' }),
    files_deleted_at: Timestamp.nullable().openapi({
      description: `When the file was deleted: ${keptDays} days after the end of the import, or because a person in it was erased. Null while it exists.`,
    }),
    rows_deleted_at: Timestamp.nullable().openapi({
      description: `When the rows were deleted, ${keptDays} days after the end of the import. Null while they are there.`,
    }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('DataImport')

const listImportsQuery = listQuery({
  ordering: ['created', 'modified', 'name', 'status'],
  filters: {
    organization_id: IdFilter.optional(),
    edition_id: IdFilter.optional(),
    status: z.enum(dataImportStatuses).optional(),
    source: z.enum(sources).optional(),
    search: TextFilter.optional().openapi({ description: 'Part of the name.' }),
  },
})
export type ImportFilters = ListFilters<typeof listImportsQuery>
export type ImportOrdering = z.output<typeof listImportsQuery>['ordering']

const CreateDataImport = z.object({
  organization_id: Id('org'),
  edition_id: Id('edt'),
  file_id: Id('fil').nullable().optional().openapi({ description: 'A file with the purpose `import`.' }),
  name: ImportName.optional().openapi({ description: "Without it the file's name." }),
  external_source: ExternalSource.nullable().optional().openapi({
    description: 'The other system. Without it the columns of the file decide.',
  }),
  options: OptionChanges.default({}),
})
export type CreateDataImportInput = z.output<typeof CreateDataImport>

const UpdateDataImport = z.object({
  name: ImportName.optional(),
  file_id: Id('fil').optional().openapi({ description: 'Another file: the mapping begins anew.' }),
  external_source: ExternalSource.optional(),
  options: OptionChanges.optional().openapi({
    description: 'Those that are sent change. Delimiter, encoding, quotes and header have the file read again.',
  }),
})
export type UpdateDataImportInput = z.output<typeof UpdateDataImport>

export const listDataImports = operation({
  id: 'listDataImports',
  tag,
  method: 'get',
  path: '/v1/data-imports',
  summary: 'List data imports',
  description: 'Of files and of external orders, newest first.',
  roles: keepers,
  query: listImportsQuery,
  response: ListPage(DataImport),
})

export const createDataImport = operation({
  id: 'createDataImport',
  tag,
  method: 'post',
  path: '/v1/data-imports',
  summary: 'Create a data import',
  description: `Begins with an uploaded CSV or XLSX file, or with none yet. The file is read in the background: poll until
\`mapping_columns\`, look at the suggested column mappings, and process them. At most two imports of an organisation work
at the same time.`,
  roles: keepers,
  status: 201,
  body: CreateDataImport,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    file_id: 'fil_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Orders of 2025',
  },
  response: DataImport,
  errors: ['edition_archived', 'import_limit'],
})

export const getDataImport = operation({
  id: 'getDataImport',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}',
  summary: 'Retrieve a data import',
  roles: keepers,
  params: ImportParams,
  response: DataImport,
})

export const updateDataImport = operation({
  id: 'updateDataImport',
  tag,
  method: 'patch',
  path: '/v1/data-imports/{id}',
  summary: 'Update a data import',
  description: `Before the orders are begun, and while no work is under way. What changes how the file is read has it read
again, and the mapping of columns that stay the same is kept; what changes the meaning of cells leads back to the
column mappings.`,
  roles: keepers,
  params: ImportParams,
  body: UpdateDataImport,
  example: { name: 'Orders of 2025', options: { encoding: 'windows-1252' } },
  response: DataImport,
  errors: ['edition_archived', 'import_limit', 'invalid_transition', 'import_running'],
})

export const cancelDataImport = operation({
  id: 'cancelDataImport',
  tag,
  method: 'post',
  path: '/v1/data-imports/{id}/cancel',
  summary: 'Cancel a data import',
  description: 'Ends the work under way. Orders that it made already stay, and are counted.',
  roles: keepers,
  params: ImportParams,
  response: DataImport,
  errors: ['edition_archived', 'invalid_transition'],
})

export const processColumnMappings = operation({
  id: 'processColumnMappings',
  tag,
  method: 'post',
  path: '/v1/data-imports/{id}/column-mappings/process',
  summary: 'Process column mappings',
  description: `Reads every row of the file by its column mappings, in the background: poll until \`mapping_products\` or, where
every product is known, \`ready\`.`,
  roles: keepers,
  params: ImportParams,
  response: DataImport,
  errors: ['edition_archived', 'import_limit', 'invalid_transition', 'import_running', 'column_mapping_incomplete'],
})

const StartDataImport = z.object({
  skip_invalid_rows: z.boolean().default(false).openapi({
    description: 'Begins although rows have errors. Their orders are left out, whole, and every row says why.',
  }),
})
export type StartDataImportInput = z.output<typeof StartDataImport>

export const startDataImport = operation({
  id: 'startDataImport',
  tag,
  method: 'post',
  path: '/v1/data-imports/{id}/start',
  summary: 'Start import process',
  description:
    'Makes the orders in the background, each whole or not at all. One that failed in the middle goes on after its last orders.',
  roles: keepers,
  params: ImportParams,
  body: StartDataImport,
  example: { skip_invalid_rows: true },
  response: DataImport,
  errors: [
    'invalid_transition',
    'import_running',
    'import_has_invalid_rows',
    'product_mapping_incomplete',
    'edition_archived',
    'import_limit',
  ],
})

export const undoDataImport = operation({
  id: 'undoDataImport',
  tag,
  method: 'post',
  path: '/v1/data-imports/{id}/undo',
  summary: 'Undo a data import',
  description: `Takes back what the import of a file wrote, until \`undo_until\`, in the background: poll until \`undone\`. Orders that
it made and nobody touched since are deleted, with customers and products that nothing else needs; orders that it
brought up to date get back what they were. An order that was changed, used, refunded or put into a wallet since, or of
which an e-mail went out, stays: it counts in \`kept_orders\`, and the rows of the import say why. The same file may be
imported again. Imports of external orders cannot be undone.`,
  roles: keepers,
  params: ImportParams,
  response: DataImport,
  errors: ['edition_archived', 'import_limit', 'invalid_transition', 'import_running'],
})
