import { encodings, otherQuotationMarks } from '@ecms/table-reader'
import { z } from '@hono/zod-openapi'
import { managers } from '../../domain/accounts/access.ts'
import {
  dataImportStatuses,
  dateOptions,
  decimalOptions,
  importActionNames,
  importDelimiters,
  importEncodings,
  importRetentionDays,
  quoteOptions,
  rememberedOptions,
  sourceOrigins,
} from '../../domain/data-imports/data-imports.ts'
import { importKinds } from '../../domain/data-imports/import-kinds.ts'
import { groupings } from '../../domain/data-imports/mapping/index.ts'
import { maxNameLength } from '../../domain/files/names.ts'
import { currencies } from '../../domain/money.ts'
import { duplicatePolicies, maxExternalSourceLength } from '../../domain/orders/external-orders.ts'
import { orderStatuses } from '../../domain/orders/orders.ts'
import {
  Count,
  EditionSummary,
  AnyCase,
  Id,
  OrganizationSummary,
  orNull,
  Code,
  RequiredText,
  Timestamp,
  TimeZone,
  IdParams,
} from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { ListPage, type ListRequest, IdFilter, listQuery, TextFilter } from '../../http/requests/list-query.ts'

export const tag = 'Data Imports' as const
export const ImportParams = IdParams('imp')

const ImportName = RequiredText(255).openapi({ example: 'Orders of 2025' })
const ExternalSource = Code(maxExternalSourceLength).min(1)
const sources = ['csv', 'xlsx', 'api'] as const

/** A component of its own, because the document would repeat the long list in each place. */
const ImportEncoding = z.enum(importEncodings).openapi('ImportEncoding', { description: 'Encoding of a CSV file.' })

const optionFields = {
  delimiter: z.enum(importDelimiters).openapi({ description: 'Delimiter of a CSV file.' }),
  encoding: ImportEncoding,
  quotes: z.enum(quoteOptions).openapi({ description: '`none`: quotation marks have no meaning.' }),
  has_header: z.boolean().nullable().openapi({ description: 'Null: detected from the file.' }),
  sheet: RequiredText(100).nullable().openapi({
    description: 'Name of the sheet of a workbook. Null: the first visible one.',
  }),
  decimal_separator: z.enum(decimalOptions).openapi({ description: 'For columns without a setting of their own.' }),
  date_format: z.enum(dateOptions).openapi({ description: 'For columns without a setting of their own.' }),
  timezone: TimeZone.nullable().openapi({ description: 'Time zone of local times. Null: that of the edition.' }),
  group_by: z
    .enum(groupings)
    .nullable()
    .openapi({
      description:
        'What the rows of one order share. Null until the file is read, or if it is not clear: then `external_id` ' +
        'applies if a column is mapped to `order.external_id`, otherwise `row`.',
    }),
  on_duplicate: z.enum(duplicatePolicies).openapi({
    description: 'How to treat an order that already exists: skip it, update it, or report an error.',
  }),
  default_currency: z.enum(currencies).nullable().openapi({ description: 'Null: that of the edition.' }),
  default_status: z.enum(orderStatuses).openapi({ description: 'Status of orders without one in the file.' }),
  create_users: z.boolean().openapi({ description: 'False: orders of unknown customers are errors.' }),
  create_missing_products: z.boolean().openapi({
    description: 'False: you have to map products that the edition does not have.',
  }),
  emit_webhooks: z
    .boolean()
    .openapi({ deprecated: true, description: 'Deprecated: use `emit_webhooks` of the import.' }),
  send_receipts: z.boolean(),
  skipped: z.boolean().openapi({
    description: 'True: a consent with the value no was shown and skipped. False: it was not asked.',
  }),
}
const Options = z.object(optionFields).openapi('DataImportOptions')
const OptionChanges = z
  .object({
    ...optionFields,
    default_currency: AnyCase(currencies)
      .nullable()
      .openapi({ enum: [...currencies, null] }),
  })
  .partial()
  .openapi('DataImportOptionChanges')

