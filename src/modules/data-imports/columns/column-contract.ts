import { z } from '@hono/zod-openapi'
import { transformTypes } from '../../../domain/data-imports/mapping/index.ts'
import { dateOrders } from '../../../domain/data-imports/mapping/columns/date-shape.ts'
import { targetGroups, targetTypes } from '../../../domain/data-imports/mapping/targets/fields.ts'
import { maxColumns } from '../../../domain/data-imports/files/faults.ts'
import { Count, Id, RequiredText, TimeZone } from '../../../http/fields.ts'
import { type ListRequest, ListPage, IdFilter, listQuery } from '../../../http/requests/list-query.ts'
import { operation } from '../../../http/operations/operation.ts'
import { ImportParams, keepers, tag } from '../contract-parts.ts'

const maxTargetLength = 100
const maxValueLength = 200
const maxMappedValues = 200

const TargetKey = z.string().min(1).max(maxTargetLength).openapi({ example: 'customer.email' })
const Confidence = z.number().min(0).max(1)

const TransformArgs = z
  .object({
    order: z
      .enum([...dateOrders, 'each'])
      .optional()
      .openapi({ description: 'Of `date`: how the dates are written; `each` says it by itself.' }),
    time_zone: TimeZone.optional().openapi({ description: 'Of `date`: whose local times they are.' }),
    decimal: z
      .enum(['.', ',', 'each'])
      .optional()
      .openapi({ description: 'Of `number`: what stands before the decimals; `each` says it by itself.' }),
    country_code: z
      .string()
      .regex(/^\+[1-9]\d{0,3}$/, 'As in +45.')
      .optional()
      .openapi({ description: 'Of `phone`: of numbers without one.', example: '+45' }),
    part: z.enum(['first', 'last']).optional().openapi({ description: 'Of `split_name`.' }),
  })
  .openapi('ImportTransformArgs')

const Transform = z
  .object({ type: z.enum(transformTypes), args: TransformArgs.default({}) })
  .superRefine(({ type, args }, context) => {
    for (const name of Object.keys(args) as (keyof typeof args)[])
      if (argsOf[type]?.includes(name) !== true)
        context.addIssue({
          code: 'custom',
          path: ['args', name],
          params: { code: 'invalid_choice' },
          message: `The transform ${type} has no such argument.`,
        })
  })
  .openapi('ImportTransform')

const argsOf: Partial<Record<(typeof transformTypes)[number], readonly string[]>> = {
  date: ['order', 'time_zone'],
  number: ['decimal'],
  phone: ['country_code'],
  split_name: ['part'],
}

const MappedValue = z.union([
  z.object({ to: z.string().max(maxValueLength) }),
  z.object({ ignore_row: z.literal(true) }),
])
const ValueMap = z
  .record(z.string().max(maxValueLength), MappedValue)
  .refine((map) => Object.keys(map).length <= maxMappedValues, {
    params: { code: 'max_length' },
    message: `At most ${maxMappedValues} values.`,
  })
  .openapi({
    description: 'What a cell means: another text, or that its row is left out. Case and accents do not count.',
    example: { storniert: { to: 'cancelled' }, test: { ignore_row: true } },
  })

const ColumnError = z
  .object({ code: z.string(), target_field: z.string(), message: z.string() })
  .openapi('ColumnMappingError')

export const ColumnMapping = z
  .object({
    id: Id('imc'),
    source_column: z.string().openapi({ description: 'The header; two columns may have the same.' }),
    source_index: z.int().min(0).openapi({ description: 'Place in the file, from 0.' }),
    sample_values: z.array(z.string()).max(5),
    target_field: TargetKey.nullable().openapi({ description: 'Null: mapped to nothing.' }),
    target_position: z
      .int()
      .min(0)
      .openapi({ description: 'Among the columns of its target: a date before its time.' }),
    confidence: Confidence,
    is_suggested: z.boolean(),
    is_required: z.boolean().openapi({ description: 'The target is one that an order needs.' }),
    is_ignored: z.boolean(),
    default_value: z.string().nullable().openapi({ description: 'For blank cells; null where they stay blank.' }),
    transform: Transform,
    value_map: ValueMap.nullable().openapi({
      description:
        'What a cell means: another text, or that its row is left out. Case and accents do not count. Null where every cell means what it says.',
    }),
    filled_cells: Count,
    blank_cells: Count,
    errors: z.array(ColumnError),
  })
  .openapi('ColumnMapping')

export const TargetFieldShape = z
  .object({
    key: TargetKey,
    label: z.string(),
    type: z.enum(targetTypes),
    is_required: z.boolean(),
    one_of: z.enum(['contact', 'price']).nullable().openapi({
      description: 'One target of the same name is required. Null for a target that is required, or not, by itself.',
    }),
    group: z.enum(targetGroups),
    aliases: z.array(z.string()),
  })
  .openapi('ImportTargetField')

const Constant = z.object({ target_field: TargetKey, value: z.string().max(maxValueLength) }).openapi('ImportConstant')

const SampleRow = z
  .object({ line: z.int().openapi({ description: 'As a text editor counts.' }), cells: z.array(z.string()) })
  .openapi('ImportSampleRow')

