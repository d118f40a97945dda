import type { Contact } from '../accounts/users.ts'
import { buildSampleContext } from '../email/liquid/variables.ts'
import { AppError } from '../errors.ts'
import type { Language } from '../languages.ts'
import { dayMs, hourMs } from '../time/instants.ts'

/** A test goes to this many addresses at once. */
export const maxTestRecipients = 10
/** An organisation sends this many test messages in `testWindowMs`. */
export const maxTestMessages = 50
export const testWindowMs = hourMs
/** A test message that could not be sent for this long is not sent any more. */
export const testPatienceMs = dayMs
export const testRetentionMs = 30 * dayMs

/** The content of all messages of one test, in characters. */
export const maxTestCharacters = 8_000_000

/** The JSON of one message, which is a value of the database. Those have at most 2 MB. */
export const maxStoredTestBytes = 1_900_000

export const markTestSubject = (subject: string): string => `[Test] ${subject}`

/** Links of a message that lead to a person's own pages. In a test message they lead to an example page. */
export const examplePages = ['unsubscribe', 'preferences', 'portal'] as const
export type ExamplePage = (typeof examplePages)[number]

const buildExampleUrl = (publicUrl: string, page: ExamplePage, language: Language): string =>
  publicUrl === '' ? '' : `${publicUrl}/t/test/${page}?language=${language}`

/** The values of the `links` variables in a test message. */
export const buildExampleLinks = (publicUrl: string, language: Language): Record<ExamplePage, string> => ({
  unsubscribe: buildExampleUrl(publicUrl, 'unsubscribe', language),
  preferences: buildExampleUrl(publicUrl, 'preferences', language),
  portal: buildExampleUrl(publicUrl, 'portal', language),
})

/** The customer of samples. */
export function buildSampleContact(): Contact {
  const { first_name, last_name, email, phone_number } = buildSampleContext().customer ?? {}
  return {
    first_name: String(first_name),
    last_name: String(last_name),
    email: String(email),
    phone_number: String(phone_number),
  }
}

/**
 * Throws `test_limit_reached` if `count` more messages exceed the limit of the organisation. `times` are the times of its
 * test messages within `testWindowMs`, in ascending order. Returns how many it may still send after these.
 */
export function checkTestLimit(times: readonly number[], count: number, now: number): number {
  const remaining = maxTestMessages - times.length - count
  if (remaining >= 0) return remaining
  const freedAt = (times[-remaining - 1] ?? now) + testWindowMs
  const retry_after = Math.max(1, Math.ceil((freedAt - now) / 1000))
  throw new AppError('test_limit_reached', `An organisation sends at most ${maxTestMessages} test messages an hour.`, {
    extra: { limit: maxTestMessages, remaining: Math.max(0, maxTestMessages - times.length), retry_after },
    headers: { 'retry-after': String(retry_after) },
  })
}
