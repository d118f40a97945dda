import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import { addWarnings } from '../../http/operations/warnings.ts'
import { addOrganizationMember } from './add-member.ts'
import * as contract from './contract.ts'
import { createEvent } from './create-event.ts'
import { createOrganization } from './create.ts'
import { listEvents, listOrganizationMembers, listOrganizations } from './list.ts'
import { presentEvent, presentMember, presentOrganization } from './present.ts'
import { findEvent, findMember, findOrganization } from './queries.ts'
import { removeOrganizationMember } from './remove-member.ts'
import { updateEvent } from './update-event.ts'
import { updateOrganizationMember } from './update-member.ts'
import { updateOrganization } from './update.ts'

export const organizationRoutes = createRouter()

mountList(organizationRoutes, contract.listOrganizations, {
  list: listOrganizations,
  present: presentOrganization,
})

mount(organizationRoutes, contract.createOrganization, {
  handle: (ctx, { body }) => createOrganization(ctx, body),
  present: presentOrganization,
  location: ({ id }) => `/v1/organizations/${id}`,
})

mount(organizationRoutes, contract.getOrganization, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentOrganization,
})

mount(organizationRoutes, contract.updateOrganization, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: (ctx, { resource, body }) => updateOrganization(ctx, resource, body),
  present: presentOrganization,
  sign: addWarnings,
})

mountList(organizationRoutes, contract.listOrganizationMembers, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  list: listOrganizationMembers,
  present: presentMember,
})

mount(organizationRoutes, contract.addOrganizationMember, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: (ctx, { resource, body }) => addOrganizationMember(ctx, resource.id, body),
  present: presentMember,
})

mount(organizationRoutes, contract.getOrganizationMember, {
  load: (ctx, { id, member_id }) => findMember(ctx, id, member_id),
  handle: async (_, { resource }) => resource,
  present: presentMember,
})

mount(organizationRoutes, contract.updateOrganizationMember, {
  load: (ctx, { id, member_id }) => findMember(ctx, id, member_id),
  handle: (ctx, { resource, body }) => updateOrganizationMember(ctx, resource, body),
  present: presentMember,
})

mount(organizationRoutes, contract.removeOrganizationMember, {
  load: (ctx, { id, member_id }) => findMember(ctx, id, member_id),
  handle: (ctx, { resource }) => removeOrganizationMember(ctx, resource),
  represent: (resource) => presentMember(resource),
})

mountList(organizationRoutes, contract.listEvents, {
  list: listEvents,
  present: presentEvent,
})

mount(organizationRoutes, contract.createEvent, {
  target: (body) => body,
  handle: (ctx, { body }) => createEvent(ctx, body),
  present: presentEvent,
  location: ({ id }) => `/v1/events/${id}`,
})

mount(organizationRoutes, contract.getEvent, {
  load: (ctx, { id }) => findEvent(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentEvent,
})

mount(organizationRoutes, contract.updateEvent, {
  load: (ctx, { id }) => findEvent(ctx, id),
  handle: (ctx, { resource, body }) => updateEvent(ctx, resource, body),
  present: presentEvent,
  sign: addWarnings,
})