/** The other fields of an answer with columns. */
const beside = {
  constants: z.array(Constant).openapi({ description: 'Targets that have the same value in every row.' }),
  target_fields: z.array(TargetFieldShape),
  sample_rows: z
    .array(SampleRow)
    .max(20)
    .openapi({ description: 'The first rows of the file, cells cut at 200 characters.' }),
}

export const ColumnMappings = ListPage(ColumnMapping).extend(beside).openapi('ColumnMappings')

const listColumnsQuery = listQuery({ ordering: ['source_index'], filters: {} })
export type ColumnQuery = ListRequest<typeof listColumnsQuery>

const Change = z.object({
  id: Id('imc').optional().openapi({ description: 'This, or `source_index`, or `source_column`.' }),
  source_index: z
    .int()
    .min(0)
    .max(maxColumns - 1)
    .optional(),
  source_column: z.string().max(1000).optional().openapi({ description: 'Where only one column has this header.' }),
  target_field: TargetKey.nullable().optional().openapi({ description: 'Null: mapped to nothing.' }),
  target_position: z.int().min(0).max(1).optional(),
  is_ignored: z.boolean().optional(),
  default_value: z.string().max(maxValueLength).nullable().optional(),
  transform: Transform.optional(),
  value_map: ValueMap.nullable().optional(),
})

const UpdateColumnMappings = z.object({
  mappings: z.array(Change).max(maxColumns).default([]),
  constants: z
    .array(z.object({ target_field: TargetKey, value: RequiredText(maxValueLength).nullable() }))
    .max(maxColumns)
    .default([])
    .openapi({ description: 'Null takes the constant away.' }),
})
export type UpdateColumnMappingsInput = z.output<typeof UpdateColumnMappings>
export type ColumnChange = UpdateColumnMappingsInput['mappings'][number]

export const listColumnMappings = operation({
  id: 'listColumnMappings',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/column-mappings',
  summary: 'List column mappings',
  description: 'The columns of the file with what they are mapped to, or may be.',
  roles: keepers,
  params: ImportParams,
  query: listColumnsQuery,
  response: ColumnMappings,
})

export const updateColumnMappings = operation({
  id: 'updateColumnMappings',
  tag,
  method: 'patch',
  path: '/v1/data-imports/{id}/column-mappings',
  summary: 'Update column mappings',
  description: `Changes the columns that are sent, all or none. Whatever was staged is staged anew: the import is back in
\`mapping_columns\`.`,
  roles: keepers,
  params: ImportParams,
  body: UpdateColumnMappings,
  example: {
    mappings: [
      { source_index: 0, target_field: 'order.external_id' },
      { source_index: 3, target_field: 'order.created', transform: { type: 'date', args: { order: 'dmy' } } },
    ],
    constants: [{ target_field: 'order.currency', value: 'dkk' }],
  },
  response: ColumnMappings,
  errors: ['edition_archived', 'invalid_transition', 'import_running'],
})

const RowError = z
  .object({
    row: z.int().nullable().openapi({ description: 'Line of the file; null for what concerns no single row.' }),
    column: z.string().nullable().openapi({ description: 'Header of the column; null for what no column says.' }),
    source_index: z.int().nullable().openapi({ description: 'Place of the column; null for what no column says.' }),
    target_field: z.string().nullable().openapi({ description: 'Null for what concerns no target.' }),
    code: z.string(),
    message: z.string(),
    value: z
      .string()
      .nullable()
      .openapi({ description: 'As the file has it; null where no text of the file is at fault.' }),
  })
  .openapi('ImportRowError')

const Validation = z
  .object({
    is_valid: z
      .boolean()
      .openapi({ description: 'The columns can be processed; rows with errors are left out of it.' }),
    missing_required: z.array(z.string()),
    duplicate_targets: z.array(z.string()),
    unmapped_columns: z.array(z.string()),
    errors: z.array(RowError).max(100),
    warnings: z.array(RowError).max(100),
    checked_rows: Count.openapi({ description: 'How many of the first rows were read.' }),
  })
  .openapi('ColumnMappingValidation')

export const validateColumnMappings = operation({
  id: 'validateColumnMappings',
  tag,
  method: 'post',
  path: '/v1/data-imports/{id}/column-mappings/validate',
  summary: 'Validate column mappings',
  description: 'Says what keeps the columns from being processed, and reads the first rows. Changes nothing.',
  roles: keepers,
  scope: 'read',
  params: ImportParams,
  response: Validation,
  errors: ['invalid_transition', 'import_running'],
})

const HomeOfTargets = z.object({
  edition_id: IdFilter.optional().openapi({
    pattern: '^edt_',
    description: 'Whose consents are targets too.',
  }),
})

export const listTargetFields = operation({
  id: 'listImportTargetFields',
  tag,
  method: 'get',
  path: '/v1/data-imports/target-fields',
  summary: 'List target fields',
  description: 'All that a column can be mapped to; beside it, `order.metadata.<key>` takes any key.',
  roles: keepers,
  query: HomeOfTargets,
  response: z.object({ results: z.array(TargetFieldShape) }).openapi('ImportTargetFields'),
})
