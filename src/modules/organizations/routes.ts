import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import { addMember } from './add-member.ts'
import * as contract from './contract.ts'
import { createEvent } from './create-event.ts'
import { createOrganization } from './create.ts'
import { presentEvent, presentMember, presentOrganization } from './present.ts'
import { findMember, findOrganization, listEvents, listMembers, listOrganizations } from './queries.ts'
import { removeMember } from './remove-member.ts'
import { updateOrganization } from './update.ts'

export const organizations = createRouter()

mountList(organizations, contract.listOrganizations, {
  list: (ctx, { query, filters, page }) => listOrganizations(ctx, page, query.ordering, filters),
  present: presentOrganization,
})

mount(organizations, contract.createOrganization, {
  handle: (ctx, { body }) => createOrganization(ctx, body),
  present: presentOrganization,
  location: ({ id }) => `/v1/organizations/${id}`,
})

mount(organizations, contract.getOrganization, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentOrganization,
})

mount(organizations, contract.updateOrganization, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: (ctx, { loaded, body }) => updateOrganization(ctx, loaded, body),
  present: presentOrganization,
})

mountList(organizations, contract.listOrganizationMembers, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  list: (ctx, { loaded, query, page }) => listMembers(ctx, loaded.id, page, query),
  present: presentMember,
})

mount(organizations, contract.addOrganizationMember, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: (ctx, { loaded, body }) => addMember(ctx, loaded.id, body),
  present: presentMember,
})

mount(organizations, contract.removeOrganizationMember, {
  load: (ctx, { id, member_id }) => findMember(ctx, id, member_id),
  handle: (ctx, { loaded }) => removeMember(ctx, loaded),
  represent: (loaded) => presentMember(loaded),
})

mountList(organizations, contract.listEvents, {
  list: (ctx, { query, filters, page }) => listEvents(ctx, page, query.ordering, filters),
  present: presentEvent,
})

mount(organizations, contract.createEvent, {
  target: (body) => body,
  handle: (ctx, { body }) => createEvent(ctx, body),
  present: presentEvent,
})
