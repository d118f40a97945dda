import { mount, mountFile, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { eraseUser } from './erase.ts'
import { exportUser } from './export.ts'
import { presentErasure, presentUser } from './present.ts'
import { findUser } from './queries.ts'

export const personalDataRoutes = createRouter()

mount(personalDataRoutes, contract.eraseUser, {
  load: (ctx, { id }) => findUser(ctx, id),
  handle: (ctx, { loaded, body }) => eraseUser(ctx, loaded, body),
  present: presentErasure,
  represent: (loaded) => presentUser(loaded),
})

mountFile(personalDataRoutes, contract.exportUser, {
  load: (ctx, { id }) => findUser(ctx, id),
  handle: (ctx, { loaded }) => exportUser(ctx, loaded),
})
