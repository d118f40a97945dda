import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import { addWarnings } from '../../http/operations/warnings.ts'
import * as contract from './contract.ts'
import { adoptEmailMessage, duplicateEmailMessage } from './copies.ts'
import { createEmailMessage } from './create.ts'
import { deleteEmailMessage } from './delete.ts'
import { listEmailMessages } from './list.ts'
import { presentMessage, presentMessageItem, presentVariables } from './present.ts'
import { previewEmailMessage } from './preview.ts'
import { findMessage, findReadableMessage } from './queries.ts'
import { updateEmailMessage } from './update.ts'

export const emailMessageRoutes = createRouter()

mountList(emailMessageRoutes, contract.listEmailMessages, {
  list: listEmailMessages,
  present: presentMessageItem,
})

mount(emailMessageRoutes, contract.createEmailMessage, {
  target: (body) => body,
  handle: (ctx, { body }) => createEmailMessage(ctx, body),
  present: presentMessage,
  location: ({ id }) => `/v1/email-messages/${id}`,
})

// Registered before the single message, whose path would match it as an id.
mount(emailMessageRoutes, contract.listTemplateVariables, {
  handle: async () => undefined,
  present: presentVariables,
  maxAge: 300,
})

mount(emailMessageRoutes, contract.getEmailMessage, {
  load: (ctx, { id }) => findReadableMessage(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentMessage,
})

mount(emailMessageRoutes, contract.updateEmailMessage, {
  load: (ctx, { id }) => findMessage(ctx, id),
  handle: (ctx, { resource, body }) => updateEmailMessage(ctx, resource, body),
  present: presentMessage,
  sign: addWarnings,
})

mount(emailMessageRoutes, contract.deleteEmailMessage, {
  load: (ctx, { id }) => findMessage(ctx, id),
  handle: (ctx, { resource }) => deleteEmailMessage(ctx, resource),
  represent: (resource, ctx) => presentMessage(resource, ctx),
})

// The verb checks the role in the tenant of the copy.
mount(emailMessageRoutes, contract.adoptEmailMessage, {
  load: (ctx, { id }) => findReadableMessage(ctx, id),
  handle: (ctx, { resource, body }) => adoptEmailMessage(ctx, resource, body),
  present: presentMessage,
  location: ({ id }) => `/v1/email-messages/${id}`,
})

mount(emailMessageRoutes, contract.duplicateEmailMessage, {
  load: (ctx, { id }) => findReadableMessage(ctx, id),
  handle: (ctx, { resource, body }) => duplicateEmailMessage(ctx, resource, body),
  present: presentMessage,
  location: ({ id }) => `/v1/email-messages/${id}`,
})

mount(emailMessageRoutes, contract.previewEmailMessage, {
  load: (ctx, { id }) => findReadableMessage(ctx, id),
  handle: (ctx, { resource, body }) => previewEmailMessage(ctx, resource, body),
  present: (preview) => preview,
})
