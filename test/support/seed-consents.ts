import { sql } from 'drizzle-orm'
import { consentRecords, consents, consentVersions } from '../../src/db/schema/consents.ts'
import { insertAll } from '../../src/db/write.ts'
import { contentHash, hashVersion, recordHash } from '../../src/domain/consents/consent-records.ts'
import { db, freshId, next, seededAt, write } from './seed.ts'

type Row = typeof consentRecords.$inferSelect

interface Place {
  organization: string
  edition: string | null
}

const wording = {
  title: { en: 'Newsletter', da: 'Nyhedsbrev' },
  text: { en: 'Write to me.', da: 'Skriv til mig.' },
  link_url: {},
  legal_basis: 'consent',
} as const

/** Definitions with their wordings, some with equal names, positions and times. Answers their ids. */
export async function seedConsents(place: Place, count: number): Promise<string[]> {
  const content_hash = await contentHash(wording)
  const columns = { ...wording, content_hash }
  const rows = Array.from({ length: count }, (_, index): typeof consents.$inferInsert => ({
    ...columns,
    id: freshId('consent'),
    organization_id: place.organization,
    edition_id: place.edition,
    key: `seeded-${next()}`,
    name: `Newsletter ${index % 3}`,
    type: 'marketing',
    channels: ['email'],
    position: index % 4,
    search: `seeded newsletter ${index % 3}`,
    created_at: seededAt + (index % 5),
    modified_at: seededAt + (index % 5),
  }))
  const versions = rows.map(({ id, created_at }) => ({ ...columns, consent_id: id, version: 1, created_at }))
  await write(...insertAll(consents, rows), ...insertAll(consentVersions, versions))
  return rows.map(({ id }) => id)
}

export const seedConsent = async (place: Place): Promise<string> => (await seedConsents(place, 1))[0] ?? ''

/** So many more answers of one person to one definition, given and withdrawn by turns, in a whole chain. */
export async function seedAnswers(place: Place, user: string, consent: string, count = 1): Promise<void> {
  const stored = await db().first(sql<Row>`select * from consent_records where user_id = ${user}
    and consent_id = ${consent} and is_latest = 1`)
  const rows: Row[] = []
  for (let index = 0; index < count; index++) {
    const before = rows.at(-1) ?? stored ?? null
    const number = (before?.number ?? 0) + 1
    const row: Omit<Row, 'record_hash'> = {
      id: freshId('consent_record'),
      organization_id: place.organization,
      consent_id: consent,
      user_id: user,
      number,
      consent_version: 1,
      content_hash: await contentHash(wording),
      edition_id: place.edition,
      order_id: null,
      import_id: null,
      status: number % 2 === 1 ? 'given' : 'withdrawn',
      previous_status: before?.status === 'withdrawn' ? 'withdrawn' : before ? 'given' : null,
      method: 'checkbox',
      source: 'checkout',
      language: 'da',
      occurred_at: seededAt + number,
      expires_at: null,
      previous_record_id: before?.id ?? null,
      evidence: null,
      evidence_hash: null,
      hash_version: hashVersion,
      is_latest: index === count - 1 ? 1 : 0,
    }
    rows.push({ ...row, record_hash: await recordHash(row, before?.record_hash ?? null) })
  }
  await write(
    sql`update consent_records set is_latest = 0 where user_id = ${user} and consent_id = ${consent}`,
    ...insertAll(consentRecords, rows),
  )
}
