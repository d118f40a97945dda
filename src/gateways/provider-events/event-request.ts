import { isRecord } from '../../domain/text/json.ts'

/** A request from a provider. `body` is exactly what was sent, because the signature covers it. */
export interface EventRequest {
  headers: Headers
  body: string
}

/** Returns null for a body that is not a JSON object. */
export function parseEvent(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** Parses a time as providers write it. Returns milliseconds UTC. */
export function parseEventTime(value: unknown): number | null {
  if (typeof value !== 'string') return null
  // Older events have a space and an offset in hours: `2026-11-22 23:41:12.126+00`.
  const at = Date.parse(value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  return Number.isNaN(at) ? null : at
}
