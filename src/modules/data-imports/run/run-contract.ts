import { z } from '@hono/zod-openapi'
import { keptDays, rowOutcomes } from '../../../domain/data-imports/data-imports.ts'
import { keptReasons } from '../../../domain/data-imports/import-undo.ts'
import { currencies } from '../../../domain/money.ts'
import { orderStatuses } from '../../../domain/orders/orders.ts'
import { Count, Id } from '../../../http/fields.ts'
import {
  type ListRequest,
  BooleanFilter,
  ListPage,
  type ListFilters,
  IdFilter,
  listQuery,
} from '../../../http/requests/list-query.ts'
import { operation } from '../../../http/operations/operation.ts'
import { ImportParams, keepers, tag } from '../contract-parts.ts'

const Line = z.int().min(0).openapi({ description: 'Line of the file, as a text editor counts.', example: 3 })
const Money = z.number().openapi({ example: 450 })

export const RowProblem = z
  .object({
    row: Line,
    column: z.string().nullable().openapi({ description: 'Header of the column; null for what no column says.' }),
    target_field: z.string().nullable().openapi({ description: 'Null for what concerns no target.' }),
    code: z.string().openapi({ example: 'invalid_number' }),
    message: z.string(),
    value: z
      .string()
      .nullable()
      .openapi({ description: 'As the file has it; null where no text of the file is at fault.' }),
  })
  .openapi('ImportRowProblem')

export const previewActions = ['create', 'update', 'skip', 'error', 'ignore'] as const

const PreviewItem = z
  .object({
    product: z.object({ name: z.string() }),
    variant: z.object({ name: z.string() }).nullable().openapi({ description: 'Null where the rows name none.' }),
    location: z.object({ name: z.string() }).nullable().openapi({ description: 'Null where the rows name none.' }),
    options: z.array(z.string()),
    quantity: z.int(),
    unit_price: Money,
    status: z.string().nullable().openapi({ description: 'Null where the row says none.' }),
    row: Line,
  })
  .openapi('ImportPreviewItem')

const PreviewCustomer = z
  .object({
    id: Id('usr').nullable().openapi({ description: 'Null for somebody new.' }),
    is_new: z.boolean(),
    email: z.string().nullable().openapi({ description: 'Null where the rows say none.' }),
    phone_number: z.string().nullable().openapi({ description: 'Null where the rows say none.' }),
    full_name: z.string(),
  })
  .openapi('ImportPreviewCustomer')

const Scalar = z.union([z.string(), z.number(), z.null()])
const Change = z.object({
  field: z.string(),
  before: Scalar.openapi({ description: 'Null where there is none.' }),
  after: Scalar.openapi({ description: 'Null where there will be none.' }),
})

export const PreviewOrder = z
  .object({
    id: z.string().openapi({ description: 'Number of the first row, within its import.', example: '1' }),
    row_numbers: z.array(Line),
    external_id: z.string().nullable().openapi({ description: 'Null where the rows make no order.' }),
    order_number: z.string().nullable().openapi({ description: 'Null where the rows say none, or make no order.' }),
    action: z.enum(previewActions).openapi({ description: '`ignore` where all products of the order are ignored.' }),
    order_id: Id('ord').nullable().openapi({ description: 'The order that exists; null for a new one.' }),
    status: z.enum(orderStatuses).nullable().openapi({ description: 'Null where the rows make no order.' }),
    amount: Money.nullable().openapi({ description: 'Null where nothing would be written.' }),
    currency: z.enum(currencies).nullable().openapi({ description: 'Null where the rows make no order.' }),
    customer: z
      .union([PreviewCustomer, z.null()])
      .openapi({ description: 'Null where the rows make no order that can be taken.' }),
    items: z.array(PreviewItem),
    changes: z.array(Change).openapi({
      description: 'Of an update, field by field.',
    }),
    errors: z.array(RowProblem),
    warnings: z.array(RowProblem),
  })
  .openapi('ImportPreviewOrder')

/** Up to so many orders are decided at once; more are counted in the background. */
export const maxPreviewed = 1000

const Totals = z
  .object({ create: Count, update: Count, skip: Count, error: Count, ignore: Count })
  .openapi('ImportPreviewTotals')

