import { isRecord } from '../../domain/text/json.ts'

/** A webhook request of a provider. The signature covers the exact body. */
export interface EventRequest {
  headers: Headers
  body: string
}

/** Parses the body as a JSON object, or returns null. */
export function readEvent(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** Parses a time in a form that providers use. */
export function readInstant(value: unknown): number | null {
  if (typeof value !== 'string') return null
  // Older events have a blank and an offset in hours, as in `2026-11-22 23:41:12.126+00`.
  const at = Date.parse(value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  return Number.isNaN(at) ? null : at
}
