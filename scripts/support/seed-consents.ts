import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../src/context.ts'
import type { Statement } from '../../src/db/database.ts'
import { consentRecords, consents, consentVersions } from '../../src/db/schema/consents.ts'
import { insertAll } from '../../src/db/write.ts'
import { hashWording, hashVersion, hashRecord } from '../../src/domain/consents/consent-records.ts'
import type { Language } from '../../src/domain/languages.ts'
import { buildSearchText, buildSortKey } from '../../src/domain/text/fold.ts'
import { dayMs, type RowsRequest } from './seed-rows.ts'

type ConsentRow = typeof consents.$inferInsert & { content_hash: string }
type RecordRow = typeof consentRecords.$inferSelect

type Definition = Pick<
  typeof consents.$inferSelect,
  'key' | 'name' | 'type' | 'is_required' | 'channels' | 'title' | 'text'
>

interface Customer {
  id: string
  locale: Language
}

const wordings: readonly Definition[] = [
  {
    key: 'newsletter',
    name: 'Newsletter',
    type: 'marketing',
    is_required: false,
    channels: ['email', 'sms'],
    title: { en: 'Newsletter', da: 'Nyhedsbrev', se: 'Nyhetsbrev', nl: 'Nieuwsbrief', pl: 'Newsletter' },
    text: {
      en: 'Write to me about coming editions.',
      da: 'Skriv til mig om kommende udgaver.',
      se: 'Skriv till mig om kommande upplagor.',
      nl: 'Schrijf mij over komende edities.',
      pl: 'Piszcie do mnie o kolejnych edycjach.',
    },
  },
  {
    key: 'terms',
    name: 'Terms',
    type: 'terms',
    is_required: true,
    channels: [],
    title: { en: 'Terms', da: 'Betingelser', se: 'Villkor', nl: 'Voorwaarden', pl: 'Regulamin' },
    text: {
      en: 'I accept the terms.',
      da: 'Jeg accepterer betingelserne.',
      se: 'Jag godkänner villkoren.',
      nl: 'Ik ga akkoord met de voorwaarden.',
      pl: 'Akceptuję regulamin.',
    },
  },
]

async function buildDefinitions(job: JobCtx, { organization_id, seeded_at }: RowsRequest): Promise<ConsentRow[]> {
  const created_at = seeded_at - 400 * dayMs
  return Promise.all(
    wordings.map(async ({ title, text, ...wording }, position): Promise<ConsentRow> => ({
      id: job.newId('consent'),
      organization_id,
      ...wording,
      title,
      text,
      collect_at: ['checkout'],
      position,
      content_hash: await hashWording({ title, text, link_url: {}, legal_basis: 'consent' }),
      name_key: buildSortKey(wording.name),
      search: buildSearchText(wording.key, wording.name),
      created_at,
      modified_at: created_at,
    })),
  )
}

/** Builds the records of a customer: the answer, and the withdrawal if there is one. Each has the hash of the one before. */
async function buildConsentRecords(
  job: JobCtx,
  consent: ConsentRow,
  customer: Customer,
  times: number[],
): Promise<RecordRow[]> {
  const records: RecordRow[] = []
  for (const [index, occurred_at] of times.entries()) {
    const before = records.at(-1) ?? null
    const record: Omit<RecordRow, 'record_hash'> = {
      id: job.newId('consent_record'),
      organization_id: consent.organization_id,
      consent_id: consent.id,
      consent_version: 1,
      content_hash: consent.content_hash,
      user_id: customer.id,
      number: index + 1,
      edition_id: null,
      order_id: null,
      import_id: null,
      previous_status: before ? 'given' : null,
      evidence: null,
      evidence_hash: null,
      hash_version: hashVersion,
      status: before ? 'withdrawn' : 'given',
      method: before ? 'preference_center' : 'checkbox',
      source: before ? 'preferences' : 'checkout',
      language: customer.locale,
      occurred_at,
      expires_at: null,
      previous_record_id: before?.id ?? null,
      is_latest: index === times.length - 1 ? 1 : 0,
    }
    records.push({ ...record, record_hash: await hashRecord(record, before?.record_hash ?? null) })
  }
  return records
}

/**
 * Everybody accepts the terms. Of five customers four give the newsletter consent, and one of them withdraws it.
 * Returns null when the rows exist.
 */
export async function buildConsentRows(job: JobCtx, request: RowsRequest): Promise<Statement[] | null> {
  const { organization_id, seeded_at } = request
  const [made, customers] = await Promise.all([
    job.db.first(sql<{ id: string }>`select id from consents where organization_id = ${organization_id} limit 1`),
    job.db.all(sql<Customer>`select id, locale from users where organization_id = ${organization_id} order by seq`),
  ])
  if (made) return null
  const rows = await buildDefinitions(job, request)
  const records = await Promise.all(
    rows.flatMap((consent) =>
      customers.map((customer, index) => {
        const given = seeded_at - (20 + (index % 40)) * dayMs
        const kind = consent.type === 'terms' ? 0 : index % 5
        return buildConsentRecords(job, consent, customer, { 3: [given, given + 5 * dayMs], 4: [] }[kind] ?? [given])
      }),
    ),
  )
  const versions = rows.map(({ id, title, text, content_hash, created_at }) => ({
    consent_id: id,
    version: 1,
    title: title ?? {},
    text: text ?? {},
    link_url: {},
    legal_basis: 'consent' as const,
    content_hash,
    created_at,
  }))
  return [
    ...insertAll(consents, rows),
    ...insertAll(consentVersions, versions),
    ...insertAll(consentRecords, records.flat()),
  ]
}