const EmitWebhooks = z.boolean().openapi({
  description:
    'Sends `order.*` for every order that is created or changed, `purchase.action` for every purchase that becomes active or cancelled, `user.updated` for customers whose fields change, and the events of consents. By default nothing of this is sent.',
})

/** An older client may send the option, and a client that sends back an answer sends both. */
const isEitherField = (body: {
  emit_webhooks?: boolean | undefined
  options?: { emit_webhooks?: boolean | undefined } | undefined
}): boolean =>
  body.emit_webhooks === undefined ||
  body.options?.emit_webhooks === undefined ||
  body.emit_webhooks === body.options.emit_webhooks

const differingFields = {
  path: ['options', 'emit_webhooks'],
  params: { code: 'not_both' },
  message: 'This differs from emit_webhooks. Send only emit_webhooks.',
}

const FormatWarning = z
  .object({
    code: z.enum(['hidden_rows', 'merged_cells', 'other_sheets', 'ignored_files', 'doubtful_encoding']),
    message: z.string().openapi({ example: '3 rows are hidden in the sheet.' }),
  })
  .openapi('ImportedFileWarning')
export type FormatWarning = z.output<typeof FormatWarning>

const ArchivedFile = z
  .object({
    name: z.string(),
    first_line: z.int().min(1).openapi({ description: 'Lines are counted through all files. This is its line 1.' }),
  })
  .openapi('ArchivedFile')

const FileFormat = z
  .object({
    type: z.enum(['csv', 'xlsx', 'zip']).openapi({ description: '`zip` for an archive of CSV files.' }),
    encoding: z.enum(encodings).nullable().openapi({ description: 'Null unless it is one CSV file.' }),
    delimiter: z
      .enum(importDelimiters)
      .exclude(['auto'])
      .nullable()
      .openapi({ description: 'Null unless it is one CSV file.' }),
    quotes: z
      .enum([...quoteOptions, ...otherQuotationMarks])
      .exclude(['auto'])
      .nullable()
      .openapi({
        description: "Null unless it is one CSV file. `single`: `'Ann'`. `typographic`: `“Ann”`.",
      }),
    sheet: z.string().nullable().openapi({ description: 'The sheet of a workbook. Otherwise null.' }),
    sheets: z.array(z.string()).openapi({ description: 'Visible sheets of a workbook, up to 50. Empty for CSV.' }),
    files: z.array(ArchivedFile).openapi({ description: 'Files of an archive. Empty for others.' }),
    header_line: z.int().min(1).nullable().openapi({ description: 'Line of the column names. Null without a header.' }),
    warnings: z.array(FormatWarning).openapi({
      description:
        'What to check: hidden rows, merged cells and other sheets of a workbook, files of an archive that are not ' +
        'read, and a doubtful guess of the encoding of a CSV file, with three texts as they were read.',
    }),
  })
  .openapi('ImportedFileFormat')

const ImportedFile = z.object({ id: Id('fil'), name: z.string().max(maxNameLength), size: Count })

