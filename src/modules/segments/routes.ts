import { mount, mountFile, mountList, createRouter } from '../../http/operations/mount.ts'
import * as cel from './expressions/cel-contract.ts'
import * as contract from './contract.ts'
import { createSegment } from './create.ts'
import { deleteSegment } from './delete.ts'
import { explainSegment } from './expressions/explain.ts'
import { exportUsers } from './export.ts'
import { knownValuesFor } from './expressions/known-values.ts'
import { presentContext, presentExplanation, presentValidation } from './expressions/present-cel.ts'
import { presentSegment } from './present.ts'
import { findSegment, listSegments } from './queries.ts'
import { recalculateSegment } from './calculation/recalculate.ts'
import { resetToDraft } from './calculation/reset-to-draft.ts'
import { updateSegment } from './update.ts'
import { validateExpression } from './expressions/validate.ts'

export const segments = createRouter()

mountList(segments, contract.listSegments, {
  list: (ctx, { query, filters, page }) => listSegments(ctx, page, query.ordering, filters),
  present: presentSegment,
})

mount(segments, contract.createSegment, {
  target: (body) => body,
  handle: (ctx, { body }) => createSegment(ctx, body),
  present: presentSegment,
  location: ({ id }) => `/v1/segments/${id}`,
})

// Before the single segment, whose path would take them for ids.
mount(segments, cel.getCelContext, {
  handle: (ctx, { query }) => knownValuesFor(ctx, query),
  present: presentContext,
  maxAge: 60,
})

mount(segments, cel.validateCel, {
  handle: (ctx, { body }) => validateExpression(ctx, body),
  present: presentValidation,
})

mount(segments, contract.getSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: async (_, { loaded }) => loaded,
  present: presentSegment,
})

mount(segments, contract.updateSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { loaded, body }) => updateSegment(ctx, loaded, body),
  present: presentSegment,
})

mount(segments, contract.deleteSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { loaded }) => deleteSegment(ctx, loaded),
  represent: (loaded, ctx) => presentSegment(loaded, ctx),
})

mount(segments, contract.recalculateSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { loaded }) => recalculateSegment(ctx, loaded),
  present: presentSegment,
})

mount(segments, contract.resetSegmentToDraft, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { loaded }) => resetToDraft(ctx, loaded),
  present: presentSegment,
})

mountFile(segments, contract.exportSegmentUsers, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { loaded, query }) => exportUsers(ctx, loaded, query),
})

mount(segments, cel.explainSegment, {
  load: (ctx, { id }) => findSegment(ctx, id),
  handle: (ctx, { loaded, query }) => explainSegment(ctx, loaded, query.user_id),
  present: presentExplanation,
})
