import { fold } from '../../../text/fold.ts'

export interface ProductTuple {
  product: string
  variant: string | null
  location: string | null
  options: readonly string[]
}

const foldName = (text: string): string =>
  fold(text)
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Folded names are cached, because a file repeats the same few products. */
const maxCachedNames = 1000
const maxCachedLength = 200
const foldedNames = new Map<string, string>()

function foldNameOnce(text: string | null): string {
  if (text === null || text === '') return ''
  const cachedName = foldedNames.get(text)
  if (cachedName !== undefined) return cachedName
  const name = foldName(text)
  if (text.length > maxCachedLength) return name
  if (foldedNames.size >= maxCachedNames) foldedNames.clear()
  foldedNames.set(text, name)
  return name
}

export function readProduct(values: Readonly<Record<string, unknown>>): ProductTuple | null {
  const text = (target: string): string | null => {
    const value = values[target]
    return typeof value === 'string' ? value : null
  }
  const product = text('item.product')
  const options = values['item.options']
  return product === null
    ? null
    : {
        product,
        variant: text('item.variant'),
        location: text('item.location'),
        options: Array.isArray(options) ? (options as string[]) : [],
      }
}

/** Builds the key of a product. It ignores case, accents, punctuation and the order of options. */
export const buildProductKey = ({ product, variant, location, options }: ProductTuple): string =>
  JSON.stringify([
    foldNameOnce(product),
    foldNameOnce(variant),
    foldNameOnce(location),
    options.map(foldNameOnce).toSorted(),
  ])

export interface CountedTuple extends ProductTuple {
  rows: number
}

/** Counts rows by product. The spelling in the first row of a product is kept. */
export function countTuples<Tuple extends ProductTuple>(tuples: Iterable<Tuple>): Map<string, Tuple & CountedTuple> {
  const counted = new Map<string, Tuple & CountedTuple>()
  for (const tuple of tuples) {
    const key = buildProductKey(tuple)
    const existing = counted.get(key)
    if (existing) existing.rows++
    else counted.set(key, { ...tuple, rows: 1 })
  }
  return counted
}

export function mergeTuples(
  one: ReadonlyMap<string, CountedTuple>,
  other: ReadonlyMap<string, CountedTuple>,
): Map<string, CountedTuple> {
  const merged = new Map(one)
  for (const [key, tuple] of other) {
    const existing = merged.get(key)
    merged.set(key, existing ? { ...existing, rows: existing.rows + tuple.rows } : { ...tuple })
  }
  return merged
}

interface KnownPart {
  id: string
  name: string
}

export interface KnownProduct extends KnownPart {
  variants: readonly KnownPart[]
}

export interface ProductSuggestion {
  action: 'map' | 'create'
  product_id: string | null
  variant_id: string | null
  confidence: number
}

const findOnlyNamed = <Part extends KnownPart>(parts: readonly Part[], name: string): Part | null => {
  const matches = parts.filter((part) => foldNameOnce(part.name) === foldNameOnce(name))
  return matches.length === 1 ? (matches[0] ?? null) : null
}

/** Splits a product and its variant in one name: `Day ticket - Adult`. */
function splitSuggestion(name: string, products: readonly KnownProduct[]): ProductSuggestion | null {
  const matches = products.flatMap((product) =>
    product.variants
      .filter((variant) => foldNameOnce(`${product.name} ${variant.name}`) === foldNameOnce(name))
      .map((variant) => ({ product_id: product.id, variant_id: variant.id })),
  )
  const [only, ...more] = matches
  return only && more.length === 0 ? { action: 'map', ...only, confidence: 0.85 } : null
}

/** Suggests a product of the edition by its name, or to create one. */
export function suggestProduct(tuple: ProductTuple, products: readonly KnownProduct[]): ProductSuggestion {
  const create: ProductSuggestion = { action: 'create', product_id: null, variant_id: null, confidence: 0.75 }
  const product = findOnlyNamed(products, tuple.product)
  if (!product) return (tuple.variant === null ? splitSuggestion(tuple.product, products) : null) ?? create
  if (tuple.variant === null) return { action: 'map', product_id: product.id, variant_id: null, confidence: 0.95 }
  const variant = findOnlyNamed(product.variants, tuple.variant)
  return variant
    ? { action: 'map', product_id: product.id, variant_id: variant.id, confidence: 0.95 }
    : { ...create, product_id: product.id }
}
