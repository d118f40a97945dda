import { z } from '@hono/zod-openapi'
import { maxProducts } from '../../../domain/data-imports/data-imports.ts'
import { Count, Id } from '../../../http/fields.ts'
import { type ListRequest, BooleanFilter, ListPage, listQuery, TextFilter } from '../../../http/requests/list-query.ts'
import { operation } from '../../../http/operations/operation.ts'
import { ImportParams, keepers, tag } from '../contract-parts.ts'

const productActions = ['map', 'create', 'ignore'] as const
const Action = z.enum(productActions).openapi({
  description: '`map` to a product of the edition, `create` one by the name of the file, or `ignore` its rows.',
})

export const ProductMapping = z
  .object({
    id: Id('imd'),
    product: z.string(),
    variant: z.string().nullable().openapi({ description: 'Null where the rows name none.' }),
    location: z.string().nullable().openapi({ description: 'Null where the rows name none.' }),
    options: z.array(z.string()),
    position: Count.openapi({ description: 'Of its first row among those of the file, from 1.' }),
    rows_count: Count.openapi({ description: 'Rows of the file that sell it.' }),
    action: Action.nullable().openapi({ description: 'Null until a user decides.' }),
    product_id: Id('prd').nullable().openapi({ description: 'Null unless it is mapped to one.' }),
    variant_id: Id('var').nullable().openapi({ description: 'Null unless it is mapped to one.' }),
    location_id: Id('loc').nullable().openapi({ description: 'Null unless it is mapped to one.' }),
    option_ids: z.array(Id('opt')),
    is_mapped: z.boolean(),
    is_suggested: z.boolean(),
    confidence: z.number().min(0).max(1),
  })
  .openapi('ProductMapping')

const listProductsQuery = listQuery({
  ordering: ['position', 'rows_count', 'product'],
  filters: {
    is_mapped: BooleanFilter.optional().openapi({ description: 'Whether it is decided what it is.' }),
    search: TextFilter.optional().openapi({ description: 'Part of the product, variant or location.' }),
  },
})
export type ProductQuery = ListRequest<typeof listProductsQuery>

const decided = {
  id: Id('imd'),
  variant_id: Id('var').nullable().optional(),
  location_id: Id('loc').nullable().optional(),
  option_ids: z.array(Id('opt')).max(20).optional(),
}

const Change = z.discriminatedUnion('action', [
  z
    .object({ ...decided, action: z.literal('map'), product_id: Id('prd') })
    .openapi('MapProduct', { description: 'The rows sell a product of the edition.' }),
  z
    .object({ ...decided, action: z.literal('create'), product_id: Id('prd').nullable().optional() })
    .openapi('CreateProduct', { description: 'A product by the name in the file is made.' }),
  z
    .object({ ...decided, action: z.literal('ignore'), product_id: Id('prd').nullable().optional() })
    .openapi('IgnoreProduct', { description: 'The rows are left out.' }),
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
  description: `The different products that the rows of the file name, in the order in which they first stand there; at most
${maxProducts}.`,
  roles: keepers,
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
  description: 'Decides what products of the file are, all or none. With the last open one the import is `ready`.',
  roles: keepers,
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
