import { campaigns } from '../../src/db/schema/messaging/campaigns.ts'
import { consentRecords, consents } from '../../src/db/schema/consents.ts'
import { editions } from '../../src/db/schema/editions.ts'
import { userEditions, users } from '../../src/db/schema/users.ts'
import { select } from '../../src/db/select.ts'
import { inList } from '../../src/db/visibility.ts'
import { insert, insertAll, update } from '../../src/db/write.ts'
import { getTableColumns, sql } from 'drizzle-orm'
import { searchText } from '../../src/domain/text/fold.ts'
import { searchColumns } from '../../src/domain/accounts/users.ts'
import { seedMessage, aBlock } from './seed-emails.ts'
import { seedSegment, type SegmentRow } from './seed-segments.ts'
import { db, freshId, next, seededAt, seedEdition, seedOrganization, write } from './seed.ts'

export type CampaignRow = typeof campaigns.$inferSelect

export interface Place {
  organization: string
  edition: string
}

export interface Crowd extends Place {
  people: { id: string; email: string | null; phone_number: string | null; seq: number }[]
}

/** An organisation with an edition that can send, and so many people in it. */
export async function seedCrowd(count: number, columns: Partial<typeof editions.$inferSelect> = {}): Promise<Crowd> {
  const organization = await seedOrganization(`Nordlys ${next()}`)
  const edition = await seedEdition(organization)
  await write(update(editions, { sms_sender_name: 'Store', ...columns }, sql`id = ${edition}`))
  const place = { organization: organization.id, edition }
  return { ...place, people: await seedPeople(place, count) }
}

export async function seedPeople(
  { organization, edition }: Place,
  count: number,
  columns: (index: number) => Partial<typeof users.$inferSelect> = () => ({}),
): Promise<Crowd['people']> {
  if (count === 0) return []
  const mark = next()
  const rows = Array.from({ length: count }, (_, index) => {
    const person = {
      email: `guest-${mark}-${index}@example.test`,
      phone_number: `+45201${String(index).padStart(5, '0')}`,
      first_name: 'Astrid',
      last_name: `Holm ${index}`,
      ...columns(index),
    }
    return {
      id: freshId('user'),
      organization_id: organization,
      locale: index % 3 === 0 ? 'da' : 'en',
      msg_channel: 'email' as const,
      created_at: seededAt,
      modified_at: seededAt,
      ...person,
      ...searchColumns(person),
    }
  })
  await write(
    ...insertAll(users, rows),
    ...insertAll(
      userEditions,
      rows.map(({ id }) => ({ edition_id: edition, user_id: id, created_at: seededAt })),
    ),
  )
  const seqs = await db().all(
    sql<{ id: string; seq: number }>`select id, seq from users where organization_id = ${organization}`,
  )
  const seqOf = new Map(seqs.map(({ id, seq }) => [id, seq]))
  return rows.map(({ id, email, phone_number }) => ({ id, email, phone_number, seq: seqOf.get(id) ?? 0 }))
}

const campaignBlocks = [
  aBlock(
    'Hello {{ customer.first_name }}, see <a href="https://example.com/tickets?a=1&amp;b=2">tickets</a> and <a href="https://example.com/map">the map</a>',
  ),
]

export interface Ready {
  campaign: CampaignRow
  segment: SegmentRow
  message: string
}

/** A campaign that can go out to everybody in the edition. */
export async function seedReady(place: Place, columns: Partial<CampaignRow> = {}): Promise<Ready> {
  const channel = columns.channel === 'sms' ? 'sms' : 'email'
  const segment = await seedSegment(place, { communication_channel: channel })
  const message = await seedMessage(place, { type: 'campaign', blocks: campaignBlocks })
  const [campaign] = await seedCampaigns(place, segment.id, 1, {
    ...(channel === 'email'
      ? { email_message_id: message }
      : { sms_body: { en: 'Doors open: https://example.com/doors' } }),
    ...columns,
  })
  if (!campaign) throw new Error('no campaign was made')
  return { campaign, segment, message }
}

export async function seedCampaigns(
  place: Place,
  segmentId: string,
  count: number,
  columns: Partial<CampaignRow> = {},
): Promise<CampaignRow[]> {
  const rows = Array.from({ length: count }, () => {
    const number = next()
    const at = seededAt + Math.floor(number / 3) * 1000
    const name = `Campaign ${Math.floor(number / 2)}`
    return {
      id: freshId('campaign'),
      organization_id: place.organization,
      edition_id: place.edition,
      segment_id: segmentId,
      name,
      search: searchText(name),
      channel: 'email' as const,
      status: 'draft' as const,
      scheduled_at: number % 4 === 3 ? null : at + (number % 2) * 3_600_000,
      total_recipients: number % 4,
      created_at: at,
      modified_at: at + (number % 2),
      ...columns,
    }
  })
  await write(...insertAll(campaigns, rows))
  return db().all(
    select(getTableColumns(campaigns))
      .from(campaigns)
      .where(
        inList(
          sql`${campaigns.id}`,
          rows.map(({ id }) => id),
        ),
      )
      .orderBy(campaigns.seq),
  )
}

/** Makes the segment one of marketing to which everybody has agreed, through either channel; answers the consent's id. */
export async function marketingTo(crowd: Crowd, segmentId: string): Promise<string> {
  await write(sql`update segments set communication_type = 'marketing' where id = ${segmentId}`)
  return seedMarketingConsent(crowd, undefined, { channels: ['email', 'sms'] })
}

/** A consent to marketing by e-mail, given yesterday by these people, or by all of them; answers its id. */
export async function seedMarketingConsent(
  crowd: Crowd,
  userIds: readonly string[] = crowd.people.map(({ id }) => id),
  columns: Partial<typeof consents.$inferSelect> = {},
): Promise<string> {
  const id = freshId('consent')
  const at = Date.now() - 86_400_000
  const { organization: organization_id } = crowd
  await write(
    insert(consents, {
      id,
      organization_id,
      key: 'newsletter',
      name: 'Newsletter',
      type: 'marketing',
      channels: ['email'],
      created_at: at,
      modified_at: at,
      ...columns,
    }),
    ...insertAll(
      consentRecords,
      userIds.map((user_id) => ({
        id: freshId('consent_record'),
        organization_id,
        consent_id: id,
        consent_version: 1,
        content_hash: 'x',
        user_id,
        status: 'given' as const,
        method: 'checkbox' as const,
        source: 'checkout',
        language: 'en',
        occurred_at: at,
        record_hash: 'first',
        is_latest: 1,
      })),
    ),
  )
  return id
}
