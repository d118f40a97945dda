import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../domain/accounts/access.ts'
import { emailMessageScopes } from '../../domain/messaging/email-messages.ts'
import { IdParams } from '../../http/fields.ts'
import { ListPage, type ListFilters, IdFilter, listQuery } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'
import {
  AdoptEmailMessage,
  CreateEmailMessage,
  DuplicateEmailMessage,
  EmailMessageDetail,
  EmailMessageItem,
  EmailPreview,
  MessageType,
  PreviewEmailMessage,
  TemplateVariables,
  UpdateEmailMessage,
  writers,
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

export type EmailMessageFilters = ListFilters<typeof listEmailMessagesQuery>
export type EmailMessageOrdering = z.output<typeof listEmailMessagesQuery>['ordering']

export const listEmailMessages = operation({
  id: 'listEmailMessages',
  tag,
  method: 'get',
  path: '/v1/email-messages',
  summary: 'List email messages',
  description:
    "Newest first. The organisation's templates and the platform's messages are seen by all its roles: `organization_id` lists the platform's too, unless `scope` says otherwise.",
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
    "Fields that are left out stay; `blocks` replaces the whole content. Errors in templates have line and column. A message that a campaign is about to send stays one that can be sent: 409 `email_message_in_use` has the faults in `errors`. The platform's messages are read-only.",
  roles: writers,
  params: IdParams('eml'),
  body: UpdateEmailMessage,
  example: {
    subject: { en: 'Your order {{ order.number }}' },
    blocks: [{ type: 'rich_text', data: { text: { en: '<p>Hello {{ customer.first_name }}</p>' } } }],
  },
  response: EmailMessageDetail,
  errors: ['edition_archived', 'email_message_in_use', 'email_message_locked'],
})

export const deleteEmailMessage = operation({
  id: 'deleteEmailMessage',
  tag,
  method: 'delete',
  path: '/v1/email-messages/{id}',
  summary: 'Delete an email message',
  description:
    'With its blocks. A message that an edition or its trigger uses, or a campaign that is a draft, scheduled or running, stays: 409 names them. Campaigns that are over keep their own copy.',
  roles: writers,
  status: 204,
  params: IdParams('eml'),
  errors: ['edition_archived', 'email_message_in_use', 'email_message_locked'],
})

export const adoptEmailMessage = operation({
  id: 'adoptEmailMessage',
  tag,
  method: 'post',
  path: '/v1/email-messages/{id}/adopt',
  summary: 'Adopt an email message',
  description:
    "Copies a template of the organisation or of the platform into an edition. A receipt or a confirmation of refunds becomes the edition's own at once, unless the edition sends one of another type: `receipt_online` does not replace `receipt`.",
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
