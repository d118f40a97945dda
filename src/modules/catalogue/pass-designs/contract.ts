import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../../domain/accounts/access.ts'
import { maxCatalogueRows } from '../../../domain/catalogue.ts'
import { maxPassTextLength, passColorPattern } from '../../../domain/wallet/wallet-pass.ts'
import { Id, IdParams, Image, orNull, RequiredText } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { IdFilter, ListPage, type ListRequest, listQuery } from '../../../http/requests/list-query.ts'
import { CatalogueName, editionFilters, exampleOwner, owner, tag, times } from '../contract-fields.ts'

const Color = z
  .string()
  .overwrite((text) => text.toLowerCase())
  .regex(passColorPattern, 'A colour looks like #102040.')
  .nullable()
  .openapi({ description: 'Null: the colour of the platform.', example: '#102040' })
const LogoText = RequiredText(maxPassTextLength)
  .nullable()
  .openapi({ description: 'Null: the name of the organisation.' })
const Description = RequiredText(maxPassTextLength)
  .nullable()
  .openapi({ description: 'Screen readers say it. Null: the names of the edition and the product.' })
const ProductId = Id('prd').nullable().openapi({ description: 'Null: for all products without a design of their own.' })
const LogoImageId = Id('fil')
  .nullable()
  .openapi({ description: 'An image file of the organisation, which passes at Google show. Null: no logo.' })

export const PassDesign = z
  .object({
    id: Id('psd'),
    ...owner,
    product_id: ProductId,
    name: CatalogueName,
    background_color: Color,
    foreground_color: Color,
    label_color: Color,
    logo_text: LogoText,
    description: Description,
    logo: orNull(Image).openapi({ description: 'Null when `logo_image_id` is null.' }),
    logo_image_id: LogoImageId,
    ...times,
  })
  .openapi('PassDesign')

const CreatePassDesign = z.object({
  ...owner,
  product_id: ProductId.default(null),
  name: CatalogueName,
  background_color: Color.default(null),
  foreground_color: Color.default(null),
  label_color: Color.default(null),
  logo_text: LogoText.default(null),
  description: Description.default(null),
  logo_image_id: LogoImageId.default(null),
})

const UpdatePassDesign = z.object({
  product_id: ProductId.optional(),
  name: CatalogueName.optional(),
  background_color: Color.optional(),
  foreground_color: Color.optional(),
  label_color: Color.optional(),
  logo_text: LogoText.optional(),
  description: Description.optional(),
  logo_image_id: LogoImageId.optional(),
})

export type CreatePassDesignInput = z.output<typeof CreatePassDesign>
export type UpdatePassDesignInput = z.output<typeof UpdatePassDesign>

const listPassDesignsQuery = listQuery({
  ordering: ['created', 'modified', 'name'],
  filters: { ...editionFilters, product_id: IdFilter.optional() },
})

export type PassDesignQuery = ListRequest<typeof listPassDesignsQuery>

export const listPassDesigns = operation({
  id: 'listPassDesigns',
  tag,
  method: 'get',
  path: '/v1/pass-designs',
  summary: 'List pass designs',
  description: 'Lists the designs of wallet passes, newest first.',
  roles: roleCodes,
  query: listPassDesignsQuery,
  response: ListPage(PassDesign),
})

export const createPassDesign = operation({
  id: 'createPassDesign',
  tag,
  method: 'post',
  path: '/v1/pass-designs',
  summary: 'Create a pass design',
  description: `Passes use the oldest design of their product, or else the oldest design of the edition without a product.
Existing passes are updated. An edition has at most ${maxCatalogueRows} designs.`,
  roles: managers,
  status: 201,
  body: CreatePassDesign,
  example: { ...exampleOwner, name: 'Night blue', background_color: '#102040', logo_text: 'Nordlys' },
  response: PassDesign,
  errors: ['catalogue_full', 'edition_archived'],
})

export const getPassDesign = operation({
  id: 'getPassDesign',
  tag,
  method: 'get',
  path: '/v1/pass-designs/{id}',
  summary: 'Retrieve a pass design',
  roles: roleCodes,
  params: IdParams('psd'),
  response: PassDesign,
})

export const updatePassDesign = operation({
  id: 'updatePassDesign',
  tag,
  method: 'patch',
  path: '/v1/pass-designs/{id}',
  summary: 'Update a pass design',
  description: 'Fields that you leave out stay as they are. Existing passes are updated.',
  roles: managers,
  params: IdParams('psd'),
  body: UpdatePassDesign,
  example: { background_color: '#203060', label_color: null },
  response: PassDesign,
  errors: ['edition_archived'],
})

export const deletePassDesign = operation({
  id: 'deletePassDesign',
  tag,
  method: 'delete',
  path: '/v1/pass-designs/{id}',
  summary: 'Delete a pass design',
  description: 'Its passes get the next design that fits them, or the look of the platform. New passes need a design.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('psd'),
  errors: ['edition_archived'],
})
