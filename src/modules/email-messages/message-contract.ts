import { z } from '@hono/zod-openapi'
import type { RoleCode } from '../../domain/accounts/access.ts'
import { maxSubjectLength } from '../../domain/email/blocks/blocks.ts'
import { categories } from '../../domain/email/liquid/variables.ts'
import {
  emailMessageScopes,
  emailMessageTypes,
  emailTemplates,
  maxTitleLength,
} from '../../domain/messaging/email-messages.ts'
import {
  Count,
  EditionSummary,
  Id,
  JsonObject,
  LanguageCode,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
  Translated,
} from '../../http/fields.ts'
import { Blocks, BlocksInput } from './block-contract.ts'

/** The roles that may write messages. Those of the organisation need a role in the organisation. */
export const writers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']

export const MessageType = z.enum(emailMessageTypes)
const MessageTemplate = z.enum(emailTemplates)

const Subject = Translated(maxSubjectLength).openapi({
  description: 'By language, one line each; may hold Liquid.',
  example: { en: 'Your order {{ order.number }}', da: 'Din ordre {{ order.number }}' },
})

export const EmailMessageItem = z
  .object({
    id: Id('eml'),
    title: RequiredText(maxTitleLength).openapi({ example: 'Receipt' }),
    type: MessageType,
    scope: z.enum(emailMessageScopes),
    template: MessageTemplate,
    locked: z.boolean(),
    organization: orNull(OrganizationSummary).openapi({ description: "Null for the platform's own." }),
    edition: orNull(EditionSummary).openapi({
      description: 'Null for a message of the whole organisation, or of the platform.',
    }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('EmailMessageList')

export const EmailMessageDetail = EmailMessageItem.extend({
  subject: z.string().openapi({
    description: 'In the default language of the edition, else in English, with sample values.',
    example: 'Your order 100234',
  }),
  subject_translations: Subject,
  blocks: Blocks,
}).openapi('EmailMessageDetail')

export const CreateEmailMessage = z.object({
  organization_id: Id('org'),
  title: RequiredText(maxTitleLength),
  subject: Subject,
  type: MessageType,
  edition_id: Id('edt').nullable().optional(),
  scope: z.enum(['template', 'edition']).default('edition').openapi({
    description: '`template` is for the whole organisation and has no `edition_id`; `edition` needs one.',
  }),
  template: MessageTemplate.default('modern'),
})

export const UpdateEmailMessage = z.object({
  title: RequiredText(maxTitleLength).optional(),
  subject: Subject.optional(),
  type: MessageType.optional(),
  template: MessageTemplate.optional(),
  blocks: BlocksInput.optional(),
})

export const AdoptEmailMessage = z.object({
  edition_id: Id('edt'),
  title: RequiredText(maxTitleLength).optional().openapi({ description: "The template's own when absent." }),
})

export const DuplicateEmailMessage = z.object({
  edition_id: Id('edt').nullable().optional().openapi({ description: 'Without it the copy is of the organisation.' }),
  organization_id: Id('org').optional().openapi({
    description: "Whose copy it is; needed for copies of the platform's messages that are of no edition.",
  }),
  title: RequiredText(maxTitleLength).optional(),
})

export const PreviewEmailMessage = z.object({
  mode: z.enum(['mjml', 'html']).default('mjml').openapi({
    description: '`mjml` is the whole message as it is sent, `html` its content alone.',
  }),
  language: LanguageCode.optional().openapi({ description: 'The default language when absent.' }),
  context: JsonObject.optional().openapi({
    description: 'Values for variables. They replace sample values.',
    example: { customer: { first_name: 'Ægir' } },
  }),
  blocks: BlocksInput.optional(),
  subject: Subject.optional(),
})

export const EmailPreview = z
  .object({
    html: z.string(),
    subject: z.string(),
    text: z.string(),
    language: LanguageCode.openapi({
      description:
        'The language that all of the message is in: the requested one, or the one that replaces it where texts are missing.',
    }),
    size_bytes: Count.openapi({ description: 'Of the HTML. Gmail cuts messages off after 102,000.' }),
    missing_translations: z.array(
      z.object({
        pointer: z.string().openapi({ example: '#/blocks/0/data/text' }),
        language: LanguageCode,
        fallback: LanguageCode.nullable().openapi({ description: 'What is read instead; null when nothing is.' }),
      }),
    ),
    unknown_variables: z.array(
      z.object({
        variable: z.string().openapi({ example: 'customer.firstname' }),
        suggestion: z.string().nullable().openapi({
          description: 'The known name that is most like it; null when none is.',
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
        name: z.enum(categories as [string, ...string[]]),
        variables: z.array(
          z.object({
            variable: z.string().openapi({ example: 'customer.first_name' }),
            description: z.string(),
            sample: z.string().openapi({ example: 'Astrid' }),
            list: z.string().optional().openapi({
              description: 'Of a field of a list: the list that it is a field of.',
              example: 'order.items',
            }),
            name: z.string().optional().openapi({
              description: 'Of a field of a list: its name inside of `loop`.',
              example: 'item.name',
            }),
            loop: z.string().optional().openapi({
              description: 'Of a field of a list: the loop that puts it out for each item.',
              example: '{% for item in order.items %}{{ item.name }}{% endfor %}',
            }),
            message_types: z.array(MessageType).optional().openapi({
              description: 'The only types of messages that may use it; all where this is absent.',
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
