import { z } from '@hono/zod-openapi'
import { maxPreheaderLength, maxSubjectLength } from '../../domain/email/blocks/blocks.ts'
import { maxConditions } from '../../domain/email/blocks/conditions.ts'
import { variableCategories } from '../../domain/email/liquid/variables.ts'
import {
  emailMessageScopes,
  emailMessageTypes,
  emailTemplates,
  maxTitleLength,
} from '../../domain/messaging/email-messages.ts'
import { maxExpressionLength } from '../../domain/segments.ts'
import {
  Count,
  distinct,
  EditionSummary,
  Id,
  JsonObject,
  LanguageCode,
  LanguageInput,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
  Translated,
} from '../../http/fields.ts'
import { ApprovalWarnings } from '../../http/operations/warnings.ts'
import { Blocks, BlocksInput } from './block-contract.ts'

/** Roles that may write messages. Templates of the organisation need a role in the whole organisation. */

export const MessageType = z.enum(emailMessageTypes)
const MessageTemplate = z.enum(emailTemplates)

const Subject = Translated(maxSubjectLength).openapi({
  description: 'One line for each language. May contain Liquid.',
  example: { en: 'Your order {{ order.number }}', da: 'Din ordre {{ order.number }}' },
})

const Preheader = Translated(maxPreheaderLength).openapi({
  description:
    'The line that inboxes show after the subject, for each language. May contain Liquid. Without it, they show the beginning of the message.',
  example: { en: 'Doors open at 17:00', da: 'Dørene åbner kl. 17' },
})

export const EmailMessageItem = z
  .object({
    id: Id('eml'),
    title: RequiredText(maxTitleLength).openapi({ example: 'Receipt' }),
    type: MessageType,
    scope: z.enum(emailMessageScopes),
    template: MessageTemplate,
    locked: z.boolean(),
    organization: orNull(OrganizationSummary).openapi({ description: "Null for the platform's messages." }),
    edition: orNull(EditionSummary).openapi({
      description: 'Null for a template of the organisation or of the platform.',
    }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('EmailMessageList')

export const EmailMessageDetail = EmailMessageItem.extend({
  subject: z.string().openapi({
    description: 'The subject in the default language of the edition (or in English) with sample values.',
    example: 'Your order 100234',
  }),
  subject_translations: Subject,
  preheader: Preheader,
  blocks: Blocks,
}).openapi('EmailMessageDetail')

export const EmailMessageWithWarnings = EmailMessageDetail.extend({ warnings: ApprovalWarnings }).openapi(
  'EmailMessageWithWarnings',
)

export const CreateEmailMessage = z.object({
  organization_id: Id('org'),
  title: RequiredText(maxTitleLength),
  subject: Subject,
  preheader: Preheader.default({}),
  type: MessageType,
  edition_id: Id('edt').nullable().optional(),
  scope: z.enum(['template', 'edition']).default('edition').openapi({
    description:
      '`template`: the message belongs to the whole organisation and has no `edition_id`. `edition`: it belongs to the edition in `edition_id`.',
  }),
  template: MessageTemplate.default('modern'),
})

export const UpdateEmailMessage = z.object({
  title: RequiredText(maxTitleLength).optional(),
  subject: Subject.optional(),
  preheader: Preheader.optional(),
  type: MessageType.optional(),
  template: MessageTemplate.optional(),
  blocks: BlocksInput.optional(),
})

export const AdoptEmailMessage = z.object({
  edition_id: Id('edt'),
  title: RequiredText(maxTitleLength).optional().openapi({ description: 'When absent, the title of the template.' }),
})

export const DuplicateEmailMessage = z.object({
  edition_id: Id('edt')
    .nullable()
    .optional()
    .openapi({ description: 'When absent, the copy is a template of the organisation.' }),
  organization_id: Id('org').optional().openapi({
    description:
      'The organisation that gets the copy. Required when you copy a message of the platform without an `edition_id`.',
  }),
  title: RequiredText(maxTitleLength).optional(),
})

export const PreviewEmailMessage = z.object({
  mode: z.enum(['mjml', 'html']).default('mjml').openapi({
    description: '`mjml` renders the whole message as it is sent, `html` only its content.',
  }),
  language: LanguageInput.optional().openapi({ description: 'When absent, the default language of the edition.' }),
  context: JsonObject.optional().openapi({
    description: 'Values that replace the sample values of variables.',
    example: { customer: { first_name: 'Ægir' } },
  }),
  blocks: BlocksInput.optional(),
  subject: Subject.optional(),
  preheader: Preheader.optional(),
  user_id: Id('usr').optional().openapi({
    description: 'A customer: blocks whose condition does not hold for them are left out.',
  }),
  conditions: distinct(z.string().min(1).max(maxExpressionLength), 0, maxConditions).optional().openapi({
    description:
      'The conditions that hold, as they stand in the blocks. Blocks with another condition are left out. Without it and without `user_id`, the preview shows every block.',
  }),
})

export const EmailPreview = z
  .object({
    html: z.string(),
    subject: z.string(),
    preheader: z.string().openapi({ description: 'Empty when the message has none.' }),
    text: z.string(),
    language: LanguageCode.openapi({
      description:
        'The language of the whole message: the one you requested, or another one if texts are missing in it.',
    }),
    size_bytes: Count.openapi({ description: 'Size of the HTML. Gmail cuts messages off after 102,000 bytes.' }),
    missing_translations: z.array(
      z.object({
        pointer: z.string().openapi({ example: '#/blocks/0/data/text' }),
        language: LanguageCode,
        fallback: LanguageCode.nullable().openapi({
          description: 'The language of the text that replaces it; null when no other language has the text.',
        }),
      }),
    ),
    unknown_variables: z.array(
      z.object({
        variable: z.string().openapi({ example: 'customer.firstname' }),
        suggestion: z.string().nullable().openapi({
          description: 'The most similar known variable; null when none is similar.',
          example: 'customer.first_name',
        }),
      }),
    ),
  })
  .openapi('EmailPreview')

export const TemplateVariables = z
  .object({
    categories: z.array(
      z.object({
        name: z.enum(variableCategories as [string, ...string[]]),
        variables: z.array(
          z.object({
            variable: z.string().openapi({ example: 'customer.first_name' }),
            description: z.string(),
            sample: z.string().openapi({ example: 'Astrid' }),
            list: z.string().optional().openapi({
              description: 'For a field of a list: the list.',
              example: 'order.items',
            }),
            name: z.string().optional().openapi({
              description: 'For a field of a list: what to write inside the loop.',
              example: 'item.name',
            }),
            loop: z.string().optional().openapi({
              description: 'For a field of a list: a loop that writes it for every item.',
              example: '{% for item in order.items %}{{ item.name }}{% endfor %}',
            }),
            message_types: z.array(MessageType).optional().openapi({
              description: 'The types of messages that can use it. When absent, all can.',
            }),
          }),
        ),
      }),
    ),
  })
  .openapi('TemplateVariables')

export type CreateEmailMessageInput = z.output<typeof CreateEmailMessage>
export type UpdateEmailMessageInput = z.output<typeof UpdateEmailMessage>
export type AdoptEmailMessageInput = z.output<typeof AdoptEmailMessage>
export type DuplicateEmailMessageInput = z.output<typeof DuplicateEmailMessage>
export type PreviewEmailMessageInput = z.output<typeof PreviewEmailMessage>
export type EmailMessageItemOut = z.input<typeof EmailMessageItem>
export type EmailMessageDetailOut = z.input<typeof EmailMessageDetail>
