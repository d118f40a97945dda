import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../../domain/accounts/access.ts'
import { maxAliases, maxImages, maxParts } from '../../../domain/catalogue-parts.ts'
import { maxAmountMinor, toMajor } from '../../../domain/money.ts'
import { maxGoodNameLength } from '../../../domain/orders/external-orders.ts'
import { AmountInput, Count, Id, IdParams, Image, RequiredText, Timestamp, Translated } from '../../../http/fields.ts'
import { action, operation } from '../../../http/operations/operation.ts'
import { ApprovalWarnings } from '../../../http/operations/warnings.ts'
import {
  BooleanFilter,
  IdFilter,
  ListPage,
  type ListRequest,
  listQuery,
  TextFilter,
} from '../../../http/requests/list-query.ts'

const Name = RequiredText(maxGoodNameLength).openapi({ example: 'Weekend ticket' })
const NameTranslations = Translated(maxGoodNameLength).openapi({
  description: 'The name in other languages than the default language of the edition.',
  example: { da: 'Weekendbillet' },
})

const AmountFrom = (min: number) => z.number().min(min).max(toMajor(maxAmountMinor))
const Price = AmountFrom(0).nullable()
const Modifier = AmountFrom(-toMajor(maxAmountMinor)).openapi({
  description: 'Added to the price or deposit.',
  example: 50,
})

const PriceInput = AmountInput()
  .nullable()
  .openapi({ type: ['number', 'null'], minimum: 0, maximum: toMajor(maxAmountMinor), multipleOf: 0.01, example: 250 })
const ModifierInput = AmountInput(-toMajor(maxAmountMinor)).openapi({ example: 50 })

const Variant = z.object({ id: Id('var'), name: Name, is_active: z.boolean() }).openapi('ProductVariant')
const Option = z
  .object({ id: Id('opt'), name: Name, price_mod: Modifier, deposit_mod: Modifier })
  .openapi('ProductOption')

const summaryFields = {
  id: Id('prd'),
  organization_id: Id('org'),
  edition_id: Id('edt'),
  category_id: Id('cat').nullable().openapi({ description: 'Null when the product has no category.' }),
  name: Name,
  name_translations: NameTranslations,
  price: Price.openapi({ description: 'Null when no price is set, as for imported products.', example: 250 }),
  deposit: Price.openapi({ description: 'Null when no deposit is set.', example: 50 }),
  is_variant_required: z.boolean(),
  is_pickup_required: z.boolean(),
  is_wallet_enabled: z.boolean().openapi({ description: 'Purchases of the product can have wallet passes.' }),
  is_draft: z.boolean(),
}

const times = { created: Timestamp, modified: Timestamp }

export const ProductListItem = z
  .object({ ...summaryFields, variants_count: Count, options_count: Count, ...times })
  .openapi('ProductListItem')

export const Product = z
  .object({
    ...summaryFields,
    aliases: z.array(Name).openapi({ description: 'Other names by which imports find the product.' }),
    image_ids: z.array(Id('fil')).max(maxImages).openapi({ uniqueItems: true }),
    images: z.array(Image),
    variants: z.array(Variant),
    options: z.array(Option),
    is_merging: z.boolean().openapi({
      description: 'True while orders of a product that was merged into this one are still being moved to it.',
    }),
    ...times,
  })
  .openapi('Product')

const VariantInput = z.object({ id: Id('var').optional(), name: Name, is_active: z.boolean().optional() })
const OptionInput = z.object({
  id: Id('opt').optional(),
  name: Name,
  price_mod: ModifierInput.optional(),
  deposit_mod: ModifierInput.optional(),
})

const ProductFields = z
  .object({
    category_id: Id('cat').nullable(),
    name: Name,
    name_translations: NameTranslations,
    price: PriceInput,
    deposit: PriceInput,
    is_variant_required: z.boolean(),
    is_pickup_required: z.boolean(),
    is_wallet_enabled: z.boolean(),
    is_draft: z.boolean(),
    aliases: z.array(Name).max(maxAliases),
    image_ids: z
      .array(Id('fil'))
      .max(maxImages)
      .refine((ids) => new Set(ids).size === ids.length, {
        params: { code: 'repeated' },
        message: 'Each image may appear once.',
      })
      .openapi({ uniqueItems: true }),
    variants: z.array(VariantInput).max(maxParts),
    options: z.array(OptionInput).max(maxParts),
  })
  .partial()

