import { createRouter, mount } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createUser, presentUser } from './create.ts'

export const userImportRoutes = createRouter()

mount(userImportRoutes, contract.createUser, {
  target: (body) => body,
  handle: (ctx, { body }) => createUser(ctx, body),
  present: presentUser,
  location: ({ id }) => `/v1/user/${id}`,
})
