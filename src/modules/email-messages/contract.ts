import { z } from '@hono/zod-openapi'
import { roleCodes, managers } from '../../domain/accounts/access.ts'
import { emailMessageScopes } from '../../domain/messaging/email-messages.ts'
import { IdParams } from '../../http/fields.ts'
import { action, operation } from '../../http/operations/operation.ts'
import { ListPage, type ListRequest, IdFilter, listQuery } from '../../http/requests/list-query.ts'
import {
  AdoptEmailMessage,
  CreateEmailMessage,
  DuplicateEmailMessage,
  EmailMessageDetail,
  EmailMessageWithWarnings,
  EmailMessageItem,
  EmailPreview,
  MessageType,
  PreviewEmailMessage,
  TemplateVariables,
  UpdateEmailMessage,
} from './message-contract.ts'

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

export type EmailMessageQuery = ListRequest<typeof listEmailMessagesQuery>

export const listEmailMessages = operation({
  id: 'listEmailMessages',
  tag,
  method: 'get',
  path: '/v1/email-messages',
  summary: 'List email messages',
  description:
    "Newest first. Every role of an organisation sees its templates and those of the platform. With `organization_id`, the list includes the platform's messages unless you also filter by `scope`.",
  roles: roleCodes,
  query: listEmailMessagesQuery,
  response: ListPage(EmailMessageItem),
})

export const createEmailMessage = operation({
  id: 'createEmailMessage',
  tag,
  method: 'post',
  path: '/v1/email-messages',
  summary: 'Create an email message',
  description:
    'The message has no blocks yet: add them with an update. To create a template of the organisation you need a role in the whole organisation.',
  roles: managers,
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
  description: 'Includes all blocks.',
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
    "Fields that you leave out stay the same. `blocks` replaces the whole content. Errors in templates state the line and the column. If a campaign is about to send the message and could not send it after the change, you get 409 `email_message_in_use` with the reasons in `errors`. The platform's messages are read-only.",
  roles: managers,
  params: IdParams('eml'),
  body: UpdateEmailMessage,
  example: {
    subject: { en: 'Your order {{ order.number }}' },
    blocks: [{ type: 'rich_text', data: { text: { en: '<p>Hello {{ customer.first_name }}</p>' } } }],
  },
  response: EmailMessageWithWarnings,
  errors: ['edition_archived', 'email_message_in_use', 'email_message_locked'],
})

export const deleteEmailMessage = operation({
  id: 'deleteEmailMessage',
  tag,
  method: 'delete',
  path: '/v1/email-messages/{id}',
  summary: 'Delete an email message',
  description:
    'You cannot delete a message that is used by an edition, a trigger, or a campaign that is a draft, scheduled or running: the 409 names them. Campaigns that have ended keep their own copy.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('eml'),
  errors: ['edition_archived', 'email_message_in_use', 'email_message_locked'],
})

export const adoptEmailMessage = operation({
  id: 'adoptEmailMessage',
  tag,
  ...action('/v1/email-messages', 'eml', 'adopt'),
  summary: 'Adopt an email message',
  description:
    'Copies a template of the organisation or of the platform into an edition. If it is a receipt or a refund confirmation, the edition sends the copy from then on, unless it already sends one of another type: `receipt_online` does not replace `receipt`.',
  roles: managers,
  status: 201,
  body: AdoptEmailMessage,
  example: { edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' },
  response: EmailMessageDetail,
  errors: ['edition_archived', 'email_message_not_template'],
})

export const duplicateEmailMessage = operation({
  id: 'duplicateEmailMessage',
  tag,
  ...action('/v1/email-messages', 'eml', 'duplicate'),
  summary: 'Duplicate an email message',
  description:
    'Copies the message into an edition of the same organisation, or makes the copy a template of the organisation.',
  roles: managers,
  status: 201,
  body: DuplicateEmailMessage,
  example: { title: 'Receipt for next year' },
  response: EmailMessageDetail,
  errors: ['edition_archived'],
})

export const previewEmailMessage = operation({
  id: 'previewEmailMessage',
  tag,
  ...action('/v1/email-messages', 'eml', 'preview'),
  summary: 'Preview an email message',
  description:
    'Renders the message as it is, or with the blocks, the subject and the preheader that you send. Nothing is saved. Show `html` in a frame with the `sandbox` attribute.',
  roles: roleCodes,
  scope: 'read',
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
    'Use the fields of a list in a loop: `{% for item in order.items %}{{ item.name }}{% endfor %}` writes the name of every item.',
  roles: roleCodes,
  response: TemplateVariables,
})
