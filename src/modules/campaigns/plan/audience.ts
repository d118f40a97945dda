import type { Ctx } from '../../../context.ts'
import { skipDuplicates } from '../../../domain/campaigns/duplicate-addresses.ts'
import { countPerson, createPlanCounts, type PlanCounts, scalePlanCounts } from '../../../domain/campaigns/plan.ts'
import type { NewRecipient } from '../../../domain/campaigns/sender.ts'
import type { RecipientState } from '../../../domain/campaigns/sending-policy.ts'
import { type Audience, previewMembers, type SegmentMember } from '../../segments/index.ts'
import { buildRecipients, type ContentLanguages, findSegment, selectExcluded } from '../delivery/audience.ts'
import { buildConditionScope, ConditionFailure, findFulfilled } from '../delivery/block-conditions.ts'
import { listContentLanguages } from '../delivery/content-snapshot.ts'
import type { LoadedCampaign } from '../queries.ts'
import { prepareCampaignParts } from '../sms-sizes.ts'

export interface PlannedAudience {
  counts: PlanCounts
  isEstimate: boolean
  /** The conditions of the message's blocks. Null: they cannot be evaluated. */
  conditions: readonly string[] | null
  /** The reason for which they cannot be evaluated. */
  conditionFailure: string | null
}

/** Takes members as a start of the campaign would, group after group in the order of their numbers. */
class AudiencePlanner {
  readonly counts: PlanCounts
  conditionFailure: string | null = null
  readonly #conditions: readonly string[]
  readonly #ctx: Ctx
  readonly #campaign: LoadedCampaign
  readonly #audience: Audience
  readonly #languages: ContentLanguages
  readonly #countParts: ReturnType<typeof prepareCampaignParts> | null
  readonly #takenAddresses = new Set<string | null>()

  constructor(ctx: Ctx, campaign: LoadedCampaign, audience: Audience, conditions: readonly string[]) {
    this.#ctx = ctx
    this.#campaign = campaign
    this.#audience = audience
    this.#conditions = conditions
    const languages = listContentLanguages(campaign)
    this.#languages = { languages, fallback: campaign.edition_default_language }
    this.#countParts =
      campaign.channel === 'sms' ? prepareCampaignParts(ctx, campaign, audience.communication_type) : null
    this.counts = createPlanCounts(languages, conditions.length)
  }

  async take(members: readonly SegmentMember[]): Promise<void> {
    if (members.length === 0) return
    const people = await buildRecipients(this.#ctx, this.#campaign, members, this.#languages)
    const earlierStates = await this.#findEarlierStates(people)
    const recipients = await this.#addConditions(await this.#skipForSms(people, members, earlierStates))
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

  /** Adds the conditions of blocks that the recipients fulfil, until one cannot be evaluated. */
  async #addConditions(recipients: readonly NewRecipient[]): Promise<readonly NewRecipient[]> {
    if (this.#conditions.length === 0 || this.conditionFailure !== null) return recipients
    const { message_edition_id } = this.#campaign
    const conditions = this.#conditions.map((expression, position) => ({ expression, position }))
    try {
      const scope = buildConditionScope(this.#campaign, message_edition_id, this.#ctx.now())
      const seqs = recipients.flatMap(({ n, reason }) => (reason === null ? [n] : []))
      const fulfilledConditions = await findFulfilled(this.#ctx, conditions, scope, seqs)
      return recipients.map((recipient) => ({ ...recipient, conditions: fulfilledConditions.get(recipient.n) ?? 0 }))
    } catch (error) {
      if (!(error instanceof ConditionFailure)) throw error
      this.conditionFailure = error.message
      return recipients
    }
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
export async function countAudience(
  ctx: Ctx,
  campaign: LoadedCampaign,
  conditions: readonly string[],
): Promise<PlannedAudience | null> {
  const segment = await findSegment(ctx, campaign)
  if (!segment || segment.communication_channel !== campaign.channel) return null
  const planner = new AudiencePlanner(ctx, campaign, segment, conditions)
  const preview = await previewMembers(ctx, segment, (members) => planner.take(members))
  if (!preview) return null
  const { isComplete, factor } = preview
  const { conditionFailure } = planner
  return {
    counts: isComplete ? planner.counts : scalePlanCounts(planner.counts, factor),
    isEstimate: !isComplete,
    conditions: conditionFailure === null ? conditions : null,
    conditionFailure,
  }
}
