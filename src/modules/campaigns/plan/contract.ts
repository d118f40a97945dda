import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import { skipReasons } from '../../../domain/campaigns/sending-policy.ts'
import { maxConditions } from '../../../domain/email/blocks/conditions.ts'
import { languages } from '../../../domain/languages.ts'
import { currencies } from '../../../domain/money.ts'
import { Amount, Count, IdParams, LanguageCode, orNull, Timestamp } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { FieldProblem } from '../../../http/problem.ts'
import { CampaignRecipient } from '../contract.ts'

const SkippedPeople = z.object({
  reason: z.enum(skipReasons),
  people: Count,
  examples: z
    .array(CampaignRecipient.pick({ user: true, address: true }))
    .openapi({ description: 'Up to three of these people.' }),
})

const PlannedAudience = z
  .object({
    is_estimate: z.boolean().openapi({
      description:
        'False: the counts are exact. True: they are extrapolated from some of the people, because there are more than 50,000 or testing them takes longer than two seconds.',
    }),
    people: Count.openapi({
      description: 'People in the segment: the sum of `recipients`, `skipped`, `sent_before` and `failed_before`.',
    }),
    recipients: Count.openapi({ description: 'People who would get the message.' }),
    skipped: Count.openapi({ description: 'People who would be skipped.' }),
    sent_before: Count.openapi({ description: 'People who got the message from an earlier start. They get nothing.' }),
    failed_before: Count.openapi({
      description: 'Recipients of an earlier start who failed for a reason that does not pass. They get nothing.',
    }),
    skipped_by_reason: z
      .array(SkippedPeople)
      .max(skipReasons.length)
      .openapi({ description: 'Splits `skipped`, with the reasons of the list of recipients.' }),
    languages: z
      .array(
        z.object({
          language: LanguageCode,
          text_language: orNull(LanguageCode).openapi({
            description:
              'The language of the text that these recipients get: another one where texts are missing. Null while nothing is written.',
          }),
          recipients: Count,
          sms_parts: Count.openapi({ description: 'The parts of all their SMS. 0 for e-mails.' }),
        }),
      )
      .max(languages.length)
      .openapi({ description: 'Splits `recipients` by the languages of the edition.' }),
    other_languages: z
      .array(
        z.object({
          language: orNull(LanguageCode).openapi({ description: 'Null for people whose language is not known.' }),
          recipients: Count,
        }),
      )
      .max(languages.length + 1)
      .openapi({
        description:
          'Recipients whose own language the edition does not have. They get its default language and are counted there.',
      }),
    conditions: orNull(z.array(z.object({ condition: z.string(), recipients: Count })).max(maxConditions)).openapi({
      description:
        "The conditions of the message's blocks, each with the recipients who would see these blocks. Null when one cannot be evaluated; `faults` says why.",
    }),
    sms_parts: Count.openapi({
      description: 'The number of SMS that are sent and billed, with the names of the recipients. 0 for e-mails.',
    }),
  })
  .openapi('CampaignPlanAudience')

export const CampaignPlan = z
  .object({
    faults: z.array(FieldProblem).openapi({
      description: 'Everything that would stop the campaign now. Empty: it can be sent.',
    }),
    warnings: z.array(FieldProblem).openapi({ description: 'The warnings with which it would be sent.' }),
    audience: orNull(PlannedAudience).openapi({
      description: 'Null when the segment cannot be evaluated for this campaign; `faults` says why.',
    }),
    cost: orNull(z.object({ amount: Amount(37.5), currency: z.enum(currencies) })).openapi({
      description:
        'The price of `sms_parts` at the `sms_price` of the organisation. Null without a price, and for e-mails.',
    }),
    sending: orNull(
      z.object({
        messages_per_call: Count,
        calls: Count,
        calls_per_second: z.number(),
        seconds: Count.openapi({
          description: '`calls` / `calls_per_second`. Time outside the send window is not counted.',
        }),
        window_opens_at: Timestamp.nullable().openapi({
          description: 'When the send window of the campaign opens. Null while it is open, and without one.',
        }),
      }),
    ).openapi({
      description:
        'How long the provider needs for all recipients, at the number of calls that it states to allow, and at most at 32 a second: 16 at once of half a second each. Other campaigns at the same time make it longer. Null without a provider or an audience.',
    }),
  })
  .openapi('CampaignPlan')

export const planCampaign = operation({
  id: 'planCampaign',
  tag: 'Campaigns',
  method: 'get',
  path: '/v1/campaigns/{id}/plan',
  summary: 'Plan a campaign',
  description:
    'Says what `send-now` would do now, and changes nothing: who would get the message, who would be skipped and why, what would stop the campaign, what its SMS cost and how long sending takes. The people are those for whom the expression of the segment holds at this moment. A campaign that cannot be started in its status is 409 `invalid_transition`.',
  roles: managers,
  params: IdParams('cmp'),
  response: CampaignPlan,
  errors: ['invalid_transition'],
})
