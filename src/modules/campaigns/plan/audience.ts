import type { Ctx } from '../../../context.ts'
import { skipDuplicates } from '../../../domain/campaigns/duplicate-addresses.ts'
import { countPerson, createPlanCounts, type PlanCounts, scalePlanCounts } from '../../../domain/campaigns/plan.ts'
import type { NewRecipient } from '../../../domain/campaigns/sender.ts'
import type { RecipientState } from '../../../domain/campaigns/sending-policy.ts'
import { type Audience, previewMembers, type SegmentMember } from '../../segments/index.ts'
import { buildRecipients, type ContentLanguages, findSegment, selectExcluded } from '../delivery/audience.ts'
import { listContentLanguages } from '../delivery/content-snapshot.ts'
import type { LoadedCampaign } from '../queries.ts'
import { prepareCampaignParts } from '../sms-sizes.ts'

export interface PlannedAudience {
  counts: PlanCounts
  isEstimate: boolean
}

/** Takes members as a start of the campaign would, group after group in the order of their numbers. */
class AudiencePlanner {
  readonly counts: PlanCounts
  readonly #ctx: Ctx
  readonly #campaign: LoadedCampaign
  readonly #audience: Audience
  readonly #languages: ContentLanguages
  readonly #countParts: ReturnType<typeof prepareCampaignParts> | null
  readonly #takenAddresses = new Set<string | null>()

  constructor(ctx: Ctx, campaign: LoadedCampaign, audience: Audience) {
    this.#ctx = ctx
    this.#campaign = campaign
    this.#audience = audience
    const languages = listContentLanguages(campaign)
    this.#languages = { languages, fallback: campaign.edition_default_language }
    this.#countParts =
      campaign.channel === 'sms' ? prepareCampaignParts(ctx, campaign, audience.communication_type) : null
    this.counts = createPlanCounts(languages)
  }

  async take(members: readonly SegmentMember[]): Promise<void> {
    if (members.length === 0) return
    const people = await buildRecipients(this.#ctx, this.#campaign, members, this.#languages)
    const earlierStates = await this.#findEarlierStates(people)
    const recipients = await this.#skipForSms(people, members, earlierStates)
    for (const [index, member] of members.entries()) {
      const recipient = recipients[index]
      if (!recipient) continue
      countPerson(this.counts, {
        recipient,
        locale: member.locale,
        earlierState: earlierStates.get(recipient.n) ?? null,
        countParts: () => this.#countParts?.(recipient.language, member) ?? 0,
      })
    }
  }

  /** Finds the recipients whom the start would leave as they are. Their addresses get no other message. */
  async #findEarlierStates(people: readonly NewRecipient[]): Promise<Map<number, RecipientState>> {
    const { run, channel, id } = this.#campaign
    if (run === 0) return new Map()
    const addresses = channel === 'sms' ? people.flatMap(({ address }) => address ?? []) : []
    const earlierRecipients = await this.#ctx.senders.get(id).findEarlier(
      people.map(({ n }) => n),
      addresses,
    )
    for (const address of earlierRecipients.addresses) this.#takenAddresses.add(address)
    return new Map(earlierRecipients.recipients.map(({ n, state }) => [n, state]))
  }

  /** Skips those who share a number, and those whose number is suppressed in the form in which it is called. */
  async #skipForSms(
    people: readonly NewRecipient[],
    members: readonly SegmentMember[],
    earlierStates: ReadonlyMap<number, RecipientState>,
  ): Promise<readonly NewRecipient[]> {
    if (this.#campaign.channel !== 'sms') return people
    const recipients = skipDuplicates(people, this.#takenAddresses, new Set(earlierStates.keys()))
    const changedNumbers = recipients.flatMap(({ n, address, reason }, index) =>
      reason === null && address !== null && address !== members[index]?.phone_number ? [{ n, address }] : [],
    )
    if (changedNumbers.length === 0) return recipients
    const excludedRecipients = await this.#ctx.db.all(selectExcluded(this.#audience, changedNumbers, this.#ctx.now()))
    const reasons = new Map(excludedRecipients.map(({ n, reason }) => [n, reason]))
    return recipients.map((recipient) => ({
      ...recipient,
      reason: recipient.reason ?? reasons.get(recipient.n) ?? null,
    }))
  }
}

/** Counts the people whom a start would reach or skip now. Null: the segment cannot be evaluated. */
export async function countAudience(ctx: Ctx, campaign: LoadedCampaign): Promise<PlannedAudience | null> {
  const segment = await findSegment(ctx, campaign)
  if (!segment || segment.communication_channel !== campaign.channel) return null
  const planner = new AudiencePlanner(ctx, campaign, segment)
  const preview = await previewMembers(ctx, segment, (members) => planner.take(members))
  if (!preview) return null
  const { isComplete, factor } = preview
  return { counts: isComplete ? planner.counts : scalePlanCounts(planner.counts, factor), isEstimate: !isComplete }
}
