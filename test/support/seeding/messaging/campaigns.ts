import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { inList } from '../../../../src/db/conditions.ts'
import { campaignLinks, campaigns } from '../../../../src/db/schema/campaigns.ts'
import { select } from '../../../../src/db/select.ts'
import { insertAll } from '../../../../src/db/write.ts'
import type { RecipientOutcome } from '../../../../src/domain/campaigns/chunk-report.ts'
import type { CampaignStatus } from '../../../../src/domain/campaigns/lifecycle.ts'
import { buildSearchText, buildSortKey } from '../../../../src/domain/text/fold.ts'
import { RecipientStore } from '../../../../src/objects/campaign/recipient-store.ts'
import type { CampaignRecord } from '../../../../src/objects/campaign/schema.ts'
import { seedPeople, type UserRow } from '../customers.ts'
import { type EditionRow, seedEdition } from '../editions.ts'
import { givenOrganization } from '../organizations.ts'
import { db, freshId, next, type Place, seededAt, write } from '../rows.ts'
import { seedMarketingConsent } from './consents.ts'
import { aBlock, seedMessage } from './email-messages.ts'
import { type SegmentRow, seedSegment } from './segments.ts'

export type CampaignRow = typeof campaigns.$inferSelect

export interface Crowd extends Place {
  people: UserRow[]
}

/** Seeds an organisation with an edition that can send, and this many people, every third of them a Dane. */
export async function seedCrowd(count: number, columns: Partial<EditionRow> = {}): Promise<Crowd> {
  const organization = await givenOrganization()
  const sending: Partial<EditionRow> = { enabled_languages: ['en', 'da'], sms_sender_name: 'Store', ...columns }
  const edition = await seedEdition(organization, sending)
  const place = { organization: organization.id, edition: edition.id }
  const people = Array.from({ length: count }, (_, index) => ({
    first_name: 'Astrid',
    last_name: `Holm ${index}`,
    locale: index % 3 === 0 ? 'da' : 'en',
  }))
  return { ...place, people: await seedPeople(place, people) }
}

const campaignBlocks = [
  aBlock(
    'Hello {{ customer.first_name }}, see <a href="https://example.com/tickets?a=1&amp;b=2">tickets</a> and <a href="https://example.com/map">the map</a>',
  ),
]

export interface ReadyCampaign {
  campaign: CampaignRow
  segment: SegmentRow
  message: string
}

/** Seeds a campaign that can be sent to all people of the edition. */
export async function seedReady(place: Place, columns: Partial<CampaignRow> = {}): Promise<ReadyCampaign> {
  const channel = columns.channel === 'sms' ? 'sms' : 'email'
  const segment = await seedSegment(place, { communication_channel: channel })
  const message = await seedMessage(place, { type: 'campaign', blocks: campaignBlocks })
  const campaign = await seedCampaign(place, segment.id, {
    ...(channel === 'email'
      ? { email_message_id: message }
      : { sms_body: { en: 'Doors open: https://example.com/doors' } }),
    ...columns,
  })
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
    const { name = `Campaign ${Math.floor(number / 2)}` } = columns
    return {
      id: freshId('campaign'),
      organization_id: place.organization,
      edition_id: place.edition,
      segment_id: segmentId,
      name,
      name_key: buildSortKey(name),
      search: buildSearchText(name),
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
  return db.all(
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

export async function seedCampaign(
  place: Place,
  segmentId: string,
  columns: Partial<CampaignRow> = {},
): Promise<CampaignRow> {
  const [campaign] = await seedCampaigns(place, segmentId, 1, columns)
  if (!campaign) throw new Error('no campaign was made')
  return campaign
}

/**
 * Makes the segment a marketing segment to which all people have agreed, by both channels. Returns the consent's id.
 */
export async function marketingTo(crowd: Crowd, segmentId: string): Promise<string> {
  await write(sql`update segments set communication_type = 'marketing' where id = ${segmentId}`)
  return seedMarketingConsent(crowd, undefined, { channels: ['email', 'sms'] })
}

/** Seeds a campaign in this status, and tells its object that it exists. */
export async function seedCampaignInStatus(
  place: Place,
  status: CampaignStatus,
  columns: Partial<CampaignRow> = {},
): Promise<string> {
  const run = ['draft', 'scheduled'].includes(status) ? 0 : 1
  const { campaign } = await seedReady(place, { status, run, scheduled_at: Date.now() + 86_400_000, ...columns })
  if (run) {
    if (status === 'sent') await seedRecipients(campaign.id, 3)
    await inRecipientStore(campaign.id, (store) =>
      store.changeRecord({ run, status, projected_revision: 1, step: status === 'calculating' ? 'content' : '' }),
    )
  }
  return campaign.id
}

/** Runs on the recipients in a campaign's object. */
export const inRecipientStore = <Result>(
  campaignId: string,
  work: (store: RecipientStore) => Result,
): Promise<Result> =>
  runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaignId)), (_, state) => {
    const store = new RecipientStore(state.storage)
    store.ensureRecord(campaignId)
    return work(store)
  })

