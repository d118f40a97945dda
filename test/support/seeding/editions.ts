import { eq, getTableColumns } from 'drizzle-orm'
import { editions } from '../../../src/db/schema/editions.ts'
import { select } from '../../../src/db/select.ts'
import { insert, insertAll } from '../../../src/db/write.ts'
import { buildSearchText, buildSortKey } from '../../../src/domain/text/fold.ts'
import { slugify } from '../../../src/domain/text/text.ts'
import { seedReceiptMessage } from './messaging/email-messages.ts'
import { givenEvent } from './organizations.ts'
import { db, freshId, next, seededAt, seededTimes, unique, write } from './rows.ts'

export type EditionRow = typeof editions.$inferSelect

type MadeEdition = Pick<
  EditionRow,
  'id' | 'event_id' | 'name' | 'full_name' | 'slug' | 'timezone' | 'organization_id' | 'default_language'
>

function buildRow(organization: string, event: string, columns: Partial<EditionRow>) {
  const now = Date.now()
  const name = columns.name ?? `Edition ${unique()}`
  const slug = slugify(name, 'edition')
  return {
    id: freshId('edition'),
    organization_id: organization,
    event_id: event,
    name,
    name_key: buildSortKey(name),
    full_name: name,
    slug,
    timezone: 'Europe/Copenhagen',
    default_country_code: '+45' as const,
    default_language: 'en' as const,
    enabled_languages: ['en'] as const,
    tax_type: 'none' as const,
    currency: 'dkk' as const,
    search: buildSearchText(name, slug),
    created_at: now,
    modified_at: now,
    ...columns,
  }
}

/** Seeds an edition with the given columns, of their event, the organisation's event or a new one. */
export async function seedEdition(
  organization: { id: string; event?: string },
  columns: Partial<EditionRow> = {},
): Promise<MadeEdition> {
  const event = columns.event_id ?? organization.event ?? (await givenEvent(organization)).id
  const row = buildRow(organization.id, event, columns)
  await write(insert(editions, row))
  return row
}

/** Seeds editions of one event, some with equal names and times, for lists. */
export const seedEditions = (organization: { id: string; event: string }, count: number): Promise<void> =>
  write(
    ...insertAll(
      editions,
      Array.from({ length: count }, () => {
        const number = next()
        const start = number % 3 ? seededAt + Math.floor(number / 2) * 86_400_000 : null
        return buildRow(organization.id, organization.event, {
          name: `Edition ${Math.floor(number / 2)}`,
          slug: `edition-${unique()}`,
          start_at: start,
          end_at: start === null ? null : start + 86_400_000,
          ...seededTimes(number),
        })
      }),
    ),
  )

/** Seeds the e-mail messages that an edition may use for receipts and refund confirmations. */
export async function seedEditionMessages(organization: { id: string }) {
  return {
    receipt: await seedReceiptMessage(organization),
    confirmation: await seedReceiptMessage(organization, { type: 'refund_confirmation' }),
  }
}

export const loadEdition = async (id: string): Promise<EditionRow | undefined> =>
  db.first(select(getTableColumns(editions)).from(editions).where(eq(editions.id, id)))
