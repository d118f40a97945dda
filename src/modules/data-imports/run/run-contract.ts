import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import { importRetentionDays, previewActions, rowOutcomes } from '../../../domain/data-imports/data-imports.ts'
import { undoReasons } from '../../../domain/data-imports/import-undo.ts'
import { currencies } from '../../../domain/money.ts'
import { orderStatuses } from '../../../domain/orders/orders.ts'
import { Count, Id } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { type ListRequest, BooleanFilter, ListPage, IdFilter, listQuery } from '../../../http/requests/list-query.ts'
import { ImportParams, tag } from '../import-contract.ts'

const Line = z.int().min(0).openapi({
  description: 'Line of the file, as in a text editor. Lines of an archive count through all of its files.',
  example: 3,
})
const Money = z.number().openapi({ example: 450 })

export const RowProblem = z
  .object({
    row: Line,
    column: z
      .string()
      .nullable()
      .openapi({ description: 'Header of the column. Null if the problem concerns no column.' }),
    target_field: z.string().nullable().openapi({ description: 'Null if the problem concerns no target.' }),
    code: z.string().openapi({ example: 'invalid_number' }),
    message: z.string(),
    value: z
      .string()
      .nullable()
      .openapi({ description: 'The text in the file. Null if the problem is not in a text.' }),
  })
  .openapi('ImportRowProblem')

const PreviewItem = z
  .object({
    product: z.object({ name: z.string() }),
    variant: z.object({ name: z.string() }).nullable().openapi({ description: 'Null if the rows have none.' }),
    location: z.object({ name: z.string() }).nullable().openapi({ description: 'Null if the rows have none.' }),
    options: z.array(z.string()),
    quantity: z.int(),
    unit_price: Money,
    status: z.string().nullable().openapi({ description: 'Null if the row has none.' }),
    row: Line,
  })
  .openapi('ImportPreviewItem')

const PreviewCustomer = z
  .object({
    id: Id('usr').nullable().openapi({ description: 'Null for a new customer.' }),
    is_new: z.boolean(),
    email: z.string().nullable().openapi({ description: 'Null if the rows have none.' }),
    phone_number: z.string().nullable().openapi({ description: 'Null if the rows have none.' }),
    full_name: z.string(),
  })
  .openapi('ImportPreviewCustomer')

const Scalar = z.union([z.string(), z.number(), z.null()])
const Change = z.object({
  field: z.string(),
  before: Scalar.openapi({ description: 'Null if there is none.' }),
  after: Scalar.openapi({ description: 'Null if there will be none.' }),
})

export const PreviewOrder = z
  .object({
    id: z.string().openapi({ description: 'Number of the first row.', example: '1' }),
    row_numbers: z.array(Line),
    external_id: z.string().nullable().openapi({ description: 'Null if the rows are not a valid order.' }),
    order_number: z
      .string()
      .nullable()
      .openapi({ description: 'Null if the rows have none or are not a valid order.' }),
    action: z.enum(previewActions).openapi({ description: '`ignore`: all products of the order are ignored.' }),
    order_id: Id('ord').nullable().openapi({ description: 'The existing order. Null for a new one.' }),
    status: z.enum(orderStatuses).nullable().openapi({ description: 'Null if the rows are not a valid order.' }),
    amount: Money.nullable().openapi({ description: 'Null if nothing would be written.' }),
    currency: z.enum(currencies).nullable().openapi({ description: 'Null if the rows are not a valid order.' }),
    customer: z.union([PreviewCustomer, z.null()]).openapi({ description: 'Null if the order cannot be imported.' }),
    items: z.array(PreviewItem),
    changes: z.array(Change).openapi({
      description: 'The changed fields of an update.',
    }),
    errors: z.array(RowProblem),
    warnings: z.array(RowProblem),
  })
  .openapi('ImportPreviewOrder')

/** Up to this many orders are decided at once. More are counted in the background. */
export const maxPreviewed = 1000
/** Orders that a page of an action looks at in a larger import. */
export const maxOrdersPerPage = 1000

const Totals = z
  .object({ create: Count, update: Count, skip: Count, error: Count, ignore: Count })
  .openapi('ImportPreviewTotals')

const PreviewWarning = z
  .object({
    code: z.enum(['rows_look_imported']).openapi({
      description: '`rows_look_imported`: most rows have no order id and look like orders that exist.',
    }),
    message: z.string(),
  })
  .openapi('ImportPreviewWarning')

const previewQuery = listQuery({ ordering: ['row'], filters: { action: z.enum(previewActions).optional() } })
export type PreviewQuery = ListRequest<typeof previewQuery>

