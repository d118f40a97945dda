import { createRouter, mount, mountFile, mountList } from '../../http/operations/mount.ts'
import { restrictToRoles } from '../../http/operations/permission.ts'
import * as contract from './contract.ts'
import { addSuppression, importSuppressions, liftSuppression } from './edit.ts'
import { exportSuppressions } from './export.ts'
import { listSuppressions } from './list.ts'
import { presentSuppression } from './present.ts'
import { findOrganization, findSuppression } from './queries.ts'

export const suppressionRoutes = createRouter()

mountList(suppressionRoutes, contract.listSuppressions, {
  list: listSuppressions,
  present: presentSuppression,
})

mount(suppressionRoutes, contract.addSuppression, {
  target: (body) => body,
  handle: (ctx, { body }) => addSuppression(ctx, body),
  present: presentSuppression,
  location: ({ id }) => `/v1/suppressions/${id}`,
})

mount(suppressionRoutes, contract.importSuppressions, {
  target: (body) => body,
  handle: (ctx, { body }) => importSuppressions(ctx, body),
  present: ({ id: _, ...result }) => result,
})

mountFile(suppressionRoutes, contract.exportSuppressions, {
  load: (ctx, _, { organization_id }) =>
    findOrganization(restrictToRoles(ctx, contract.exportSuppressions), organization_id),
  handle: (ctx, { resource, query }) => exportSuppressions(ctx, resource.id, query),
})

mount(suppressionRoutes, contract.getSuppression, {
  load: (ctx, { id }) => findSuppression(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentSuppression,
})

mount(suppressionRoutes, contract.liftSuppression, {
  load: (ctx, { id }) => findSuppression(ctx, id),
  handle: (ctx, { resource, body }) => liftSuppression(ctx, resource, body.lift_reason),
  present: ({ lift_reason, ...row }) => ({ ...presentSuppression(row), lift_reason }),
})
