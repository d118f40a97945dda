import { z } from '@hono/zod-openapi'
import { managers } from '../../domain/accounts/access.ts'
import { languages } from '../../domain/languages.ts'
import { maxTestMessages, maxTestRecipients } from '../../domain/messaging/test-messages.ts'
import { AccountEmail, Count, distinct, Id, KnownEmail, LanguageCode, LanguageInput } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { emailStateFields } from '../transactional-emails/index.ts'

const SendTestMessage = z
  .object({
    to: distinct(AccountEmail, 1, maxTestRecipients).openapi({
      description: 'Addresses of members with a role in the edition or in the whole organisation.',
      example: ['ingrid@example.dk'],
    }),
    languages: distinct(LanguageInput, 1, languages.length)
      .optional()
      .openapi({
        description:
          'One message is sent in each. By default in the language of the customer, otherwise in the default language of the edition.',
        example: ['en', 'da'],
      }),
    user_id: Id('usr').nullable().optional().openapi({
      description: 'A customer whose name and contact data the message shows. Null: sample values.',
    }),
  })
  .openapi('SendTestMessage')

export const TestMessages = z
  .object({
    emails: z
      .array(
        z.object({
          recipient: KnownEmail,
          language: LanguageCode,
          text_language: LanguageCode.nullable().openapi({
            description: 'The language of the texts, which differs where `language` lacks some. Null if not rendered.',
          }),
          subject: z.string(),
          ...emailStateFields,
          error_code: z.string().nullable().openapi({
            description:
              'Why the message is not sent: `suppressed` or `render_failed`. `provider_not_configured`: it waits for a provider. Null otherwise.',
          }),
          error_detail: z.string(),
        }),
      )
      .openapi({ description: 'A row for each address and language.' }),
    remaining: Count.max(maxTestMessages).openapi({
      description: `How many of the ${maxTestMessages} test messages an hour the organisation has left.`,
    }),
  })
  .openapi('TestMessages')

export type SendTestMessageInput = z.output<typeof SendTestMessage>

const description =
  'Sends the message as it is now to members, marked `[Test]`. Its links to unsubscribe and to preferences open an example page and change nothing, and it counts in no statistics. `emails` says for each address why nothing is sent to it.'

const shared = {
  roles: managers,
  body: SendTestMessage,
  example: { to: ['ingrid@example.dk'], languages: ['en', 'da'] },
  agentAccess: 'confirm',
  response: TestMessages,
} as const

export const sendTestMessage = operation({
  id: 'sendTestMessage',
  tag: 'Email Messages',
  ...action('/v1/email-messages', 'eml', 'send-test'),
  summary: 'Send a test of an email message',
  description,
  ...shared,
  errors: ['edition_archived', 'test_limit_reached'],
})

export const sendTestCampaign = operation({
  id: 'sendTestCampaign',
  tag: 'Campaigns',
  ...action('/v1/campaigns', 'cmp', 'send-test'),
  summary: 'Send a test of a campaign',
  description: `${description} Campaigns of every status can be tested, and only e-mail campaigns.`,
  ...shared,
  errors: ['campaign_not_ready', 'edition_archived', 'sms_test_unavailable', 'test_limit_reached'],
})
