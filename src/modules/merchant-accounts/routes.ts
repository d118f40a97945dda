import { mount, mountList, createRouter } from '../../http/operations/mount.ts'
import * as contract from './contract.ts'
import { createMerchantAccount } from './create.ts'
import { deleteMerchantAccount } from './delete.ts'
import { listMerchantAccounts } from './list.ts'
import { presentMerchantAccount } from './present.ts'
import { findMerchantAccount } from './queries.ts'
import { updateMerchantAccount } from './update.ts'

export const merchantAccountRoutes = createRouter()

mountList(merchantAccountRoutes, contract.listMerchantAccounts, {
  list: listMerchantAccounts,
  present: presentMerchantAccount,
})

mount(merchantAccountRoutes, contract.createMerchantAccount, {
  target: (body) => body,
  handle: (ctx, { body }) => createMerchantAccount(ctx, body),
  present: presentMerchantAccount,
  location: ({ id }) => `/v1/merchant-accounts/${id}`,
})

mount(merchantAccountRoutes, contract.getMerchantAccount, {
  load: (ctx, { id }) => findMerchantAccount(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentMerchantAccount,
})

mount(merchantAccountRoutes, contract.updateMerchantAccount, {
  load: (ctx, { id }) => findMerchantAccount(ctx, id),
  handle: (ctx, { resource, body }) => updateMerchantAccount(ctx, resource, body),
  present: presentMerchantAccount,
})

mount(merchantAccountRoutes, contract.deleteMerchantAccount, {
  load: (ctx, { id }) => findMerchantAccount(ctx, id),
  handle: (ctx, { resource }) => deleteMerchantAccount(ctx, resource),
  represent: (resource, ctx) => presentMerchantAccount(resource, ctx),
})
