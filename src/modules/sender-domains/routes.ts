import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createSenderDomain } from './create.ts'
import { deleteSenderDomain } from './delete.ts'
import { presentSenderDomain } from './present.ts'
import { findOrganization, findSenderDomain, listSenderDomains } from './queries.ts'
import { verifySenderDomain } from './verify.ts'

export { devDns } from './dev-routes.ts'

export const senderDomains = createRouter()

mountList(senderDomains, contract.listSenderDomains, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  list: (ctx, { loaded, query, page }) => listSenderDomains(ctx, loaded.id, page, query),
  present: presentSenderDomain,
})

mount(senderDomains, contract.createSenderDomain, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: (ctx, { loaded, body }) => createSenderDomain(ctx, loaded.id, body),
  present: presentSenderDomain,
  location: ({ id, organization_id }) => `/v1/organizations/${organization_id}/sender-domains/${id}`,
})

mount(senderDomains, contract.getSenderDomain, {
  load: (ctx, { id, domain_id }) => findSenderDomain(ctx, id, domain_id),
  handle: async (_, { loaded }) => loaded,
  present: presentSenderDomain,
})

mount(senderDomains, contract.verifySenderDomain, {
  load: (ctx, { id, domain_id }) => findSenderDomain(ctx, id, domain_id),
  handle: (ctx, { loaded, body }) => verifySenderDomain(ctx, loaded, body),
  present: presentSenderDomain,
})

mount(senderDomains, contract.deleteSenderDomain, {
  load: (ctx, { id, domain_id }) => findSenderDomain(ctx, id, domain_id),
  handle: (ctx, { loaded }) => deleteSenderDomain(ctx, loaded),
  represent: (loaded) => presentSenderDomain(loaded),
})
