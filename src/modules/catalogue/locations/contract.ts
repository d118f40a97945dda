import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../../domain/accounts/access.ts'
import { maxCatalogueRows } from '../../../domain/catalogue.ts'
import { Id, IdParams } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { BooleanFilter, ListPage, type ListRequest, listQuery } from '../../../http/requests/list-query.ts'
import { CatalogueName, editionFilters, exampleOwner, owner, tag, times } from '../contract-fields.ts'

const IsDraft = z.boolean().openapi({ description: 'A draft is no pickup point yet.' })

export const Location = z
  .object({ id: Id('loc'), ...owner, name: CatalogueName, is_draft: IsDraft, ...times })
  .openapi('Location')

const CreateLocation = z.object({ ...owner, name: CatalogueName, is_draft: IsDraft.default(false) })

const UpdateLocation = z.object({ name: CatalogueName.optional(), is_draft: IsDraft.optional() })

export type CreateLocationInput = z.output<typeof CreateLocation>
export type UpdateLocationInput = z.output<typeof UpdateLocation>

const listLocationsQuery = listQuery({
  ordering: ['name', 'created', 'modified'],
  filters: { ...editionFilters, is_draft: BooleanFilter.optional() },
})

export type LocationQuery = ListRequest<typeof listLocationsQuery>

export const listLocations = operation({
  id: 'listLocations',
  tag,
  method: 'get',
  path: '/v1/locations',
  summary: 'List locations',
  description: 'Lists the pickup points, and the places where purchases are used, by their name.',
  roles: roleCodes,
  query: listLocationsQuery,
  response: ListPage(Location),
})

export const createLocation = operation({
  id: 'createLocation',
  tag,
  method: 'post',
  path: '/v1/locations',
  summary: 'Create a location',
  description: `An edition has at most ${maxCatalogueRows} locations, each with a name of its own. Imports find them by their names.`,
  roles: managers,
  status: 201,
  body: CreateLocation,
  example: { ...exampleOwner, name: 'Main gate' },
  response: Location,
  errors: ['catalogue_full', 'edition_archived'],
})

export const getLocation = operation({
  id: 'getLocation',
  tag,
  method: 'get',
  path: '/v1/locations/{id}',
  summary: 'Retrieve a location',
  roles: roleCodes,
  params: IdParams('loc'),
  response: Location,
})

export const updateLocation = operation({
  id: 'updateLocation',
  tag,
  method: 'patch',
  path: '/v1/locations/{id}',
  summary: 'Update a location',
  description: 'Fields that you leave out stay as they are. Wallet passes show the new name.',
  roles: managers,
  params: IdParams('loc'),
  body: UpdateLocation,
  example: { name: 'North gate', is_draft: false },
  response: Location,
  errors: ['edition_archived'],
})

export const deleteLocation = operation({
  id: 'deleteLocation',
  tag,
  method: 'delete',
  path: '/v1/locations/{id}',
  summary: 'Delete a location',
  description:
    'A location that purchases, their uses, segments or unfinished imports name cannot be deleted: 409 `location_in_use` with their `counts`.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('loc'),
  errors: ['location_in_use', 'edition_archived'],
})
