import { createRouter, mount, mountList } from '../../http/operations/mount.ts'
import { addWarnings } from '../../http/operations/warnings.ts'
import * as categories from './categories/contract.ts'
import { listCategories } from './categories/list.ts'
import { presentCategory } from './categories/present.ts'
import { findCategory } from './categories/queries.ts'
import { createCategory, deleteCategory, updateCategory } from './categories/write.ts'
import * as feeRules from './fee-rules/contract.ts'
import { listFeeRules } from './fee-rules/list.ts'
import { presentFeeRule } from './fee-rules/present.ts'
import { findFeeRule } from './fee-rules/queries.ts'
import { createFeeRule, deleteFeeRule, updateFeeRule } from './fee-rules/write.ts'
import * as locations from './locations/contract.ts'
import { listLocations } from './locations/list.ts'
import { presentLocation } from './locations/present.ts'
import { findLocation } from './locations/queries.ts'
import { createLocation, deleteLocation, updateLocation } from './locations/write.ts'
import * as passDesigns from './pass-designs/contract.ts'
import { listPassDesigns } from './pass-designs/list.ts'
import { presentPassDesign } from './pass-designs/present.ts'
import { findPassDesign } from './pass-designs/queries.ts'
import { createPassDesign, deletePassDesign, updatePassDesign } from './pass-designs/write.ts'
import { createProduct } from './products/create.ts'
import { deleteProduct } from './products/delete.ts'
import { listProducts } from './products/list.ts'
import { mergeProducts } from './products/merge.ts'
import { presentProduct, presentProductListItem } from './products/present.ts'
import * as products from './products/product-contract.ts'
import { findProduct } from './products/queries.ts'
import { updateProduct } from './products/update.ts'

export const catalogueRoutes = createRouter()

mountList(catalogueRoutes, categories.listCategories, { list: listCategories, present: presentCategory })

mount(catalogueRoutes, categories.createCategory, {
  target: (body) => body,
  handle: (ctx, { body }) => createCategory(ctx, body),
  present: presentCategory,
  location: ({ id }) => `/v1/categories/${id}`,
})

mount(catalogueRoutes, categories.getCategory, {
  load: (ctx, { id }) => findCategory(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentCategory,
})

mount(catalogueRoutes, categories.updateCategory, {
  load: (ctx, { id }) => findCategory(ctx, id),
  handle: (ctx, { resource, body }) => updateCategory(ctx, resource, body),
  present: presentCategory,
})

mount(catalogueRoutes, categories.deleteCategory, {
  load: (ctx, { id }) => findCategory(ctx, id),
  handle: (ctx, { resource }) => deleteCategory(ctx, resource),
  represent: (resource) => presentCategory(resource),
})

mountList(catalogueRoutes, locations.listLocations, { list: listLocations, present: presentLocation })

mount(catalogueRoutes, locations.createLocation, {
  target: (body) => body,
  handle: (ctx, { body }) => createLocation(ctx, body),
  present: presentLocation,
  location: ({ id }) => `/v1/locations/${id}`,
})

mount(catalogueRoutes, locations.getLocation, {
  load: (ctx, { id }) => findLocation(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentLocation,
})

mount(catalogueRoutes, locations.updateLocation, {
  load: (ctx, { id }) => findLocation(ctx, id),
  handle: (ctx, { resource, body }) => updateLocation(ctx, resource, body),
  present: presentLocation,
})

mount(catalogueRoutes, locations.deleteLocation, {
  load: (ctx, { id }) => findLocation(ctx, id),
  handle: (ctx, { resource }) => deleteLocation(ctx, resource),
  represent: (resource) => presentLocation(resource),
})

mountList(catalogueRoutes, feeRules.listFeeRules, { list: listFeeRules, present: presentFeeRule })

mount(catalogueRoutes, feeRules.createFeeRule, {
  target: (body) => body,
  handle: (ctx, { body }) => createFeeRule(ctx, body),
  present: presentFeeRule,
  location: ({ id }) => `/v1/fee-rules/${id}`,
})

mount(catalogueRoutes, feeRules.getFeeRule, {
  load: (ctx, { id }) => findFeeRule(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentFeeRule,
})

mount(catalogueRoutes, feeRules.updateFeeRule, {
  load: (ctx, { id }) => findFeeRule(ctx, id),
  handle: (ctx, { resource, body }) => updateFeeRule(ctx, resource, body),
  present: presentFeeRule,
})

mount(catalogueRoutes, feeRules.deleteFeeRule, {
  load: (ctx, { id }) => findFeeRule(ctx, id),
  handle: (ctx, { resource }) => deleteFeeRule(ctx, resource),
  represent: (resource) => presentFeeRule(resource),
})

mountList(catalogueRoutes, passDesigns.listPassDesigns, { list: listPassDesigns, present: presentPassDesign })

mount(catalogueRoutes, passDesigns.createPassDesign, {
  target: (body) => body,
  handle: (ctx, { body }) => createPassDesign(ctx, body),
  present: presentPassDesign,
  location: ({ id }) => `/v1/pass-designs/${id}`,
})

mount(catalogueRoutes, passDesigns.getPassDesign, {
  load: (ctx, { id }) => findPassDesign(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentPassDesign,
})

mount(catalogueRoutes, passDesigns.updatePassDesign, {
  load: (ctx, { id }) => findPassDesign(ctx, id),
  handle: (ctx, { resource, body }) => updatePassDesign(ctx, resource, body),
  present: presentPassDesign,
})

mount(catalogueRoutes, passDesigns.deletePassDesign, {
  load: (ctx, { id }) => findPassDesign(ctx, id),
  handle: (ctx, { resource }) => deletePassDesign(ctx, resource),
  represent: (resource, ctx) => presentPassDesign(resource, ctx),
})

mountList(catalogueRoutes, products.listProducts, {
  list: listProducts,
  present: presentProductListItem,
})

mount(catalogueRoutes, products.createProduct, {
  target: (body) => body,
  handle: (ctx, { body }) => createProduct(ctx, body),
  present: presentProduct,
  location: ({ id }) => `/v1/products/${id}`,
})

mount(catalogueRoutes, products.getProduct, {
  load: (ctx, { id }) => findProduct(ctx, id),
  handle: async (_, { resource }) => resource,
  present: presentProduct,
})

mount(catalogueRoutes, products.updateProduct, {
  load: (ctx, { id }) => findProduct(ctx, id),
  handle: (ctx, { resource, body }) => updateProduct(ctx, resource, body),
  present: presentProduct,
})

mount(catalogueRoutes, products.deleteProduct, {
  load: (ctx, { id }) => findProduct(ctx, id),
  handle: (ctx, { resource }) => deleteProduct(ctx, resource),
  represent: (resource, ctx) => presentProduct(resource, ctx),
})

mount(catalogueRoutes, products.mergeProducts, {
  load: (ctx, { id }) => findProduct(ctx, id),
  handle: (ctx, { resource, body }) => mergeProducts(ctx, resource, body),
  present: presentProduct,
  sign: addWarnings,
})