/** Adds recipients of whom every third is sent, every third has failed, and the others wait. */
export const seedRecipients = (campaignId: string, count: number, record: Partial<CampaignRecord> = {}) =>
  inRecipientStore(campaignId, (store) => {
    const people = Array.from({ length: count }, () => {
      const n = next()
      // Pairs share an address, so their key decides their order.
      const address = `guest-${String(Math.floor(n / 2)).padStart(6, '0')}@example.test`
      const person = {
        id: `usr_${n}`,
        email: address,
        phone_number: null,
        first_name: 'Astrid',
        last_name: `Holm ${n}`,
      }
      return {
        n,
        user_id: person.id,
        address,
        language: 'en' as const,
        person: JSON.stringify(person),
        conditions: 0,
        reason: null,
      }
    })
    store.transaction(() => {
      store.addRecipients(people, 'email')
      const endings = people.map(({ n }, index): [number, RecipientOutcome] =>
        index % 3 === 0
          ? [n, { to: 'sent', provider_id: `p-${n}`, at: 1_768_467_600_000 + (n % 5) * 1000 }]
          : [n, { to: 'failed', reason: 'unreachable', code: 'http_503', detail: '' }],
      )
      store.recordOutcomes(new Map(endings.filter((_, index) => index % 3 < 2)), false)
      store.changeRecord({ run: 1, status: 'sent', ...record })
    })
    return people
  })

/** Adds links with clicks on some, and messages with them in two languages. The Danish message has them backwards. */
export async function seedLinks(campaignId: string, count: number): Promise<void> {
  const stored = await db.all(
    select({ position: campaignLinks.position }).from(campaignLinks).where(eq(campaignLinks.campaign_id, campaignId)),
  )
  const positions = Array.from({ length: count }, (_, index) => stored.length + index)
  const links = positions.map((position) => ({
    campaign_id: campaignId,
    position,
    url: `https://example.com/${position}`,
  }))
  const content = (language: 'en' | 'da', order: readonly number[]) => sql`insert into campaign_contents
      (campaign_id, run, language, subject, html, text, links, context, created_at)
    values (${campaignId}, ${stored.length + 1}, ${language}, '', '', '', ${JSON.stringify(order)}, '{}', ${seededAt})`
  await write(
    ...insertAll(campaignLinks, links),
    content('en', positions),
    content('da', positions.slice(1).toReversed()),
  )
  const clicks = positions.flatMap((link) =>
    Array.from({ length: (link * 7) % 5 }, (_, index) => ({ link, n: 1 + (index % 3), at: seededAt + index })),
  )
  await inRecipientStore(campaignId, (store) => store.links.record(clicks))
}

/** Gives the object a later run than any that starts, so that it ignores every start. */
export const ignoreStarts = (campaignId: string) =>
  inRecipientStore(campaignId, (store) => store.changeRecord({ run: 1_000_000, status: 'failed' }))
