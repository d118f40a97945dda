import type { Schema } from '../../api'
import { loadWords, words } from '../../words'

const catalogueWords = await loadWords('catalogue')

const t = catalogueWords.products

type Product = Schema['Product']
type Amount = number | string

export interface ProductValues extends Record<string, unknown> {
  name: string
  name_translations: Record<string, string>
  category_id: string | null
  price: Amount
  deposit: Amount
  is_draft: boolean
  is_variant_required: boolean
  is_pickup_required: boolean
  is_wallet_enabled: boolean
  aliases: string[]
  image_ids: string[]
  variants: { id?: string; name: string; is_active: boolean }[]
  options: { id?: string; name: string; price_mod: Amount; deposit_mod: Amount }[]
}

export const readProduct = (product: Product): ProductValues => ({
  name: product.name,
  name_translations: product.name_translations,
  category_id: product.category_id,
  price: product.price ?? '',
  deposit: product.deposit ?? '',
  is_draft: product.is_draft,
  is_variant_required: product.is_variant_required,
  is_pickup_required: product.is_pickup_required,
  is_wallet_enabled: product.is_wallet_enabled,
  aliases: product.aliases,
  image_ids: product.image_ids,
  variants: product.variants,
  options: product.options,
})

const readAmount = (amount: Amount): number | null => (amount === '' ? null : Number(amount))

export const toProductBody = ({ price, deposit, options, ...others }: Partial<ProductValues>) => ({
  ...others,
  ...(price !== undefined && { price: readAmount(price) }),
  ...(deposit !== undefined && { deposit: readAmount(deposit) }),
  ...(options && {
    options: options.map(({ price_mod, deposit_mod, ...option }) => ({
      ...option,
      price_mod: Number(price_mod),
      deposit_mod: Number(deposit_mod),
    })),
  }),
})

export const productLabels = {
  name: words.common.name,
  name_translations: catalogueWords.translations,
  category_id: t.category,
  price: t.price,
  deposit: t.deposit,
  is_draft: t.isDraft,
  is_variant_required: t.isVariantRequired,
  is_pickup_required: t.isPickupRequired,
  is_wallet_enabled: t.isWalletEnabled,
  aliases: t.aliases,
  image_ids: t.images,
  variants: t.variants,
  options: t.options,
}
