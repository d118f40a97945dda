import { z } from '@hono/zod-openapi'
import { managers } from '../../../domain/accounts/access.ts'
import { maxProducts } from '../../../domain/data-imports/data-imports.ts'
import { Count, Id } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { type ListRequest, BooleanFilter, ListPage, listQuery, TextFilter } from '../../../http/requests/list-query.ts'
import { ImportParams, tag } from '../import-contract.ts'

const productActions = ['map', 'create', 'ignore'] as const
const Action = z.enum(productActions).openapi({
  description:
    '`map`: the rows sell a product of the edition. `create`: create a product with this name. `ignore`: exclude ' +
    'the rows.',
})

export const ProductMapping = z
  .object({
    id: Id('imd'),
    product: z.string(),
    variant: z.string().nullable().openapi({ description: 'Null if the rows have none.' }),
    location: z.string().nullable().openapi({ description: 'Null if the rows have none.' }),
    options: z.array(z.string()),
    position: Count.openapi({ description: 'Number of the first row with this product, from 1.' }),
    rows_count: Count.openapi({ description: 'Rows with this product.' }),
    action: Action.nullable().openapi({ description: 'Null until you decide.' }),
    product_id: Id('prd').nullable().openapi({ description: 'Null if it is not mapped to one.' }),
    variant_id: Id('var').nullable().openapi({ description: 'Null if it is not mapped to one.' }),
    location_id: Id('loc').nullable().openapi({ description: 'Null if it is not mapped to one.' }),
    option_ids: z.array(Id('opt')),
    similar_product: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .openapi({
        description:
          'A product, or a variant of `product_id`, with nearly the same name. Decide whether it is meant. Null if there ' +
          'is none, or once you have decided.',
      }),
    is_mapped: z.boolean(),
    is_suggested: z.boolean(),
    confidence: z.number().min(0).max(1),
  })
  .openapi('ProductMapping')

const listProductsQuery = listQuery({
  ordering: ['position', 'rows_count', 'product'],
  filters: {
    is_mapped: BooleanFilter.optional().openapi({ description: 'Whether an action is set.' }),
    search: TextFilter.optional().openapi({ description: 'Part of the product, variant or location.' }),
  },
})
export type ProductQuery = ListRequest<typeof listProductsQuery>

const changeFields = {
  id: Id('imd'),
  variant_id: Id('var').nullable().optional(),
  location_id: Id('loc').nullable().optional(),
  option_ids: z.array(Id('opt')).max(20).optional(),
}

const Change = z.discriminatedUnion('action', [
  z
    .object({ ...changeFields, action: z.literal('map'), product_id: Id('prd') })
    .openapi('MapProduct', { description: 'Maps the rows to a product of the edition.' }),
  z
    .object({ ...changeFields, action: z.literal('create'), product_id: Id('prd').nullable().optional() })
    .openapi('CreateProduct', { description: 'Creates a product with the name in the file.' }),
  z
    .object({ ...changeFields, action: z.literal('ignore'), product_id: Id('prd').nullable().optional() })
    .openapi('IgnoreProduct', { description: 'Excludes the rows.' }),
])

const UpdateProductMappings = z.object({ mappings: z.array(Change).min(1).max(500) })
export type UpdateProductMappingsInput = z.output<typeof UpdateProductMappings>
export type ProductChange = UpdateProductMappingsInput['mappings'][number]

export const listProductMappings = operation({
  id: 'listProductMappings',
  tag,
  method: 'get',
  path: '/v1/data-imports/{id}/product-mappings',
  summary: 'List product mappings',
  description: `Lists the products in the file, in the order of their first rows. A file has at most ${maxProducts} products.`,
  roles: managers,
  params: ImportParams,
  query: listProductsQuery,
  response: ListPage(ProductMapping),
})

export const updateProductMappings = operation({
  id: 'updateProductMappings',
  tag,
  method: 'patch',
  path: '/v1/data-imports/{id}/product-mappings',
  summary: 'Update product mappings',
  description: 'Maps all of the given products or none. The import is `ready` once every product has an action.',
  roles: managers,
  params: ImportParams,
  body: UpdateProductMappings,
  example: {
    mappings: [
      {
        id: 'imd_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
        action: 'map',
        product_id: 'prd_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
      },
    ],
  },
  response: z
    .object({ results: z.array(ProductMapping), status: z.string(), unmapped: Count })
    .openapi('ProductMappingChanges'),
  errors: ['edition_archived', 'invalid_transition', 'import_running'],
})
