import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import { addWarnings } from '../../http/operations/warnings.ts'
import * as contract from './contract.ts'
import { createEdition } from './create.ts'
import * as duplicateContract from './duplicate/duplicate-contract.ts'
import { duplicateEdition } from './duplicate/duplicate.ts'
import { getEditionHealthcheck } from './health/health-contract.ts'
import { examineEdition } from './health/health.ts'
import { presentHealth } from './health/present-health.ts'
import { listEditions } from './list.ts'
import { readEditionChoices } from './meta/meta.ts'
import { presentEditionMeta } from './meta/present-meta.ts'
import { presentEdition, presentEditionListItem } from './present.ts'
import { findEdition } from './queries.ts'
import { presentEditionStats } from './stats/present-stats.ts'
import { getEditionStats } from './stats/stats-contract.ts'
import { loadEditionStats } from './stats/stats.ts'
import { updateEdition } from './update.ts'

export const editionRoutes = createRouter()

mountList(editionRoutes, contract.listEditions, {
  list: listEditions,
  present: presentEditionListItem,
})

mount(editionRoutes, contract.createEdition, {
  target: ({ organization_id }) => ({ organization_id }),
  handle: (ctx, { body }) => createEdition(ctx, body),
  present: presentEdition,
  location: ({ id }) => `/v1/editions/${id}`,
})

// Registered before the single edition, whose path would match `_meta` as an id.
mount(editionRoutes, contract.getEditionMeta, {
  handle: (ctx, { query }) => readEditionChoices(ctx, query.organization_id),
  present: presentEditionMeta,
  maxAge: 300,
})

mount(editionRoutes, contract.getEdition, {
  load: (ctx, { id }) => findEdition(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentEdition,
})

mount(editionRoutes, contract.updateEdition, {
  load: (ctx, { id }) => findEdition(ctx, id),
  handle: (ctx, { resource, body }) => updateEdition(ctx, resource, body),
  present: presentEdition,
  sign: addWarnings,
})

mount(editionRoutes, duplicateContract.duplicateEdition, {
  load: (ctx, { id }) => findEdition(ctx, id),
  handle: (ctx, { resource, body }) => duplicateEdition(ctx, resource, body),
  present: presentEdition,
  location: ({ id }) => `/v1/editions/${id}`,
})

mount(editionRoutes, getEditionHealthcheck, {
  load: (ctx, { edition_id }) => findEdition(ctx, edition_id),
  handle: (ctx, { resource }) => examineEdition(ctx, resource),
  present: presentHealth,
})

mount(editionRoutes, getEditionStats, {
  load: (ctx, { id }) => findEdition(ctx, id),
  handle: (ctx, { resource, query }) => loadEditionStats(ctx, resource, query),
  present: presentEditionStats,
})
