import { findIdKind, isId } from '../ids.ts'

const isResourceId = (value: unknown): value is string => {
  if (typeof value !== 'string') return false
  const kind = findIdKind(value)
  return kind !== null && isId(kind, value)
}

const listValues = (value: unknown): unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []

/**
 * The ids of the resources that an event is about, each between two spaces: those in its data, and in the objects directly
 * inside.
 */
export function listResourceIds(data: object): string {
  const fields = listValues(data)
  const ids = new Set([...fields, ...fields.flatMap(listValues)].filter(isResourceId))
  return [...ids].map((id) => ` ${id} `).join('')
}
