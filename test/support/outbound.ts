import { vi } from 'vitest'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import type { OutboundSms } from '../../src/gateways/sms/sms.ts'

let count = 0

export const anEmail = (fields: Partial<OutboundEmail> = {}): OutboundEmail => ({
  from: { name: 'Nordlys', address: 'tickets@nordlys.example' },
  to: { name: null, address: `guest-${++count}@example.com` },
  replyTo: null,
  subject: 'Your tickets',
  html: '<p>Welcome</p>',
  text: 'Welcome',
  headers: {},
  reference: `ref_${crypto.randomUUID()}`,
  ...fields,
})

export const anSms = (fields: Partial<OutboundSms> = {}): OutboundSms => ({
  from: 'Nordlys',
  to: `+4520${String(100_000 + ++count)}`,
  body: 'The doors are open',
  reference: `ref_${crypto.randomUUID()}`,
  ...fields,
})

/** Returns the delay of the longest timer that was set since, in milliseconds. Restore all mocks afterwards. */
export function watchTimers(): () => number {
  const set = vi.spyOn(globalThis, 'setTimeout')
  return () => Math.max(0, ...set.mock.calls.map(([, delay]) => delay ?? 0))
}
