import { sql } from 'drizzle-orm'
import type { consentRecords } from '../../src/db/schema/consents.ts'
import type { users } from '../../src/db/schema/customers.ts'
import { mintPreferencesToken } from '../../src/domain/consents/consent-tokens.ts'
import { post } from './api.ts'
import type { Scene } from './seeding/customers.ts'
import { db } from './seeding/rows.ts'
import { visit } from './visits.ts'

export const linkKey = 'link-signing-key-of-the-tests'

type UserRow = typeof users.$inferSelect
export type RecordRow = typeof consentRecords.$inferSelect

export const give = (
  user: Pick<UserRow, 'id'>,
  consent: string,
  fields: Record<string, unknown> = {},
  action = 'give',
) =>
  post(`/v1/user/${user.id}/consents/${consent}/${action}`, {
    language: 'en',
    method: 'api',
    source: 'checkout',
    ...fields,
  })

/** Returns the path of the person's page, as a message to the address would have it. */
export const pageOf = async (
  { organization }: Pick<Scene, 'organization'>,
  user: Pick<UserRow, 'id' | 'email'>,
  more: { address?: string; channel?: 'email' | 'sms'; made_at?: number } = {},
): Promise<string> => {
  const link = { user_id: user.id, organization_id: organization, channel: 'email' as const, address: user.email ?? '' }
  return `/consents/${mintPreferencesToken(linkKey, { ...link, made_at: Date.now(), ...more })}`
}

/** Reads the fields of the page's form, with the boxes checked as on the page. */
export function readForm(html: string): { shown: string[]; given: string[] } {
  const values = (pattern: RegExp) => [...html.matchAll(pattern)].map(([, value]) => value ?? '')
  return {
    shown: values(/name="shown"\s+value="([^"]+)"/g),
    given: values(/name="given"\s+value="([^"]+)"\s+aria-describedby="[^"]+"\s+checked/g),
  }
}

export const send = (path: string, { shown, given }: { shown: string[]; given: string[] }) =>
  visit(path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'cf-connecting-ip': '203.0.113.77' },
    body: new URLSearchParams([
      ...shown.map((value) => ['shown', value] as [string, string]),
      ...given.map((value) => ['given', value] as [string, string]),
    ]).toString(),
  })

/** Opens the page, sets these boxes, and sends the form. */
export async function choose(path: string, change: { give?: string[]; withdraw?: string[] }) {
  const form = readForm((await visit(path)).text)
  const checkedIds = [...form.given.filter((id) => !change.withdraw?.includes(id)), ...(change.give ?? [])]
  return send(path, { ...form, given: checkedIds })
}

export const listAllRecords = (user: Pick<UserRow, 'id'>): Promise<RecordRow[]> =>
  db.all(sql<RecordRow>`select * from consent_records where user_id = ${user.id} order by consent_id, number`)

export const listEvents = (organization: string): Promise<{ kind: string; payload: string }[]> =>
  db.all(sql<{ kind: string; payload: string }>`select kind, payload from webhook_events
    where organization_id = ${organization} and kind like 'consent.%' order by id`)

/** Returns everything that a form could change. */
export const dumpState = async ({ organization }: Pick<Scene, 'organization'>) => [
  await db.all(sql`select * from consent_records where organization_id = ${organization} order by id`),
  await db.all(sql`select * from suppressions where organization_id = ${organization} order by address`),
  await db.all(sql`select * from audit_log where organization_id = ${organization} order by id`),
  await db.all(sql`select * from transactional_emails where organization_id = ${organization} order by id`),
  await listEvents(organization),
]
