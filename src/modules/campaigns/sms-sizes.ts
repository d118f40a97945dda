import type { Ctx } from '../../context.ts'
import type { Contact } from '../../domain/accounts/users.ts'
import { chooseSmsLanguage } from '../../domain/campaigns/content-faults.ts'
import { createLinkMinter } from '../../domain/campaigns/link-tokens.ts'
import { pickSegmentSnapshot } from '../../domain/campaigns/snapshots.ts'
import { buildPreferencesUrl, mintPreferencesToken } from '../../domain/consents/consent-tokens.ts'
import { toLocalDate } from '../../domain/email/liquid/local-date.ts'
import type { TemplateContext } from '../../domain/email/liquid/variables.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import { measureTexts, preparePartCount, type SmsFrame, type SmsSizes } from '../../domain/messaging/sms.ts'
import type { CommunicationType } from '../../domain/segments.ts'
import type { CampaignRow } from './delivery/campaign-row.ts'
import { buildTrackingUrl, type MessageLink } from './delivery/compose.ts'
import { listContentLanguages } from './delivery/content-snapshot.ts'

/** Stands in for a service whose address and key are not set yet. */
const unset = { publicUrl: 'https://events.example.com', linkSigningKey: 'unset' }

const getCommunicationType = (row: CampaignRow): CommunicationType =>
  pickSegmentSnapshot(row)?.communication_type ?? row.segment_communication_type

function buildFrame({ config, now }: Ctx, row: CampaignRow, communicationType: CommunicationType): SmsFrame {
  const publicUrl = config.publicUrl || unset.publicUrl
  const key = config.linkSigningKey || unset.linkSigningKey
  const is_marketing = communicationType === 'marketing'
  const mint = createLinkMinter(key, row.id)
  // A token contains the number of the recipient, and the one of the newest customer is the longest.
  const n = row.last_user_seq
  const buildUrl = (kind: MessageLink, link: number) => buildTrackingUrl(publicUrl, kind, mint({ kind, n, link }))
  const token = mintPreferencesToken(key, {
    user_id: row.id.replace(/^[a-z]+/, 'usr'),
    organization_id: row.organization_id,
    channel: 'sms',
    address: '',
    made_at: now(),
  })
  const links = {
    unsubscribe: is_marketing ? buildUrl('unsubscribe', 0) : '',
    preferences: buildPreferencesUrl(publicUrl, token),
    portal: '',
  }
  const buildValues = (language: Language): TemplateContext => ({
    edition: {
      name: row.edition_name,
      start_date: toLocalDate(row.edition_start_at, language, row.edition_timezone, 'day'),
      end_date: toLocalDate(row.edition_end_at, language, row.edition_timezone, 'day'),
      timezone: row.edition_timezone,
    },
    organization: { name: row.organization_name },
    campaign: { name: row.name },
    links,
  })
  return { is_marketing, buildValues, buildClickUrl: (link) => buildUrl('click', link) }
}

/** One request presents a campaign several times. */
const cachedSizes = new WeakMap<TranslatedDict, { key: string; sizes: SmsSizes }>()

/** Measures the texts of a campaign as they are sent, with the name and the address of a sample customer. */
export function measureCampaign(ctx: Ctx, row: CampaignRow): SmsSizes {
  const key = JSON.stringify([getCommunicationType(row), row.name, row.edition_name, row.organization_name])
  const cachedSize = cachedSizes.get(row.sms_body)
  if (cachedSize?.key === key) return cachedSize.sizes
  const sizes = measureTexts(row.sms_body, buildFrame(ctx, row, getCommunicationType(row)))
  cachedSizes.set(row.sms_body, { key, sizes })
  return sizes
}

/** Prepares the count of the parts that the readers of a language get from a campaign that is started now. */
export function prepareCampaignParts(
  ctx: Ctx,
  row: CampaignRow,
  communicationType: CommunicationType,
): (language: Language, customer: Contact) => number {
  const frame = buildFrame(ctx, row, communicationType)
  const counts = new Map<Language, (customer: Contact) => number>()
  for (const language of listContentLanguages(row)) {
    const textLanguage = chooseSmsLanguage(row.sms_body, language, row.edition_default_language)
    counts.set(language, preparePartCount(row.sms_body[textLanguage] ?? '', textLanguage, frame))
  }
  return (language, customer) => counts.get(language)?.(customer) ?? 0
}