export const DataImport = z
  .object({
    id: Id('imp'),
    name: ImportName,
    source: z
      .enum(sources)
      .openapi({ description: '`xlsx` for a workbook, `csv` for other files, `api` for external orders.' }),
    kind: z.enum(importKinds).openapi({
      description: 'What the rows are. The numbers of orders are numbers of customers in an import of customers.',
    }),
    external_source: ExternalSource.nullable().openapi({
      description:
        'The other system. Orders with the same id in the same system are the same order. Null until you set it or ' +
        'the file is read.',
    }),
    source_suggested_by: z
      .enum(sourceOrigins)
      .nullable()
      .openapi({
        description:
          'Where `external_source` comes from. `memory`: an earlier import of a file with about the same headers. ' +
          '`preset`: the detected system. `headers`: a name that is made from the headers. Null if you set it.',
      }),
    detected_source: z
      .object({ source: z.string(), label: z.string(), confidence: z.number().min(0).max(1) })
      .nullable()
      .openapi({ description: 'The system that exported the file. Null if its columns do not show it.' }),
    status: z.enum(dataImportStatuses),
    organization: OrganizationSummary,
    edition: EditionSummary,
    file: orNull(ImportedFile.openapi('ImportedFile')).openapi({
      description: 'Null without a file. Roles of an edition also get null for a file of the whole organisation.',
    }),
    file_format: orNull(FileFormat).openapi({
      description: 'How the file was read. Change it with `options`. Null until the file is read.',
    }),
    emit_webhooks: z.boolean(),
    options: Options,
    remembered_options: z.array(z.enum(rememberedOptions)).openapi({
      description: 'Options that were taken from the last import of the same `external_source`.',
    }),
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
    kept_orders: Count.openapi({ description: 'Orders that the undo kept because they have changed.' }),
    shared_customer_orders: Count.openapi({
      description:
        'Undone orders whose customers keep the name, number or consent that the import gave them, because they also ' +
        'belong to other editions. Only a role of the organisation undoes that.',
    }),
    progress: z.number().min(0).max(1).openapi({ description: 'Progress of the current work.', example: 1 }),
    column_summary: z
      .object({ total: Count, mapped: Count, ignored: Count, missing_required: z.array(z.string()) })
      .openapi('ImportColumnSummary'),
    product_summary: z
      .object({ total: Count, mapped: Count, ignored: Count, unmapped: Count })
      .openapi('ImportProductSummary'),
    error_code: z.string().nullable().openapi({ description: 'Null without an `error_message`.' }),
    error_message: z
      .string()
      .nullable()
      .openapi({ description: 'Why the import failed or returned to its mapping. Null if it did not.' }),
    error_report_url: z.string().nullable().openapi({ description: 'Null if no row has an error.' }),
    allowed_actions: z.array(z.enum(importActionNames)),
    created_by: Id('usr').nullable().openapi({ description: 'Null for the superuser.' }),
    started_at: Timestamp.nullable().openapi({ description: 'Null until the import starts.' }),
    completed_at: Timestamp.nullable().openapi({ description: 'Null until the import ends.' }),
    undo_until: Timestamp.nullable().openapi({
      description: 'The end of the time for an undo. Null if there is nothing to undo.',
    }),
    files_deleted_at: Timestamp.nullable().openapi({
      description:
        `When the file was deleted: ${importRetentionDays} days after the end of the import, or because a person in ` +
        'it was erased. Null until then.',
    }),
    rows_deleted_at: Timestamp.nullable().openapi({
      description: `When the rows were deleted, ${importRetentionDays} days after the end of the import. Null until then.`,
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
export type ImportQuery = ListRequest<typeof listImportsQuery>

const CreateDataImport = z
  .object({
    organization_id: Id('org'),
    edition_id: Id('edt'),
    kind: z.enum(importKinds).default('orders').openapi({
      description: '`customers`: the rows are people, for example the export of a mailing list.',
    }),
    file_id: Id('fil').nullable().optional().openapi({ description: 'A file with the purpose `import`.' }),
    name: ImportName.optional().openapi({ description: 'Defaults to the name of the file.' }),
    external_source: ExternalSource.nullable()
      .optional()
      .openapi({
        description:
          'The other system. Name it if you import files of several systems or shops. If you omit it, it is taken from ' +
          'an earlier import with the same headers, or detected or made from the headers.',
      }),
    emit_webhooks: EmitWebhooks.optional(),
    options: OptionChanges.default({}).openapi({ default: {} }),
  })
  .refine(isEitherField, differingFields)
export type CreateDataImportInput = z.output<typeof CreateDataImport>

const UpdateDataImport = z
  .object({
    name: ImportName.optional(),
    file_id: Id('fil').optional().openapi({ description: 'Another file. The mapping starts again.' }),
    external_source: ExternalSource.optional(),
    emit_webhooks: EmitWebhooks.optional(),
    options: OptionChanges.optional().openapi({
      description: 'Options to change. A new delimiter, encoding, quotes or header makes the file be read again.',
    }),
  })
  .refine(isEitherField, differingFields)
export type UpdateDataImportInput = z.output<typeof UpdateDataImport>

export const listDataImports = operation({
  id: 'listDataImports',
  tag,
  method: 'get',
  path: '/v1/data-imports',
  summary: 'List data imports',
  description: 'Lists imports of files and of external orders, newest first.',
  roles: managers,
  query: listImportsQuery,
  response: ListPage(DataImport),
})

export const createDataImport = operation({
  id: 'createDataImport',
  tag,
  method: 'post',
  path: '/v1/data-imports',
  summary: 'Import a CSV or XLSX file',
  description: `Imports an uploaded CSV or XLSX file, or a ZIP archive of CSV files. You can also add the file later. The file is read in the background: poll until
the status is \`mapping_columns\`, check the suggested column mappings, and process them. Two imports of an organisation
can work at the same time.`,
  roles: managers,
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
  roles: managers,
  params: ImportParams,
  response: DataImport,
})

export const updateDataImport = operation({
  id: 'updateDataImport',
  tag,
  method: 'patch',
  path: '/v1/data-imports/{id}',
  summary: 'Update a data import',
  description: `Changes an import before its start, while no work is running. Options for reading make the file be read again and keep
the mappings of unchanged columns. Options for the meaning of cells return the import to its column mappings.`,
  roles: managers,
  params: ImportParams,
  body: UpdateDataImport,
  example: { name: 'Orders of 2025', options: { encoding: 'windows-1252' } },
  response: DataImport,
  errors: ['edition_archived', 'import_limit', 'invalid_transition', 'import_running'],
})

export const cancelDataImport = operation({
  id: 'cancelDataImport',
  tag,
  ...action('/v1/data-imports', 'imp', 'cancel'),
  summary: 'Cancel a data import',
  description: 'Stops the current work. Orders that already exist stay.',
  agentAccess: 'confirm',
  roles: managers,
  response: DataImport,
  errors: ['edition_archived', 'invalid_transition'],
})

export const processColumnMappings = operation({
  id: 'processColumnMappings',
  tag,
  ...action('/v1/data-imports', 'imp', 'column-mappings/process'),
  summary: 'Process column mappings',
  description: `Reads every row of the file in the background, as the columns are mapped. Poll until the status is
\`mapping_products\`, or \`ready\` if every product is mapped.`,
  roles: managers,
  response: DataImport,
  errors: ['edition_archived', 'import_limit', 'invalid_transition', 'import_running', 'column_mapping_incomplete'],
})

const StartDataImport = z.object({
  skip_invalid_rows: z.boolean().default(false).openapi({
    description: 'Starts although rows have errors. Their orders are not imported, and every row shows the reason.',
  }),
})
export type StartDataImportInput = z.output<typeof StartDataImport>

export const startDataImport = operation({
  id: 'startDataImport',
  tag,
  ...action('/v1/data-imports', 'imp', 'start'),
  summary: 'Start import process',
  description:
    'Creates the orders in the background, each completely or not at all. An import that failed midway continues ' +
    'behind its last orders.',
  agentAccess: 'confirm',
  roles: managers,
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
  ...action('/v1/data-imports', 'imp', 'undo'),
  summary: 'Undo a data import',
  description: `Undoes an import of a file or of external orders in the background, until \`undo_until\`. Poll until the status is
\`undone\`. Orders that the import created are deleted, with customers and products that nothing else uses. Orders that it updated get their former
values. An order stays if it was changed, used, refunded or added to a wallet since, or if an e-mail about it was sent:
it counts in \`kept_orders\`, and its rows show the reason. A role of an edition does not change what belongs to the
organisation of customers whom other editions know: see \`shared_customer_orders\`. You can import the same file again, or
send the same orders again.`,
  agentAccess: 'confirm',
  roles: managers,
  response: DataImport,
  errors: ['edition_archived', 'import_limit', 'invalid_transition', 'import_running'],
})
