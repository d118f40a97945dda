import { maxColumns } from '@ecms/table-reader'
import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import { importKinds } from '../../../domain/data-imports/import-kinds.ts'
import { dateOrders } from '../../../domain/data-imports/mapping/columns/date-shape.ts'
import { suggestionOrigins, transformTypes } from '../../../domain/data-imports/mapping/index.ts'
import { targetGroups, targetTypes } from '../../../domain/data-imports/mapping/targets/fields.ts'
import { Count, Id, RequiredText, TimeZone } from '../../../http/fields.ts'
import { action, operation } from '../../../http/operations/operation.ts'
import { type ListRequest, ListPage, IdFilter, listQuery } from '../../../http/requests/list-query.ts'
import { ImportParams, tag } from '../import-contract.ts'

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
      .openapi({ description: 'For `date`: the order of day, month and year. `each`: every date is unambiguous.' }),
    time_zone: TimeZone.optional().openapi({ description: 'For `date`: the time zone of local times.' }),
    decimal: z
      .enum(['.', ',', 'each'])
      .optional()
      .openapi({ description: 'For `number`: the decimal separator. `each`: every number is unambiguous.' }),
    country_code: z
      .string()
      .regex(/^\+[1-9]\d{0,3}$/, 'A country code such as +45.')
      .optional()
      .openapi({ description: 'For `phone`: the country code of numbers without one.', example: '+45' }),
    part: z
      .enum(['first', 'last'])
      .optional()
      .openapi({ description: 'For `split_name`: which part of the name to take.' }),
  })
  .openapi('ImportTransformArgs')

/** Responses always contain `args`. */
const Transform = z.object({ type: z.enum(transformTypes), args: TransformArgs }).openapi('ImportTransform')

const TransformInput = z
  .object({ type: z.enum(transformTypes), args: TransformArgs.default({}) })
  .superRefine(({ type, args }, context) => {
    for (const name of Object.keys(args) as (keyof typeof args)[])
      if (argsByType[type]?.includes(name) !== true)
        context.addIssue({
          code: 'custom',
          path: ['args', name],
          params: { code: 'invalid_choice' },
          message: `The transform ${type} does not have this argument.`,
        })
  })
  .openapi('ImportTransformInput')

const argsByType: Partial<Record<(typeof transformTypes)[number], readonly string[]>> = {
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
    message: `Map at most ${maxMappedValues} values.`,
  })
  .openapi({
    description: 'Replaces cells by another text, or excludes their rows. Case and accents do not matter.',
    example: { storniert: { to: 'cancelled' }, test: { ignore_row: true } },
  })

const SuggestedBy = z
  .enum(suggestionOrigins)
  .nullable()
  .openapi({
    description:
      'Where the suggestion comes from. `memory`: an earlier import of the edition, or of the organisation if you have a ' +
      'role of it. `preset`: the known export of a system. Null if it is not a suggestion.',
  })

const ColumnError = z
  .object({ code: z.string(), target_field: z.string(), message: z.string() })
  .openapi('ColumnMappingError')

export const ColumnMapping = z
  .object({
    id: Id('imc'),
    source_column: z.string().openapi({ description: 'The header. Two columns may have the same one.' }),
    source_index: z.int().min(0).openapi({ description: 'Position of the column in the file, from 0.' }),
    sample_values: z.array(z.string()).max(5),
    target_field: TargetKey.nullable().openapi({ description: 'Null if the column is not mapped.' }),
    target_position: z
      .int()
      .min(0)
      .openapi({ description: 'Position among the columns of the target, for example a date before its time.' }),
    confidence: Confidence,
    is_suggested: z.boolean(),
    suggested_by: SuggestedBy,
    is_required: z.boolean().openapi({ description: 'Whether orders need the target.' }),
    is_ignored: z.boolean(),
    default_value: z.string().nullable().openapi({ description: 'Value of blank cells. Null if they stay blank.' }),
    transform: Transform,
    value_map: ValueMap.nullable().openapi({
      description:
        'Replaces cells by another text, or excludes their rows. Case and accents do not matter. Null if no cell ' +
        'is replaced.',
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
      description: 'One target with the same name is required. Null for a target outside of such a group.',
    }),
    group: z.enum(targetGroups),
    aliases: z.array(z.string()),
  })
  .openapi('ImportTargetField')

const Constant = z
  .object({ target_field: TargetKey, value: z.string().max(maxValueLength), suggested_by: SuggestedBy })
  .openapi('ImportConstant')

const SampleRow = z
  .object({
    line: z.int().openapi({ description: 'Line of the file, as in a text editor.' }),
    cells: z.array(z.string()),
  })
  .openapi('ImportSampleRow')

