import { mount, mountFile, mountList, createRouter } from '../../http/operations/mount.ts'
import { addWarnings } from '../../http/operations/warnings.ts'
import { recalculateSegment, resetSegmentToDraft } from './calculation/start-and-reset.ts'
import * as contract from './contract.ts'
import { createSegment } from './create.ts'
import { deleteSegment } from './delete.ts'
import { exportSegmentUsers } from './export.ts'
import * as cel from './expressions/cel-contract.ts'
import { explainSegment } from './expressions/explain.ts'
import { loadKnownValues } from './expressions/known-values.ts'
import { presentContext, presentExplanation, presentCelValidation } from './expressions/present-cel.ts'
import { validateCel } from './expressions/validate.ts'
import { listSegments, listSegmentUsers, listUserSegments } from './list.ts'
import { presentSegment, presentSegmentUser, presentUserSegment } from './present.ts'
import { findSegment, findUser } from './queries.ts'
import { updateSegment } from './update.ts'

export const segmentRoutes = createRouter()

mountList(segmentRoutes, contract.listSegments, {
  list: listSegments,
  present: presentSegment,
})

mount(segmentRoutes, contract.createSegment, {
  target: (body) => body,
  handle: (ctx, { body }) => createSegment(ctx, body),
  present: presentSegment,
  location: ({ id }) => `/v1/segments/${id}`,
})

// These paths come before `/v1/segments/{id}`, which would match them.
mount(segmentRoutes, cel.getCelContext, {
  handle: (ctx, { query }) => loadKnownValues(ctx, query),
  present: presentContext,
  maxAge: 60,
})

mount(segmentRoutes, cel.validateCel, {
  handle: (ctx, { body }) => validateCel(ctx, body),
  present: presentCelValidation,
})

mount(segmentRoutes, contract.getSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentSegment,
})

mount(segmentRoutes, contract.updateSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { resource, body }) => updateSegment(ctx, resource, body),
  present: presentSegment,
  sign: addWarnings,
})

mount(segmentRoutes, contract.deleteSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { resource }) => deleteSegment(ctx, resource),
  represent: (resource, ctx) => presentSegment(resource, ctx),
})

mount(segmentRoutes, contract.recalculateSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { resource }) => recalculateSegment(ctx, resource),
  present: presentSegment,
})

mount(segmentRoutes, contract.resetSegmentToDraft, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { resource }) => resetSegmentToDraft(ctx, resource),
  present: presentSegment,
})

mountList(segmentRoutes, contract.listSegmentUsers, {
  load: (ctx, { id }) => findSegment(ctx, id),
  list: listSegmentUsers,
  present: presentSegmentUser,
})

mountList(segmentRoutes, contract.listUserSegments, {
  load: (ctx, { id }) => findUser(ctx, id),
  list: listUserSegments,
  present: presentUserSegment,
})

mountFile(segmentRoutes, contract.exportSegmentUsers, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { resource, query }) => exportSegmentUsers(ctx, resource, query),
})

mount(segmentRoutes, cel.explainSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { resource, query }) => explainSegment(ctx, resource, query.user_id),
  present: presentExplanation,
})
