import { Hono } from 'hono'
import type { AppContext, AppEnv } from '../../http/env.ts'
import { mount, mountList } from '../../http/operations/mount.ts'
import { createRouter } from '../../http/operations/mount.ts'
import { parseJson, readBody } from '../../http/requests/body.ts'
import { parseBody } from '../../http/requests/validation.ts'
import { readCapturedRecords, type RecordsCtx, setCapturedRecords } from './captured-records.ts'
import * as contract from './contract.ts'
import { createSenderDomain } from './create.ts'
import { deleteSenderDomain } from './delete.ts'
import { listSenderDomains } from './list.ts'
import { presentSenderDomain } from './present.ts'
import { findOrganization, findSenderDomain } from './queries.ts'
import { verifySenderDomain } from './verify.ts'

export const senderDomainRoutes = createRouter()

mountList(senderDomainRoutes, contract.listSenderDomains, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  list: listSenderDomains,
  present: presentSenderDomain,
})

mount(senderDomainRoutes, contract.createSenderDomain, {
  load: (ctx, { id }) => findOrganization(ctx, id),
  handle: (ctx, { resource, body }) => createSenderDomain(ctx, resource.id, body),
  present: presentSenderDomain,
  location: ({ id, organization_id }) => `/v1/organizations/${organization_id}/sender-domains/${id}`,
})

mount(senderDomainRoutes, contract.getSenderDomain, {
  load: (ctx, { id, domain_id }) => findSenderDomain(ctx, id, domain_id),
  handle: async (_, { resource }) => resource,
  present: presentSenderDomain,
})

mount(senderDomainRoutes, contract.verifySenderDomain, {
  load: (ctx, { id, domain_id }) => findSenderDomain(ctx, id, domain_id),
  handle: (ctx, { resource, body }) => verifySenderDomain(ctx, resource, body),
  present: presentSenderDomain,
})

mount(senderDomainRoutes, contract.deleteSenderDomain, {
  load: (ctx, { id, domain_id }) => findSenderDomain(ctx, id, domain_id),
  handle: (ctx, { resource }) => deleteSenderDomain(ctx, resource),
  represent: (resource) => presentSenderDomain(resource),
})

/** `/dev/dns/{name}` sets and shows the records of the captured DNS, in development and tests. */
export function buildDevDnsRoutes(open: (c: AppContext) => RecordsCtx): Hono<AppEnv> {
  const routes = new Hono<AppEnv>({ strict: false })
  routes.use('/dev/dns/*', async (c, next) => {
    await next()
    c.header('cache-control', 'no-store')
  })
  routes.get('/dev/dns/:name', async (c) => c.json({ texts: await readCapturedRecords(open(c), c.req.param('name')) }))
  routes.put('/dev/dns/:name', async (c) => {
    const body = parseJson(await readBody(c), c.req.raw.headers)
    const texts = await setCapturedRecords(
      open(c),
      c.req.param('name'),
      () => parseBody(contract.CapturedTexts, body).texts,
    )
    return c.json({ texts })
  })
  return routes
}
