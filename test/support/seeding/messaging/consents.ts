import { sql } from 'drizzle-orm'
import { consentRecords, consents, consentVersions } from '../../../../src/db/schema/consents.ts'
import { insert, insertAll } from '../../../../src/db/write.ts'
import { hashWording, hashVersion, hashRecord } from '../../../../src/domain/consents/consent-records.ts'
import type { AnswerStatus } from '../../../../src/domain/consents/consents.ts'
import { buildSortKey } from '../../../../src/domain/text/fold.ts'
import { create } from '../../api.ts'
import type { UserRow } from '../customers.ts'
import { db, freshId, next, type Place, seededAt, type WidePlace, write } from '../rows.ts'
import type { Buyer } from '../sales/trades.ts'

export const aConsent = (organization: string, fields: Record<string, unknown> = {}) => ({
  organization_id: organization,
  key: `newsletter-${crypto.randomUUID().slice(0, 8)}`,
  name: 'Newsletter',
  title: { en: 'Newsletter', da: 'Nyhedsbrev' },
  text: { en: 'Write to me.', da: 'Skriv til mig.' },
  type: 'marketing',
  channels: ['email'],
  ...fields,
})

/** Creates a definition by the API, and returns it. */
export const givenConsent = (organization: string, fields: Record<string, unknown> = {}) =>
  create('/v1/consents', aConsent(organization, fields))

type Row = typeof consentRecords.$inferSelect
type ConsentRow = typeof consents.$inferInsert

const wording = {
  title: { en: 'Newsletter', da: 'Nyhedsbrev' },
  text: { en: 'Write to me.', da: 'Skriv til mig.' },
  link_url: {},
  legal_basis: 'consent',
} as const

/** Seeds definitions with their wordings, some with equal names, positions and times. Returns their ids. */
export async function seedConsents(
  place: WidePlace,
  count: number,
  changes: Partial<ConsentRow> = {},
): Promise<string[]> {
  const content_hash = await hashWording(wording)
  const columns = { ...wording, content_hash }
  const rows = Array.from({ length: count }, (_, index) => ({
    ...columns,
    id: freshId('consent'),
    organization_id: place.organization,
    edition_id: place.edition,
    key: `seeded-${next()}`,
    name: `Newsletter ${index % 3}`,
    name_key: buildSortKey(changes.name ?? `Newsletter ${index % 3}`),
    type: 'marketing' as const,
    channels: ['email' as const],
    position: index % 4,
    search: `seeded newsletter ${index % 3}`,
    created_at: seededAt + (index % 5),
    modified_at: seededAt + (index % 5),
    ...changes,
  }))
  const versions = rows.map(({ id, created_at }) => ({ ...columns, consent_id: id, version: 1, created_at }))
  await write(...insertAll(consents, rows), ...insertAll(consentVersions, versions))
  return rows.map(({ id }) => id)
}

export const seedConsent = async (place: WidePlace, columns: Partial<ConsentRow> = {}): Promise<string> =>
  (await seedConsents(place, 1, columns))[0] ?? ''

/** Adds this many answers of one person to one definition, given and withdrawn in turn, in an unbroken chain. */
export async function seedAnswers(place: WidePlace, user: string, consent: string, count = 1): Promise<void> {
  const stored = await db.first(sql<Row>`select * from consent_records where user_id = ${user}
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
      content_hash: await hashWording(wording),
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
    rows.push({ ...row, record_hash: await hashRecord(row, before?.record_hash ?? null) })
  }
  await write(
    sql`update consent_records set is_latest = 0 where user_id = ${user} and consent_id = ${consent}`,
    ...insertAll(consentRecords, rows),
  )
}

const answerRow = (user: Pick<UserRow, 'id' | 'organization_id'>, consent: string) => ({
  id: freshId('consent_record'),
  organization_id: user.organization_id,
  consent_id: consent,
  consent_version: 1,
  content_hash: '',
  user_id: user.id,
  status: 'given' as const,
  method: 'checkbox' as const,
  source: 'test',
  language: 'en' as const,
  occurred_at: seededAt,
  record_hash: '',
  is_latest: 1,
})

/** Seeds one answer of any status, outside every chain. */
export const seedAnswer = (
  user: UserRow,
  consent: string,
  status: AnswerStatus,
  columns: Partial<typeof consentRecords.$inferInsert> = {},
): Promise<void> => write(insert(consentRecords, { ...answerRow(user, consent), status, ...columns }))

const yesterday = () => Date.now() - 86_400_000

/** Seeds a consent to e-mail marketing, given yesterday by these people or by all. Returns its id. */
export async function seedMarketingConsent(
  crowd: Place & { people: readonly { id: string }[] },
  userIds: readonly string[] = crowd.people.map(({ id }) => id),
  columns: Partial<ConsentRow> = {},
): Promise<string> {
  const at = yesterday()
  const place = { organization: crowd.organization, edition: null }
  const id = await seedConsent(place, { key: 'newsletter', created_at: at, modified_at: at, ...columns })
  const rows = userIds.map((user_id) => answerRow({ id: user_id, organization_id: crowd.organization }, id))
  await write(
    ...insertAll(
      consentRecords,
      rows.map((row) => ({ ...row, occurred_at: at, source: 'checkout' })),
    ),
  )
  return id
}

/** Creates a definition that the person of the shop can answer. */
export async function givenQuestion({ organization, user }: Buyer, fields: Record<string, unknown> = {}) {
  const definition = await givenConsent(organization, fields)
  return { user, consent: definition.id as string, definition }
}