export const previewImportOrders = operation({
  id: 'previewImportOrders',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/preview',
  summary: 'Preview import orders',
  description: `Shows what the import would do with every order of the file if it started now. It writes nothing.

An import with more than ${maxPreviewed} orders is counted in the background from the first request on, and again after ten
minutes. While \`totals_state\` is \`counting\`, \`totals\` is null and the list with \`action\` covers the first ${maxPreviewed}
orders: ask again a little later. Afterwards a page with \`action\` looks at ${maxOrdersPerPage} orders of the file, so it may have few
results or none: follow \`next\` until it is null.`,
  roles: managers,
  params: ImportParams,
  query: previewQuery,
  response: ListPage(PreviewOrder)
    .extend({
      totals: z.union([Totals, z.null()]).openapi({ description: 'Null until all orders are counted.' }),
      totals_state: z.enum(['exact', 'counting', 'none']).openapi({
        description: '`none` for a large import that has started: its counters show the results.',
      }),
      previewed_orders: Count.openapi({ description: 'Orders that `totals` count.' }),
      warnings: z.array(PreviewWarning).openapi({
        description: 'What looks wrong with the import as a whole. Empty until all orders are counted.',
      }),
      total_orders: Count,
    })
    .openapi('ImportPreview'),
  errors: ['invalid_transition', 'import_running'],
})

export const ImportedRow = z
  .object({
    id: z.string().openapi({ description: 'The number of the row.', example: '1' }),
    row_number: z.int().min(1).openapi({ description: 'Number of the row below the header.' }),
    row: Line,
    place: z.string().nullable().openapi({
      description: 'The file and the line in it, in an import of an archive: `cleaned.csv:3`. Otherwise null.',
    }),
    outcome: z.enum(rowOutcomes).nullable().openapi({ description: 'Null until the row is processed.' }),
    order_id: Id('ord').nullable().openapi({ description: 'Null if the row has no order.' }),
    user_id: Id('usr').nullable().openapi({ description: 'The customer, in an import of customers. Otherwise null.' }),
    undo_outcome: z.enum(['undone', 'kept']).nullable().openapi({
      description: 'Whether an undo removed or kept the order of the row. Null without an undo.',
    }),
    undo_reason: z
      .enum(undoReasons)
      .nullable()
      .openapi({
        description:
          'Why an undo kept the order of the row. `shared_customer`: the order is undone, and its customer keeps what ' +
          'only a role of the organisation may change. Null if the undo kept nothing.',
      }),
    values: z
      .record(z.string(), z.unknown())
      .openapi({ description: 'Values by target. Amounts are in major units, and times are ISO 8601.' }),
    errors: z.array(RowProblem),
    warnings: z.array(RowProblem),
  })
  .openapi('ImportedRow')

const rowsQuery = listQuery({
  ordering: ['row_number'],
  filters: {
    outcome: z.enum(rowOutcomes).optional(),
    has_errors: BooleanFilter.optional(),
    order_id: IdFilter.optional().openapi({ description: 'Rows of an order that this import created or updated.' }),
  },
})
export type RowQuery = ListRequest<typeof rowsQuery>

export const listImportRows = operation({
  id: 'listImportRows',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/rows',
  summary: 'List the rows of an import',
  description:
    'Lists the rows of the file with their outcome and its reason, and with that of an undo. For an import by a call ' +
    'these are the orders that it created or updated, numbered by their place in the call. Rows are deleted ' +
    `${importRetentionDays} days after the import ends.`,
  roles: managers,
  params: ImportParams,
  query: rowsQuery,
  response: ListPage(ImportedRow),
  errors: ['import_data_deleted'],
})

export const downloadErrorReport = operation({
  id: 'downloadErrorReport',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/error-report',
  summary: 'Download the rows with errors',
  description:
    'Downloads the rows with errors in the form, delimiter and encoding of the file, with the columns `_line` and ' +
    '`_errors` added, and `_file` for an archive of several files. Correct the rows and import the report as it is. It is available until the file is deleted: ' +
    '30 days after the import ends, or when a person in it is erased.',
  roles: managers,
  params: ImportParams,
  file: {
    type: 'text/csv',
    description: 'In the encoding of the file.',
    example: '_line;_errors;Order;Price\r\n3;This is not a number.;A-1002;abc\r\n',
  },
  errors: ['import_data_deleted', 'invalid_transition'],
})

const ImportEvent = z
  .object({
    event: z.enum(['progress', 'end']),
    data: z.string().openapi({
      description:
        'JSON with `status`, `phase` (null if no work is running), `progress` from 0 to 1, and the counters of the ' +
        'import.',
      // Clients of event streams read the form of the text from this.
      ...({ contentMediaType: 'application/json', contentSchema: { type: 'object' } } as object),
    }),
    retry: z.int().optional().openapi({ description: 'Milliseconds until the client connects again.' }),
  })
  .openapi('ImportEvent', { description: 'One event of the stream.' })

export const streamImportEvents = operation({
  id: 'streamImportEvents',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/events',
  summary: 'Follow the progress of an import',
  description:
    'Sends server-sent events: `progress` for each change, at most one per second, and `end` when no work is ' +
    'running. The stream closes after a minute. Connect again to continue with the current state.',
  roles: managers,
  params: ImportParams,
  file: {
    type: 'text/event-stream',
    description: 'The first event has the current state. The schema describes one event.',
    schema: ImportEvent,
    example: '{"event":"progress","data":"{\\"status\\":\\"importing\\",\\"progress\\":0.25}"}',
  },
})
