import { type PreparedMappings, findTargetField } from '../../../domain/data-imports/mapping/index.ts'
import { type FieldError, fieldError } from '../../../domain/errors.ts'
import { type ColumnRow, groupColumns, type MappingState } from './state.ts'

type IssueCode =
  | 'ambiguous_format'
  | 'duplicate_target'
  | 'missing_target'
  | 'undecided_column'
  | 'unknown_target_field'
  | 'unmapped_values'

export interface MappingIssue {
  code: IssueCode
  column: number | null
  target_field: string
  message: string
}

/** Types of targets that two columns can fill together, such as a date and its time. */
const typesOfTwoColumns: ReadonlySet<string> = new Set(['instant', 'text', 'full_name', 'texts'])

const getColumnName = ({ columns }: MappingState, index: number): string =>
  `"${columns[index]?.source_column || `column ${index + 1}`}"`

type Ambiguous = PreparedMappings['ambiguous'][number]

/** Describes what one cell means in each reading. */
function formatReadings({ decision }: Ambiguous): string {
  const text = decision.choices[0]?.examples[0]?.text ?? ''
  const meanings = decision.choices.map(({ format, examples }) => {
    const how = 'decimal' in format ? (format.decimal === ',' ? 'decimal comma' : 'decimal point') : format.order
    const value = examples.find((example) => example.text === text)?.value
    return `${value ?? 'nothing'} (${how})`
  })
  return `"${text}" is ${meanings.join(' or ')}`
}

function buildAmbiguityIssue(state: MappingState, one: Ambiguous): MappingIssue {
  const isNumber = one.decision.choices.some(({ format }) => 'decimal' in format)
  const what = isNumber ? 'numbers' : 'dates'
  const why =
    one.decision.reason === 'conflicting'
      ? `The ${what} of ${getColumnName(state, one.column)} contradict each other`
      : `The ${what} of ${getColumnName(state, one.column)} can be read in more than one way`
  const message = `${why}: ${formatReadings(one)}. Choose one in the transform of the column.`
  return { code: 'ambiguous_format', column: one.column, target_field: one.target, message }
}

function findSurplusColumns({ columns, consents }: MappingState): { target: string; column: ColumnRow }[] {
  return [...groupColumns(columns)].flatMap(([target, ofTarget]) => {
    const type = findTargetField(target, consents)?.type ?? 'name'
    return ofTarget.slice(typesOfTwoColumns.has(type) ? 2 : 1).map((column) => ({ target, column }))
  })
}

const questionMessages = {
  order_id:
    'may be the id of the order or that of a ticket. Map it to order.external_id if the rows of an order share its ' +
    'value. If no column is the id of the order, ignore it or set the option group_by.',
  status:
    'seems to say which orders are paid. Map it to order.status or item.status, or ignore it. Otherwise all of its ' +
    'orders count as paid.',
}

const maxExamples = 5

/** Lists columns that were not mapped and that the user has to map or to ignore. */
function findOpenQuestions({ columns, constants, options }: MappingState): MappingIssue[] {
  const targets = new Set([...columns, ...constants].map(({ target_field }) => target_field))
  return columns.flatMap((column): MappingIssue[] => {
    const { question, source_index, target_field, is_ignored } = column
    if (question === null || target_field !== null || is_ignored) return []
    const isId = question === 'order_id'
    const isMapped = isId
      ? targets.has('order.external_id') || options.group_by !== null
      : targets.has('order.status') || targets.has('item.status')
    if (isMapped) return []
    const examples = column.sample_values.slice(0, 2).map((value) => `"${value}"`)
    const name = `"${column.source_column || `column ${source_index + 1}`}"`
    const message = `${name}, with values such as ${examples.join(' and ')}, ${questionMessages[question]}`
    return [
      {
        code: 'undecided_column',
        column: source_index,
        target_field: isId ? 'order.external_id' : 'order.status',
        message,
      },
    ]
  })
}

function findUnmappedIssues(state: MappingState, preparedMappings: PreparedMappings): MappingIssue[] {
  return Object.entries(preparedMappings.unmapped_values).map(([target_field, values]) => {
    const examples = values.slice(0, maxExamples).map((value) => `"${value}"`)
    const suffix = values.length > maxExamples ? ` and ${values.length - maxExamples} more` : ''
    const column = groupColumns(state.columns).get(target_field)?.[0]?.source_index ?? null
    const message = `${target_field} does not understand ${examples.join(', ')}${suffix}. Map these values in its value_map.`
    return { code: 'unmapped_values', column, target_field, message }
  })
}

export function findMappingIssues(
  state: MappingState,
  preparedMappings: PreparedMappings,
): { errors: MappingIssue[]; warnings: MappingIssue[] } {
  const unknownColumns = state.columns.filter(({ target_field }) =>
    preparedMappings.unknown_targets.includes(target_field ?? ''),
  )
  return {
    errors: [
      ...preparedMappings.missing_required.map((target_field): MappingIssue => ({
        code: 'missing_target',
        column: null,
        target_field,
        message: `Map a column to ${target_field}, or set a constant for it.`,
      })),
      ...findSurplusColumns(state).map(({ target, column }): MappingIssue => ({
        code: 'duplicate_target',
        column: column.source_index,
        target_field: target,
        message: `${getColumnName(state, column.source_index)} is mapped to ${target}, and so is another column. Map only one of them.`,
      })),
      ...unknownColumns.map((column): MappingIssue => ({
        code: 'unknown_target_field',
        column: column.source_index,
        target_field: column.target_field ?? '',
        message: `The target ${column.target_field ?? ''} no longer exists in this edition.`,
      })),
      ...findOpenQuestions(state),
      ...preparedMappings.ambiguous.map((one) => buildAmbiguityIssue(state, one)),
    ],
    warnings: findUnmappedIssues(state, preparedMappings),
  }
}

const fieldsByCode: Record<IssueCode, string> = {
  ambiguous_format: 'transform',
  duplicate_target: 'target_field',
  missing_target: 'target_field',
  undecided_column: 'target_field',
  unknown_target_field: 'target_field',
  unmapped_values: 'value_map',
}

/** The pointer is that of a body of `updateColumnMappings` with all columns in their order. */
export const toFieldError = ({ code, column, message }: MappingIssue): FieldError =>
  fieldError(column === null ? ['mappings'] : ['mappings', column, fieldsByCode[code]], code, message)
