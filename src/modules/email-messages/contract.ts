import { z } from '@hono/zod-openapi'
import { roleCodes, type RoleCode } from '../../domain/access.ts'
import { categories } from '../../domain/email/variables.ts'
import { maxSubjectLength } from '../../domain/email/blocks.ts'
import { emailMessageScopes, emailMessageTypes, emailTemplates, maxTitleLength } from '../../domain/email-messages.ts'
import {
  EditionSummary,
  Id,
  IdParams,
  JsonObject,
  LanguageCode,
  OrganizationSummary,
  orNull,
  RequiredText,
  Timestamp,
  Translated,
} from '../../http/fields.ts'
import { envelope, IdFilter, listQuery } from '../../http/list-query.ts'
import { operation } from '../../http/operation.ts'
import { Blocks, BlocksInput } from './block-contract.ts'

/** Who writes messages; those of the organisation need a role there. */
export const writers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']

const MessageType = z.enum(emailMessageTypes)
const MessageTemplate = z.enum(emailTemplates)

const Subject = Translated(maxSubjectLength).openapi({
  description: 'By language, one line each; may hold Liquid.',
  example: { en: 'Your order {{ order.number }}', da: 'Din ordre {{ order.number }}' },
})

const EmailMessageItem = z
  .object({
    id: Id('eml'),
    title: z.string().openapi({ example: 'Receipt' }),
    type: MessageType,
    scope: z.enum(emailMessageScopes),
    template: MessageTemplate,
    locked: z.boolean(),
    organization: orNull(OrganizationSummary).openapi({ description: "Null for the platform's own." }),
    edition: orNull(EditionSummary),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('EmailMessageList')

const EmailMessageDetail = EmailMessageItem.extend({
  subject: z.string().openapi({
    description: 'In the default language of the edition, else in English, with sample values.',
    example: 'Your order 100234',
  }),
  subject_translations: Subject,
  blocks: Blocks,
}).openapi('EmailMessageDetail')

const CreateEmailMessage = z.object({
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

const UpdateEmailMessage = z.object({
  title: RequiredText(maxTitleLength).optional(),
  subject: Subject.optional(),
  type: MessageType.optional(),
  template: MessageTemplate.optional(),
  blocks: BlocksInput.optional(),
})

const AdoptEmailMessage = z.object({
  edition_id: Id('edt'),
  title: RequiredText(maxTitleLength).optional().openapi({ description: "The template's own when absent." }),
})

const DuplicateEmailMessage = z.object({
  edition_id: Id('edt').nullable().optional().openapi({ description: 'Without it the copy is of the organisation.' }),
  organization_id: Id('org').optional().openapi({
    description: "Whose copy it is; needed for copies of the platform's messages that are of no edition.",
  }),
  title: RequiredText(maxTitleLength).optional(),
})

const PreviewEmailMessage = z.object({
  mode: z.enum(['mjml', 'html']).default('mjml').openapi({
    description: '`mjml` is the whole message as it is sent, `html` its content alone.',
  }),
  language: LanguageCode.optional().openapi({ description: 'The default language when absent.' }),
  context: JsonObject.optional().openapi({
    description: 'Values for variables, laid over sample values.',
    example: { customer: { first_name: 'Ægir' } },
  }),
  blocks: BlocksInput.optional(),
  subject: Subject.optional(),
})

const EmailPreview = z
  .object({
    html: z.string(),
    subject: z.string(),
    text: z.string(),
    size_bytes: z.int().openapi({ description: 'Of the HTML. Gmail cuts messages off after 102,000.' }),
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
        suggestion: z.string().nullable().openapi({ example: 'customer.first_name' }),
      }),
    ),
  })
  .openapi('EmailPreview')

const TemplateVariables = z
  .object({
    categories: z.array(
      z.object({
        name: z.enum(categories as [string, ...string[]]),
        variables: z.array(
          z.object({
            variable: z.string().openapi({ example: 'customer.first_name' }),
            description: z.string(),
            sample: z.string().openapi({ example: 'Astrid' }),
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

const tag = 'Email Messages' as const

const listEmailMessagesQuery = listQuery({
  ordering: ['created', 'modified', 'title'],
  filters: {
    edition_id: IdFilter.optional(),
    organization_id: IdFilter.optional(),
    type: MessageType.optional(),
    scope: z.enum(emailMessageScopes).optional(),
  },
})

export type EmailMessageFilters = Omit<
  z.output<typeof listEmailMessagesQuery>,
  'ordering' | 'page' | 'page_size' | 'cursor'
>
export type EmailMessageOrdering = z.output<typeof listEmailMessagesQuery>['ordering']

export const listEmailMessages = operation({
  id: 'listEmailMessages',
  tag,
  method: 'get',
  path: '/v1/email-messages',
  summary: 'List email messages',
  description: "Newest first. The organisation's templates and the platform's messages are seen by all its roles.",
  roles: roleCodes,
  query: listEmailMessagesQuery,
  response: envelope(EmailMessageItem),
})

export const createEmailMessage = operation({
  id: 'createEmailMessage',
  tag,
  method: 'post',
  path: '/v1/email-messages',
  summary: 'Create an email message',
  description: 'Without blocks: they come with an update. Templates of the organisation need a role there.',
  roles: writers,
  status: 201,
  body: CreateEmailMessage,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    title: 'Receipt',
    subject: { en: 'Your order {{ order.number }}' },
    type: 'receipt',
  },
  response: EmailMessageDetail,
  errors: ['edition_archived'],
})

export const getEmailMessage = operation({
  id: 'getEmailMessage',
  tag,
  method: 'get',
  path: '/v1/email-messages/{id}',
  summary: 'Retrieve an email message',
  description: 'With all its blocks.',
  roles: roleCodes,
  params: IdParams('eml'),
  response: EmailMessageDetail,
})

export const updateEmailMessage = operation({
  id: 'updateEmailMessage',
  tag,
  method: 'patch',
  path: '/v1/email-messages/{id}',
  summary: 'Update an email message',
  description:
    "Fields that are left out stay; `blocks` replaces the whole content. Errors in templates tell line and column. The platform's messages are read-only.",
  roles: writers,
  params: IdParams('eml'),
  body: UpdateEmailMessage,
  example: {
    subject: { en: 'Your order {{ order.number }}' },
    blocks: [{ type: 'rich_text', data: { text: { en: '<p>Hello {{ customer.first_name }}</p>' } } }],
  },
  response: EmailMessageDetail,
  errors: ['email_message_in_use', 'email_message_locked'],
})

export const deleteEmailMessage = operation({
  id: 'deleteEmailMessage',
  tag,
  method: 'delete',
  path: '/v1/email-messages/{id}',
  summary: 'Delete an email message',
  description: 'With its blocks. A message that an edition, a trigger or a campaign uses stays: 409 names them.',
  roles: writers,
  status: 204,
  params: IdParams('eml'),
  errors: ['email_message_in_use', 'email_message_locked'],
})

export const adoptEmailMessage = operation({
  id: 'adoptEmailMessage',
  tag,
  method: 'post',
  path: '/v1/email-messages/{id}/adopt',
  summary: 'Adopt an email message',
  description:
    "Copies a template of the organisation or of the platform into an edition. A receipt or a confirmation of refunds becomes the edition's own at once.",
  roles: writers,
  status: 201,
  params: IdParams('eml'),
  body: AdoptEmailMessage,
  example: { edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' },
  response: EmailMessageDetail,
  errors: ['edition_archived', 'email_message_not_template'],
})

export const duplicateEmailMessage = operation({
  id: 'duplicateEmailMessage',
  tag,
  method: 'post',
  path: '/v1/email-messages/{id}/duplicate',
  summary: 'Duplicate an email message',
  description: 'Into an edition of the same organisation, or as a template of the organisation.',
  roles: writers,
  status: 201,
  params: IdParams('eml'),
  body: DuplicateEmailMessage,
  example: { title: 'Receipt for next year' },
  response: EmailMessageDetail,
  errors: ['edition_archived'],
})

export const previewEmailMessage = operation({
  id: 'previewEmailMessage',
  tag,
  method: 'post',
  path: '/v1/email-messages/{id}/preview',
  summary: 'Preview an email message',
  description:
    'As it is, or with other blocks and another subject; nothing is saved. Show `html` in a frame with `sandbox`.',
  roles: roleCodes,
  scope: 'read',
  params: IdParams('eml'),
  body: PreviewEmailMessage,
  example: { language: 'da', context: { customer: { first_name: 'Ægir' } } },
  response: EmailPreview,
})

export const listTemplateVariables = operation({
  id: 'listTemplateVariables',
  tag,
  method: 'get',
  path: '/v1/email-messages/template-variables',
  summary: 'List the variables of templates',
  description:
    '`order.items[].name` is a field of the items of a list: `{% for item in order.items %}{{ item.name }}`.',
  roles: roleCodes,
  response: TemplateVariables,
})
