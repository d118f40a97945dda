import type { z } from '@hono/zod-openapi'
import type { CampaignLink, CampaignTimeline } from './contract.ts'
import type { ListedLink } from './list.ts'
import type { LoadedTimeline } from './queries.ts'

export { presentSegment } from '../../segments/index.ts'

export const presentTimeline = ({ interval, timezone, buckets }: LoadedTimeline): z.input<typeof CampaignTimeline> => ({
  interval,
  timezone,
  buckets: buckets.map(({ start, sent, delivered, opened, clicked, bounced, unsubscribed }) => ({
    start,
    sent,
    delivered,
    opened,
    clicked,
    bounced,
    unsubscribed,
  })),
})

export const presentLink = (row: ListedLink): z.input<typeof CampaignLink> => ({
  position: row.position,
  url: row.url,
  languages: row.languages,
  clicks: row.clicks,
  people: row.people,
  machine_clicked: row.machine_clicked,
})
