import type { EndState, Engagement, Reason } from './sending-policy.ts'

/** Filters of recipients, as in the list of recipients. */
export interface RecipientConditions {
  state?: EndState | undefined
  reason?: Reason | undefined
  engagement?: Engagement | undefined
  /** The address of a link that the recipient clicked, or did not click with the engagement `not_clicked`. */
  link?: string | undefined
}

const isReached = 'm.state == "sent" && m.bounced_at == null'

const engagementConditions: Record<Engagement, string> = {
  delivered: 'm.delivered_at != null',
  opened: 'm.opened_at != null',
  not_opened: `${isReached} && m.opened_at == null`,
  clicked: 'm.clicked_at != null',
  not_clicked: `${isReached} && m.clicked_at == null`,
  bounced: 'm.bounced_at != null',
  complained: 'm.complained_at != null',
  unsubscribed: 'm.unsubscribed_at != null',
}

function listEngagementConditions({ engagement, link }: RecipientConditions): string[] {
  const hasClicked = `${JSON.stringify(link ?? '')} in m.clicked_links`
  if (link !== undefined && engagement === 'not_clicked') return [`${isReached} && !(${hasClicked})`]
  return [...(engagement ? [engagementConditions[engagement]] : []), ...(link === undefined ? [] : [hasClicked])]
}

/** Builds the expression of a segment that holds for exactly these recipients of a campaign. */
export function buildRecipientExpression(campaignId: string, conditions: RecipientConditions): string {
  const { state, reason } = conditions
  const parts = [
    `m.campaign_id == ${JSON.stringify(campaignId)}`,
    ...(state ? [`m.state == ${JSON.stringify(state)}`] : []),
    ...(reason ? [`m.reason == ${JSON.stringify(reason)}`] : []),
    ...listEngagementConditions(conditions),
  ]
  return `campaigns.messages.exists(m, ${parts.join(' && ')})`
}
