import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { findChainFault, type StoredRecord } from '../../src/domain/consents/consent-records.ts'
import { call, type Reply, rootToken } from './api.ts'
import { db } from './seeding/rows.ts'

const anAnswer = (fields: Record<string, unknown> = {}) => ({
  language: 'da',
  method: 'checkbox',
  source: 'checkout',
  ...fields,
})

export const answer = (
  action: 'give' | 'skip' | 'withdraw',
  at: { user: string; consent: string },
  fields: Record<string, unknown> = {},
  token = rootToken,
): Promise<Reply> =>
  call(`/v1/user/${at.user}/consents/${at.consent}/${action}`, { method: 'POST', body: anAnswer(fields), token })

export const listRecords = (user: string, consent: string): Promise<StoredRecord[]> =>
  db.all(sql<StoredRecord>`select * from consent_records where user_id = ${user} and consent_id = ${consent}
    order by number`)

/**
 * Expects an unbroken chain in the organisation, and one latest record for each person and definition. The chains of
 * customers who were merged into others have none.
 */
export async function expectWhole(organization: string): Promise<void> {
  const rows = await db.all(sql<StoredRecord & { is_merged: number }>`select *,
      exists (select 1 from user_merges where user_merges.id = user_id) as is_merged
    from consent_records where organization_id = ${organization} order by user_id, consent_id, number`)
  for (const chain of Map.groupBy(rows, (row) => `${row.user_id} ${row.consent_id}`).values())
    expect(await findChainFault(chain, chain[0]?.is_merged === 1)).toBeNull()
}

export const listEvents = (
  organization: string,
): Promise<{ kind: string; edition_id: string | null; payload: string }[]> =>
  db.all(sql<{ kind: string; edition_id: string | null; payload: string }>`select kind, edition_id, payload
    from webhook_events where organization_id = ${organization} order by id`)
