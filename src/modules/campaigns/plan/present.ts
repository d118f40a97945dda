import type { z } from '@hono/zod-openapi'
import { formatFullName } from '../../../domain/accounts/users.ts'
import { estimateSending, listSkipped, sumPlanCounts } from '../../../domain/campaigns/plan.ts'
import { computeSmsCost } from '../../../domain/messaging/sms-price.ts'
import { toMajor } from '../../../domain/money.ts'
import { toIsoOrNull } from '../../../domain/time/instants.ts'
import type { CampaignPlan } from './contract.ts'
import type { PlannedCampaign } from './plan.ts'

type PlanWire = z.input<typeof CampaignPlan>
type AudienceWire = NonNullable<PlanWire['audience']>
type Example = AudienceWire['skipped_by_reason'][number]['examples'][number]

/** A customer who was deleted meanwhile is no example. */
function presentExample({ campaign, examples }: PlannedCampaign, id: string): Example[] {
  const person = examples.get(id)
  if (!person) return []
  const { email, phone_number } = person
  const address = campaign.channel === 'email' ? email : phone_number
  return [{ user: { api_id: id, full_name: formatFullName(person), email }, address: address ?? '' }]
}

function presentAudience(plan: PlannedCampaign): AudienceWire | null {
  if (!plan.audience) return null
  const { counts, isEstimate } = plan.audience
  const { people, recipients, skipped, sms_parts } = sumPlanCounts(counts)
  return {
    is_estimate: isEstimate,
    people,
    recipients,
    skipped,
    sent_before: counts.sent_before,
    failed_before: counts.failed_before,
    skipped_by_reason: listSkipped(counts).map(({ reason, people: skippedPeople, example_ids }) => ({
      reason,
      people: skippedPeople,
      examples: example_ids.flatMap((id) => presentExample(plan, id)),
    })),
    languages: [...counts.languages].map(([language, languageCounts]) => ({
      language,
      text_language: plan.textLanguages.get(language) ?? null,
      recipients: languageCounts.recipients,
      sms_parts: languageCounts.sms_parts,
    })),
    other_languages: [...counts.fallbacks]
      .map(([language, count]) => ({ language, recipients: count }))
      .toSorted((a, b) => b.recipients - a.recipients),
    conditions:
      plan.audience.conditions?.map((condition, position) => ({
        condition,
        recipients: counts.conditions[position] ?? 0,
      })) ?? null,
    sms_parts,
  }
}

export function presentPlan(plan: PlannedCampaign): PlanWire {
  const { faults, warnings, smsPrice, limits, windowOpensAt } = plan
  const audience = presentAudience(plan)
  return {
    faults: [...faults],
    warnings: [...warnings],
    audience,
    cost:
      smsPrice && audience
        ? { amount: toMajor(computeSmsCost(smsPrice, audience.sms_parts)), currency: smsPrice.currency }
        : null,
    sending:
      limits && audience
        ? { ...estimateSending(audience.recipients, limits), window_opens_at: toIsoOrNull(windowOpensAt) }
        : null,
  }
}
