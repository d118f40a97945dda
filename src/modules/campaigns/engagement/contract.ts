import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../../domain/accounts/access.ts'
import { maxClicksPerPerson, maxLinkPosition } from '../../../domain/campaigns/link-counts.ts'
import { endStates, engagements, recipientReasons } from '../../../domain/campaigns/sending-policy.ts'
import { maxTimelineBuckets, timelineIntervals } from '../../../domain/campaigns/timeline.ts'
import { languages } from '../../../domain/languages.ts'
import { channels } from '../../../domain/messaging/messaging.ts'
import { communicationTypes, maxDescriptionLength, maxSegmentNameLength } from '../../../domain/segments.ts'
import { Count, IdParams, LanguageCode, LanguageInput, RequiredText } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { InstantFilter, ListPage, listQuery, type ListRequest } from '../../../http/requests/list-query.ts'
import { Segment } from '../../segments/index.ts'

const tag = 'Campaigns' as const

const Interval = z.enum(timelineIntervals)

export const CampaignTimeline = z
  .object({
    interval: Interval,
    timezone: z.string().openapi({ description: "The edition's time zone.", example: 'Europe/Copenhagen' }),
    buckets: z
      .array(
        z.object({
          start: z.string().openapi({
            format: 'date-time',
            description: "When the minute, hour or day begins in the edition's time zone.",
            example: '2026-06-01T10:00:00+02:00',
          }),
          sent: Count,
          delivered: Count,
          opened: Count,
          clicked: Count,
          bounced: Count,
          unsubscribed: Count,
        }),
      )
      .max(maxTimelineBuckets)
      .openapi({ description: 'The oldest first. Buckets in which nothing happened are left out.' }),
  })
  .openapi('CampaignTimeline')

export const getCampaignTimeline = operation({
  id: 'getCampaignTimeline',
  tag,
  method: 'get',
  path: '/v1/campaigns/{id}/timeline',
  summary: 'Retrieve the timeline of a campaign',
  description: `Splits the counts of the campaign's statistics by time. Each person counts once, at the first time, so the buckets add up to the statistics. An answer has at most ${maxTimelineBuckets} buckets.`,
  roles: roleCodes,
  params: IdParams('cmp'),
  query: z.object({
    interval: Interval.default('hour').openapi({
      description: 'The length of the buckets. An hour that occurs twice when clocks change is two buckets.',
    }),
    from: InstantFilter.optional().openapi({
      description: 'The minute from which on events count. By default all count.',
    }),
    to: InstantFilter.optional().openapi({
      description: 'The minute before which events count. By default all count.',
    }),
  }),
  response: CampaignTimeline,
})

export type TimelineRequest = z.output<typeof getCampaignTimeline.query>

export const CampaignLink = z
  .object({
    position: Count.openapi({ description: 'The number of the link in the campaign, from 0. It never changes.' }),
    url: z.string().openapi({ example: 'https://example.com/tickets' }),
    languages: z
      .array(LanguageCode)
      .max(languages.length)
      .openapi({
        description:
          'The languages whose message has the link. Empty for a link that only messages of an earlier start have.',
        example: ['en', 'da'],
      }),
    clicks: Count.openapi({
      description: `Clicks by people, also repeated ones: at most ${maxClicksPerPerson} of each person.`,
    }),
    people: Count.openapi({ description: 'People who clicked the link.' }),
    machine_clicked: Count.openapi({ description: 'Messages in which a program followed the link.' }),
  })
  .openapi('CampaignLink')

const listLinksQuery = listQuery({
  ordering: ['position', 'clicks', 'people'],
  filters: {
    language: LanguageInput.optional().openapi({
      description: 'Only links of the message in this language. `position` then orders them as that message does.',
    }),
  },
})
export type LinkQuery = ListRequest<typeof listLinksQuery>

export const listCampaignLinks = operation({
  id: 'listCampaignLinks',
  tag,
  method: 'get',
  path: '/v1/campaigns/{id}/links',
  summary: 'List links of a campaign',
  description:
    "Lists the links in the order of the message in the edition's default language, and then links that only other languages have. Empty until the campaign starts. Links whose address contains variables are not counted and not listed.",
  roles: roleCodes,
  params: IdParams('cmp'),
  query: listLinksQuery,
  response: ListPage(CampaignLink),
})

const CreateSegmentFromCampaign = z.object({
  name: RequiredText(maxSegmentNameLength),
  description: z.string().trim().max(maxDescriptionLength).default(''),
  state: z.enum(endStates).optional(),
  reason: z.enum(recipientReasons).optional(),
  engagement: z.enum(engagements).optional(),
  link: z.int().min(0).max(maxLinkPosition).optional().openapi({
    description: 'The `position` of a link: only recipients who clicked it, or with `not_clicked` those who did not.',
  }),
  communication_type: z.enum(communicationTypes).optional().openapi({
    description: "By default the type of the campaign's segment.",
  }),
  communication_channel: z.enum(channels).optional().openapi({ description: "By default the campaign's channel." }),
})

export type CreateSegmentFromCampaignInput = z.output<typeof CreateSegmentFromCampaign>

export const createSegmentFromCampaign = operation({
  id: 'createSegmentFromCampaign',
  tag,
  method: 'post',
  path: '/v1/campaigns/{id}/segments',
  summary: 'Create a segment from a campaign',
  description:
    'Creates a segment of the recipients that `state`, `reason`, `engagement` and `link` select as they do in the list of recipients; without them of all. The expression holds for exactly these people, also for those who open or click later. As in every segment, people without consent or a working address are not members. If the recipients may belong to several editions, the segment belongs to the organisation, and you need a role there.',
  roles: managers,
  status: 201,
  params: IdParams('cmp'),
  body: CreateSegmentFromCampaign,
  example: { name: 'Did not open Early birds', engagement: 'not_opened' },
  response: Segment,
  errors: ['campaign_not_started', 'edition_archived'],
})
