import type { DecidedOrder } from '../../../domain/data-imports/mapping/index.ts'
import type { FieldError } from '../../../domain/errors.ts'

export interface ImportProblem {
  /** The line of the file, from 1, as in a text editor. */
  row: number
  /** The index of the column, from 0; null for a problem without a column. */
  column: number | null
  target_field: string | null
  code: string
  message: string
  value: string | null
}

export const maxProblems = 20

export const buildImportProblem = (
  row: number,
  target_field: string | null,
  code: string,
  message: string,
): ImportProblem => ({
  row,
  column: null,
  target_field,
  code,
  message,
  value: null,
})

export const parsePointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

const returnsOnlyMessage = 'The rows of this order only return items, and no row sells these items.'

const groupsWithSameName = new Set(['customer', 'consents'])

/** Translates a pointer into an order of `importExternalOrders` to the target of a column. */
function findTarget([first = '', ...rest]: readonly string[]): string | null {
  if (first === '') return null
  if (first === 'items') return ['item', ...rest.slice(1)].join('.')
  if (first === 'consents') return ['consent', ...rest].join('.')
  if (first === 'payment') return `order.payment_${rest[0] ?? 'service'}`
  return groupsWithSameName.has(first) ? [first, ...rest].join('.') : ['order', first, ...rest].join('.')
}

export function toProblem(order: Pick<DecidedOrder, 'lines' | 'items'>, error: FieldError): ImportProblem {
  const steps = parsePointer(error.pointer ?? '#')
  const item = steps[0] === 'items' ? order.items[Number(steps[1])] : undefined
  const line = item?.line ?? order.lines[0] ?? 0
  const isEmpty = steps[0] === 'items' && order.items.length === 0
  return buildImportProblem(line, findTarget(steps), error.code, isEmpty ? returnsOnlyMessage : error.detail)
}