const extraFields = {
  constants: z.array(Constant).openapi({ description: 'Targets with the same value in every row.' }),
  target_fields: z.array(TargetFieldShape),
  sample_rows: z
    .array(SampleRow)
    .max(20)
    .openapi({ description: 'The first rows of the file. Cells are cut at 200 characters.' }),
}

export const ColumnMappings = ListPage(ColumnMapping).extend(extraFields).openapi('ColumnMappings')

const listColumnsQuery = listQuery({ ordering: ['source_index'], filters: {} })
export type ColumnQuery = ListRequest<typeof listColumnsQuery>

const Change = z.object({
  id: Id('imc')
    .optional()
    .openapi({ description: 'Names the column. You can also use `source_index` or `source_column`.' }),
  source_index: z
    .int()
    .min(0)
    .max(maxColumns - 1)
    .optional(),
  source_column: z
    .string()
    .max(1000)
    .optional()
    .openapi({ description: 'Names the column if no other has this header.' }),
  target_field: TargetKey.nullable().optional().openapi({ description: 'Null removes the mapping.' }),
  target_position: z.int().min(0).max(1).optional(),
  is_ignored: z.boolean().optional(),
  default_value: z.string().max(maxValueLength).nullable().optional(),
  transform: TransformInput.optional(),
  value_map: ValueMap.nullable().optional(),
})

const UpdateColumnMappings = z.object({
  mappings: z.array(Change).max(maxColumns).default([]),
  constants: z
    .array(z.object({ target_field: TargetKey, value: RequiredText(maxValueLength).nullable() }))
    .max(maxColumns)
    .default([])
    .openapi({ description: 'Null removes the constant.' }),
})
export type UpdateColumnMappingsInput = z.output<typeof UpdateColumnMappings>
export type ColumnChange = UpdateColumnMappingsInput['mappings'][number]

export const listColumnMappings = operation({
  id: 'listColumnMappings',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/column-mappings',
  summary: 'List column mappings',
  description: 'Lists the columns of the file with their mappings and suggestions.',
  roles: managers,
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
  description: `Changes all of the listed columns or none. The import returns to \`mapping_columns\`, and its rows have to be
processed again.`,
  roles: managers,
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
    row: z.int().nullable().openapi({ description: 'Line of the file. Null if the problem concerns no single row.' }),
    column: z
      .string()
      .nullable()
      .openapi({ description: 'Header of the column. Null if the problem concerns no column.' }),
    source_index: z
      .int()
      .nullable()
      .openapi({ description: 'Position of the column. Null if the problem concerns no column.' }),
    target_field: z.string().nullable().openapi({ description: 'Null if the problem concerns no target.' }),
    code: z.string(),
    message: z.string(),
    value: z
      .string()
      .nullable()
      .openapi({ description: 'The text in the file. Null if the problem is not in a text.' }),
  })
  .openapi('ImportRowError')

const Validation = z
  .object({
    is_valid: z
      .boolean()
      .openapi({ description: 'Whether the columns can be processed. Errors of rows do not matter.' }),
    missing_required: z.array(z.string()),
    duplicate_targets: z.array(z.string()),
    unmapped_columns: z.array(z.string()),
    errors: z.array(RowError).max(100),
    warnings: z.array(RowError).max(100),
    checked_rows: Count.openapi({ description: 'How many of the first rows were checked.' }),
  })
  .openapi('ColumnMappingValidation')

export const validateColumnMappings = operation({
  id: 'validateColumnMappings',
  tag,
  ...action('/v1/data-imports', 'imp', 'column-mappings/validate'),
  summary: 'Validate column mappings',
  description: 'Lists what prevents processing the columns, and the errors of the first rows. Changes nothing.',
  roles: managers,
  scope: 'read',
  response: Validation,
  errors: ['invalid_transition', 'import_running'],
})

const TargetFieldsQuery = z.object({
  edition_id: IdFilter.optional().openapi({
    pattern: '^edt_',
    description: 'Includes the consents of this edition.',
  }),
  kind: z.enum(importKinds).default('orders'),
})

export const listImportTargetFields = operation({
  id: 'listImportTargetFields',
  tag,
  method: 'get',
  path: '/v1/data-imports/target-fields',
  summary: 'List target fields',
  description:
    'Lists the fields to which columns can be mapped. `order.metadata.<key>` and `customer.metadata.<key>` are targets ' +
    'for any key.',
  roles: managers,
  query: TargetFieldsQuery,
  response: z.object({ results: z.array(TargetFieldShape) }).openapi('ImportTargetFields'),
})