const previewQuery = listQuery({ ordering: ['row'], filters: { action: z.enum(previewActions).optional() } })
export type PreviewQuery = ListRequest<typeof previewQuery>

export const previewImportOrders = operation({
  id: 'previewImportOrders',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/preview',
  summary: 'Preview import orders',
  description: `What would become of every order of the file, if the import began now. Nothing of the edition is written. \`totals\` count all orders. With more than ${maxPreviewed} orders they are counted in the background once somebody asks, and anew after ten minutes: until then \`totals_state\` is \`counting\`, \`totals\` null, and the list with \`action\` has those of the first ${maxPreviewed} orders. Ask again for the rest.`,
  roles: keepers,
  params: ImportParams,
  query: previewQuery,
  response: ListPage(PreviewOrder)
    .extend({
      totals: z.union([Totals, z.null()]).openapi({ description: 'Null unless all orders are counted.' }),
      totals_state: z.enum(['exact', 'counting', 'none']).openapi({
        description: '`none` for an import of many orders that was begun: its counters say what became of them.',
      }),
      previewed_orders: Count.openapi({ description: 'Orders that `totals` count.' }),
      total_orders: Count,
    })
    .openapi('ImportPreview'),
  errors: ['invalid_transition', 'import_running'],
})

export const ImportedRow = z
  .object({
    id: z.string().openapi({ description: 'The number of the row, within its import.', example: '1' }),
    row_number: z.int().min(1).openapi({ description: 'Among the rows below the header.' }),
    row: Line,
    outcome: z.enum(rowOutcomes).nullable().openapi({ description: 'Null until it is decided.' }),
    order_id: Id('ord')
      .nullable()
      .openapi({ description: 'Null until there is one, and for a row that leads to none.' }),
    undo_outcome: z.enum(['undone', 'kept']).nullable().openapi({
      description: 'What an undo did to the order of the row. Null where none has decided on it.',
    }),
    undo_reason: z.enum(keptReasons).nullable().openapi({
      description: 'Why an undo kept the order of the row; null for one that it did not keep.',
    }),
    values: z.record(z.string(), z.unknown()).openapi({ description: 'By target; amounts in minor units.' }),
    errors: z.array(RowProblem),
    warnings: z.array(RowProblem),
  })
  .openapi('ImportedRow')

const rowsQuery = listQuery({
  ordering: ['row_number'],
  filters: {
    outcome: z.enum(rowOutcomes).optional(),
    has_errors: BooleanFilter.optional(),
    order_id: IdFilter.optional().openapi({ description: 'Rows of the order that this import made or changed.' }),
  },
})
export type RowFilters = ListFilters<typeof rowsQuery>
export type RowOrdering = z.output<typeof rowsQuery>['ordering']

export const listImportRows = operation({
  id: 'listImportRows',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/rows',
  summary: 'List the rows of an import',
  description: `Every row of the file with what became of it, and why: at the import, and at its undo. The rows are deleted ${keptDays} days after the import has ended.`,
  roles: keepers,
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
    'The rows of the file that are not imported, as they stand there, with `_line` and `_errors` before them, in the delimiter and the encoding of the file. Mended, it can be imported as it is. The file is deleted 30 days after the import has ended, and at once where somebody in it is erased.',
  roles: keepers,
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
        'JSON: `status`, `phase` (null once no work is under way), `progress` from 0 to 1, and the counters of the import.',
      // Clients of event streams read the form of the text from this.
      ...({ contentMediaType: 'application/json', contentSchema: { type: 'object' } } as object),
    }),
    retry: z.int().optional().openapi({ description: 'Milliseconds before a client connects again.' }),
  })
  .openapi('ImportEvent', { description: 'One event of the stream.' })

export const streamImportEvents = operation({
  id: 'streamImportEvents',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/events',
  summary: 'Follow the progress of an import',
  description:
    'Server-sent events: `progress` with each change, at most one a second, and `end` where no work is under way any more. It closes after a minute; a client that connects again goes on with the present state.',
  roles: keepers,
  params: ImportParams,
  file: {
    type: 'text/event-stream',
    description: 'The first event says what is so now. The schema is that of one event.',
    schema: ImportEvent,
    example: '{"event":"progress","data":"{\\"status\\":\\"importing\\",\\"progress\\":0.25}"}',
  },
})
