import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../../domain/accounts/access.ts'
import { maxCatalogueRows } from '../../../domain/catalogue.ts'
import { Id, IdParams } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { ListPage, type ListRequest, listQuery } from '../../../http/requests/list-query.ts'
import { CatalogueName, editionFilters, exampleOwner, NameTranslations, owner, tag, times } from '../contract-fields.ts'

const Position = z.int().min(0).max(1_000_000).openapi({ description: 'Categories with a lower position come first.' })

export const Category = z
  .object({
    id: Id('cat'),
    ...owner,
    name: CatalogueName,
    name_translations: NameTranslations,
    position: Position,
    ...times,
  })
  .openapi('Category')

const CreateCategory = z.object({
  ...owner,
  name: CatalogueName,
  name_translations: NameTranslations.default({}),
  position: Position.default(0),
})

const UpdateCategory = z.object({
  name: CatalogueName.optional(),
  name_translations: NameTranslations.optional(),
  position: Position.optional(),
})

export type CreateCategoryInput = z.output<typeof CreateCategory>
export type UpdateCategoryInput = z.output<typeof UpdateCategory>

const listCategoriesQuery = listQuery({
  ordering: ['position', 'name', 'created', 'modified'],
  filters: editionFilters,
})

export type CategoryQuery = ListRequest<typeof listCategoriesQuery>

export const listCategories = operation({
  id: 'listCategories',
  tag,
  method: 'get',
  path: '/v1/categories',
  summary: 'List categories',
  description: 'Lists the categories of products by their position.',
  roles: roleCodes,
  query: listCategoriesQuery,
  response: ListPage(Category),
})

export const createCategory = operation({
  id: 'createCategory',
  tag,
  method: 'post',
  path: '/v1/categories',
  summary: 'Create a category',
  description: `An edition has at most ${maxCatalogueRows} categories, each with a name of its own.`,
  roles: managers,
  status: 201,
  body: CreateCategory,
  example: { ...exampleOwner, name: 'Tickets', name_translations: { da: 'Billetter' }, position: 1 },
  response: Category,
  errors: ['catalogue_full', 'edition_archived'],
})

export const getCategory = operation({
  id: 'getCategory',
  tag,
  method: 'get',
  path: '/v1/categories/{id}',
  summary: 'Retrieve a category',
  roles: roleCodes,
  params: IdParams('cat'),
  response: Category,
})

export const updateCategory = operation({
  id: 'updateCategory',
  tag,
  method: 'patch',
  path: '/v1/categories/{id}',
  summary: 'Update a category',
  description: 'Fields that you leave out stay as they are. `name_translations` replaces all translations.',
  roles: managers,
  params: IdParams('cat'),
  body: UpdateCategory,
  example: { name: 'Day tickets', position: 2 },
  response: Category,
  errors: ['edition_archived'],
})

export const deleteCategory = operation({
  id: 'deleteCategory',
  tag,
  method: 'delete',
  path: '/v1/categories/{id}',
  summary: 'Delete a category',
  description: 'Its products stay, without a category.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('cat'),
  errors: ['edition_archived'],
})