const CreateProduct = ProductFields.extend({ organization_id: Id('org'), edition_id: Id('edt'), name: Name })

export type ProductInput = z.output<typeof ProductFields>
export type CreateProductInput = z.output<typeof CreateProduct>
export type VariantInput = z.output<typeof VariantInput>
export type OptionInput = z.output<typeof OptionInput>

const tag = 'Catalogue' as const

const listProductsQuery = listQuery({
  ordering: ['created', 'modified', 'name'],
  filters: {
    organization_id: IdFilter.optional(),
    edition_id: IdFilter.optional(),
    category_id: IdFilter.optional(),
    is_draft: BooleanFilter.optional(),
    search: TextFilter.optional().openapi({ description: 'Part of the name.' }),
  },
})

export type ProductQuery = ListRequest<typeof listProductsQuery>

export const listProducts = operation({
  id: 'listProducts',
  tag,
  method: 'get',
  path: '/v1/products',
  summary: 'List products',
  description: 'Newest first.',
  roles: roleCodes,
  query: listProductsQuery,
  response: ListPage(ProductListItem),
})

export const createProduct = operation({
  id: 'createProduct',
  tag,
  method: 'post',
  path: '/v1/products',
  summary: 'Create a product',
  description:
    'Imports also create the products that they name. A name leads to one product of its edition: one that folds to the name or alias of another product is refused.',
  roles: managers,
  status: 201,
  body: CreateProduct,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Weekend ticket',
    price: 250,
    variants: [{ name: 'Adult' }, { name: 'Child' }],
  },
  response: Product,
  errors: ['edition_archived'],
})

export const getProduct = operation({
  id: 'getProduct',
  tag,
  method: 'get',
  path: '/v1/products/{id}',
  summary: 'Retrieve a product',
  roles: roleCodes,
  params: IdParams('prd'),
  response: Product,
})

export const updateProduct = operation({
  id: 'updateProduct',
  tag,
  method: 'patch',
  path: '/v1/products/{id}',
  summary: 'Update a product',
  description: `Fields that you leave out stay as they are. \`aliases\`, \`image_ids\`, \`variants\` and \`options\` replace the whole list: an entry
with an \`id\` changes that variant or option, one without is added, and what you leave out is deleted, unless it is in
use (409 \`product_in_use\`) or orders are still being moved to the product (409 \`product_merging\`). When a product that was sold gets a new \`name\`, the former one becomes an alias, so that imports
with it find the product, unless you send \`aliases\` too. Passes in wallets follow.`,
  roles: managers,
  params: IdParams('prd'),
  body: ProductFields,
  example: { name: 'Weekend ticket', price: 250 },
  response: Product,
  errors: ['edition_archived', 'product_in_use', 'product_merging'],
})

export const deleteProduct = operation({
  id: 'deleteProduct',
  tag,
  method: 'delete',
  path: '/v1/products/{id}',
  summary: 'Delete a product',
  description:
    'A product that something uses cannot be deleted; `counts` says what does and how often. Merge it into another product, or make it a draft.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  params: IdParams('prd'),
  errors: ['edition_archived', 'product_in_use'],
})

const MergeProducts = z.object({
  product_id: Id('prd').openapi({
    description: 'The product to merge into the one in the path. Both are of one edition.',
  }),
})

export type MergeProductsInput = z.output<typeof MergeProducts>

const ProductWithWarnings = Product.extend({ warnings: ApprovalWarnings }).openapi('ProductWithWarnings')

export const mergeProducts = operation({
  id: 'mergeProducts',
  tag,
  ...action('/v1/products', 'prd', 'merge'),
  summary: 'Merge a product into another',
  description: `Two spellings become one product. The product in the path keeps its id and its name, and takes the orders and purchases of
the other one, its pass designs if it has none, and the fields that it lacks. Variants and options with the same name
become one; others move. The other name becomes an alias, so that imports with it find the product. Mappings of imports,
refund batches and segments follow. The other id then answers 404, and still works as a filter of purchases.
The orders of a large edition move in the background: \`is_merging\` is true until then.`,
  agentAccess: 'confirm',
  roles: managers,
  body: MergeProducts,
  example: { product_id: 'prd_01KAJ3Z8Q2M4T6V8X0Z2B4D6F9' },
  response: ProductWithWarnings,
  errors: ['edition_archived', 'product_merging'],
})
