import type { Page } from '../../parts/record-list'

/** A message that a server for development stored instead of sending it. */
export interface CapturedMessage {
  id: string
  channel: 'email' | 'sms'
  from: string
  to: string
  subject: string | null
  created: string
}

export interface WholeMessage extends CapturedMessage {
  html: string | null
  text: string
}

export interface Clock {
  now: string
  ahead_seconds: number
}

async function load<Body>(path: string, init?: RequestInit): Promise<Body> {
  const response = await fetch(path, init)
  const body = (await response.json()) as Body & { detail?: string }
  if (!response.ok) throw new Error(body.detail ?? response.statusText)
  return body
}

export const loadClock = (): Promise<Clock> => load('/dev/clock')

export const advanceClock = (seconds: number): Promise<Clock> =>
  load('/dev/clock', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ advance_seconds: seconds }),
  })

export function loadMessages(
  search: Readonly<Record<string, string | number | undefined>>,
): Promise<Page<CapturedMessage>> {
  const values = Object.entries(search).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]))
  return load(`/dev/outbox.json?${new URLSearchParams(values).toString()}`)
}

export const loadMessage = (id: string): Promise<WholeMessage> => load(`/dev/outbox/${encodeURIComponent(id)}.json`)
