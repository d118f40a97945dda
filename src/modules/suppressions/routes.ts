import type { z } from '@hono/zod-openapi'
import { createRouter, mount, mountFile, mountList } from '../../http/operations/mount.ts'
import { toIso } from '../../domain/time/instants.ts'
import { findOrganization } from '../organizations/index.ts'
import * as contract from './contract.ts'
import { addSuppression, importSuppressions, liftSuppression } from './edit.ts'
import { exportSuppressions } from './export.ts'
import { findSuppression, listSuppressions, type SuppressionRow } from './list.ts'

export const suppressionRoutes = createRouter()

const presentSuppression = (row: SuppressionRow): z.input<typeof contract.Suppression> => ({
  id: row.id,
  organization_id: row.organization_id,
  channel: row.channel,
  address: row.address,
  reason: row.reason,
  detail: row.detail,
  campaign_id: row.campaign_id,
  created: toIso(row.created_at),
})

mountList(suppressionRoutes, contract.listSuppressions, {
  list: (ctx, { query, page }) => listSuppressions(ctx, page, query),
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
  load: (ctx, _, { organization_id }) => findOrganization(ctx, organization_id),
  handle: (ctx, { loaded, query }) => exportSuppressions(ctx, loaded.id, query),
})

mount(suppressionRoutes, contract.getSuppression, {
  load: (ctx, { id }) => findSuppression(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentSuppression,
})

mount(suppressionRoutes, contract.liftSuppression, {
  load: (ctx, { id }) => findSuppression(ctx, id),
  handle: (ctx, { loaded, body }) => liftSuppression(ctx, loaded, body.lift_reason),
  present: ({ lift_reason, ...row }) => ({ ...presentSuppression(row), lift_reason }),
})
