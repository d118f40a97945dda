import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { listUsers } from './list.ts'
import { presentUser } from './present.ts'
import { findUser } from './queries.ts'
import { updateUser } from './update.ts'

export const userRoutes = createRouter()

mountList(userRoutes, contract.listUsers, {
  list: listUsers,
  present: presentUser,
})

mount(userRoutes, contract.getUser, {
  load: (ctx, { id }) => findUser(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentUser,
})

mount(userRoutes, contract.updateUser, {
  load: (ctx, { id }) => findUser(ctx, id),
  handle: (ctx, { resource, body }) => updateUser(ctx, resource, body),
  present: ({ user }) => presentUser(user),
  represent: (resource) => presentUser(resource),
  audit: ({ storedValues }) => storedValues,
})
