import { isRecord } from '../../domain/text/json.ts'

/** A request of a provider, with the exact bytes of its body, which its signature covers. */
export interface EventRequest {
  headers: Headers
  body: string
}

/** The object of the body; null for anything else. */
export function parseEvent(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

/** Milliseconds UTC of a time as providers write it. */
export function parseEventTime(value: unknown): number | null {
  if (typeof value !== 'string') return null
  // `2026-11-22 23:41:12.126+00`: older events write a blank, and hours alone.
  const at = Date.parse(value.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  return Number.isNaN(at) ? null : at
}
