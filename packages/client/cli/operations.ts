import { closest, distance } from 'fastest-levenshtein'
import { operations } from '../src/generated/operations.ts'
import { UsageError } from './errors.ts'

export interface Operation {
  method: string
  path: string
  tag: string
  summary: string
  query: readonly string[]
  fields: readonly string[]
  upload?: readonly string[]
  file?: string
  isList?: boolean
  errors: readonly string[]
}

export const operationTable: Readonly<Record<string, Operation>> = operations
export const operationIds = Object.keys(operations)

export const findOperationId = (name: string): string | undefined =>
  operationIds.find((candidate) => candidate.toLowerCase() === name.toLowerCase())

/** The names that a mistyped one may mean: the nearest, or those that contain it. */
export function suggestNames(name: string, names: readonly string[]): string[] {
  const nearest = closest(name, names)
  if (distance(name, nearest) <= 4) return [nearest]
  return names.filter((candidate) => candidate.toLowerCase().includes(name.toLowerCase())).slice(0, 8)
}

/** Finds an operation by its id in any case, and suggests the nearest one after a typing error. */
export function findOperation(name: string): Operation {
  const operation = operationTable[findOperationId(name) ?? '']
  if (operation) return operation
  const suggestions = suggestNames(name, operationIds)
  const hint = suggestions.length === 0 ? 'Run `ecm api` for the list.' : `Did you mean ${suggestions.join(', ')}?`
  throw new UsageError(`There is no operation ${name}. ${hint}`)
}
