import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { viewCustomers } from '../../../db/customers.ts'
import { organizations } from '../../../db/schema/organizations.ts'
import { select } from '../../../db/select.ts'
import { findApprovalFaults } from '../../../domain/campaigns/approval.ts'
import { type CampaignTexts, chooseTextLanguage } from '../../../domain/campaigns/content-faults.ts'
import { listSkipped, sumPlanCounts } from '../../../domain/campaigns/plan.ts'
import { findWindowState } from '../../../domain/campaigns/send-window.ts'
import type { RecipientPerson } from '../../../domain/campaigns/sending-policy.ts'
import { listConditions } from '../../../domain/email/blocks/conditions.ts'
import { type FieldError, fieldError } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import { noProvider, type SendingLimits } from '../../../domain/messaging/messaging.ts'
import type { SmsPrice } from '../../../domain/messaging/sms-price.ts'
import { checkCampaignTransition, checkSegmentRole } from '../checks.ts'
import { findCampaignFaults, loadTexts } from '../delivery/campaign-row.ts'
import type { LoadedCampaign } from '../queries.ts'
import { countAudience, type PlannedAudience } from './audience.ts'

export interface PlannedCampaign {
  campaign: LoadedCampaign
  faults: readonly FieldError[]
  warnings: readonly FieldError[]
  audience: PlannedAudience | null
  /** The people who stand as examples of those who are skipped, as the caller may see them. */
  examples: ReadonlyMap<string, RecipientPerson>
  textLanguages: ReadonlyMap<Language, Language | null>
  smsPrice: SmsPrice | null
  /** Null without a provider. */
  limits: SendingLimits | null
  /** The instant at which the send window opens. Null while it is open, and without one. */
  windowOpensAt: number | null
}

/** Finds what would end the campaign after its start, because of its people. */
function findAudienceFaults(campaign: LoadedCampaign, audience: PlannedAudience | null): FieldError[] {
  const path = ['segment_id']
  if (audience === null)
    return campaign.segment_deleted_at === null && campaign.segment_communication_channel === campaign.channel
      ? [fieldError(path, 'not_calculable', 'The expression of the segment cannot be evaluated. Simplify it.')]
      : []
  const isReachable = audience.isEstimate || campaign.sent_count > 0 || sumPlanCounts(audience.counts).recipients > 0
  return isReachable ? [] : [fieldError(path, 'no_recipients', 'Nobody in the segment can be reached.')]
}

/** A condition that cannot be evaluated, unless a fault of the content says so already. */
function findConditionFaults(audience: PlannedAudience | null, faults: readonly FieldError[]): FieldError[] {
  const failure = audience?.conditionFailure ?? null
  const isReported = faults.some(({ code }) => code === 'invalid_condition' || code === 'other_edition')
  return failure === null || isReported ? [] : [fieldError(['email_message_id'], 'invalid_condition', failure)]
}

async function loadExamples(ctx: Ctx, audience: PlannedAudience | null): Promise<Map<string, RecipientPerson>> {
  const ids = audience ? listSkipped(audience.counts).flatMap(({ example_ids }) => example_ids) : []
  if (ids.length === 0) return new Map()
  const customers = viewCustomers(ctx.caller)
  const people = await ctx.db.all(sql<RecipientPerson>`select users.id,
      ${customers.columns(['email', 'phone_number', 'first_name', 'last_name'])}
    from users ${customers.join} where ${inList(sql`users.id`, ids)}`)
  return new Map(people.map((person) => [person.id, person]))
}

async function loadSmsPrice({ db }: Ctx, { channel, organization_id }: LoadedCampaign): Promise<SmsPrice | null> {
  if (channel !== 'sms') return null
  const organization = await db.first(
    select({ sms_price: organizations.sms_price }).from(organizations).where(eq(organizations.id, organization_id)),
  )
  return organization?.sms_price ?? null
}

function findWindowOpening(ctx: Ctx, { send_window, edition_timezone }: LoadedCampaign): number | null {
  if (send_window === null) return null
  const { isOpen, changesAt } = findWindowState(send_window, edition_timezone, ctx.now())
  return isOpen ? null : changesAt
}

const listTextLanguages = (texts: CampaignTexts, audience: PlannedAudience | null): Map<Language, Language | null> =>
  new Map(
    [...(audience?.counts.languages.keys() ?? [])].map((language) => [language, chooseTextLanguage(texts, language)]),
  )

/** Says what a start would do now. It reads only, and it decides about people with the functions of the start. */
export async function planCampaign(ctx: Ctx, campaign: LoadedCampaign): Promise<PlannedCampaign> {
  checkSegmentRole(ctx, campaign)
  checkCampaignTransition(campaign, 'calculating', 'planned')
  const texts = await loadTexts(ctx, campaign)
  const acceptedTranslations = campaign.status === 'scheduled' ? campaign.accepted_translations : []
  const { faults, warnings } = findCampaignFaults(ctx, campaign, texts, acceptedTranslations)
  const audience = await countAudience(ctx, campaign, listConditions(texts.message?.blocks ?? []))
  return {
    campaign,
    faults: [
      ...faults,
      ...findApprovalFaults(campaign),
      ...findAudienceFaults(campaign, audience),
      ...findConditionFaults(audience, faults),
    ],
    warnings,
    audience,
    examples: await loadExamples(ctx, audience),
    textLanguages: listTextLanguages(texts, audience),
    smsPrice: await loadSmsPrice(ctx, campaign),
    windowOpensAt: findWindowOpening(ctx, campaign),
    limits: ctx.config[campaign.channel].name === noProvider ? null : ctx[campaign.channel].limits,
  }
}
