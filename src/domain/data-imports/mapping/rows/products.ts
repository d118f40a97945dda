import { fold } from '../../../text/fold.ts'
import { areNearWords } from '../../../text/nearest.ts'

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
  const tuplesByKey = new Map<string, Tuple & CountedTuple>()
  for (const tuple of tuples) {
    const key = buildProductKey(tuple)
    const existingTuple = tuplesByKey.get(key)
    if (existingTuple) existingTuple.rows++
    else tuplesByKey.set(key, { ...tuple, rows: 1 })
  }
  return tuplesByKey
}

export function mergeTuples(
  one: ReadonlyMap<string, CountedTuple>,
  other: ReadonlyMap<string, CountedTuple>,
): Map<string, CountedTuple> {
  const mergedTuples = new Map(one)
  for (const [key, tuple] of other) {
    const existingTuple = mergedTuples.get(key)
    mergedTuples.set(key, existingTuple ? { ...existingTuple, rows: existingTuple.rows + tuple.rows } : { ...tuple })
  }
  return mergedTuples
}

interface KnownPart {
  id: string
  name: string
}

export interface KnownProduct extends KnownPart {
  variants: readonly KnownPart[]
}

export interface ProductSuggestion {
  /** Null if the user has to decide whether the similar product is meant. */
  action: 'map' | 'create' | null
  product_id: string | null
  variant_id: string | null
  confidence: number
  similar_product: { id: string; name: string } | null
}

const noProduct = { product_id: null, variant_id: null, similar_product: null }

/** Names of products or variants, folded once. */
interface NameIndex<Part> {
  byName: ReadonlyMap<string, readonly Part[]>
  /** Parts by their words without spaces, and by their sorted words. */
  byRearrangement: ReadonlyMap<string, Part>
  /** Parts by the first letters of their words, which no typo changes. */
  byInitials: ReadonlyMap<string, readonly { words: readonly string[]; part: Part }[]>
}

const getInitials = (words: readonly string[]): string => words.map((word) => word[0] ?? '').join(' ')

const listRearrangements = (words: readonly string[]): string[] => [words.join(''), words.toSorted().join(' ')]

function indexNames<Part extends KnownPart>(parts: readonly Part[]): NameIndex<Part> {
  const namedParts = parts.map((part) => ({ part, words: foldName(part.name).split(' ') }))
  return {
    byName: new Map(
      [...Map.groupBy(namedParts, ({ words }) => words.join(' '))].map(([name, namesakes]) => [
        name,
        namesakes.map(({ part }) => part),
      ]),
    ),
    byRearrangement: new Map(
      namedParts
        .toReversed()
        .flatMap(({ part, words }) => listRearrangements(words).map((key) => [key, part] as const)),
    ),
    byInitials: Map.groupBy(namedParts, ({ words }) => getInitials(words)),
  }
}

export interface ProductIndex {
  products: NameIndex<KnownProduct>
  /** Variants by the names of their product and their own: `Day ticket - Adult`. */
  variants: ReadonlyMap<string, readonly { product_id: string; variant_id: string }[]>
  variantsOf: (product: KnownProduct) => NameIndex<KnownPart>
}

export function indexProducts(products: readonly KnownProduct[]): ProductIndex {
  const variants = products.flatMap((product) =>
    product.variants.map((variant) => ({
      name: foldName(`${product.name} ${variant.name}`),
      ids: { product_id: product.id, variant_id: variant.id },
    })),
  )
  const ofProducts = new Map<string, NameIndex<KnownPart>>()
  return {
    products: indexNames(products),
    variants: new Map(
      [...Map.groupBy(variants, ({ name }) => name)].map(([name, namesakes]) => [
        name,
        namesakes.map(({ ids }) => ids),
      ]),
    ),
    variantsOf: (product) => {
      const index = ofProducts.get(product.id) ?? indexNames(product.variants)
      ofProducts.set(product.id, index)
      return index
    },
  }
}

const findOnly = <Value>(map: ReadonlyMap<string, readonly Value[]>, name: string): Value | null => {
  const [only, ...others] = map.get(foldNameOnce(name)) ?? []
  return only !== undefined && others.length === 0 ? only : null
}

/** Bounds the work for a file and an edition with thousands of products each. */
const maxComparedNames = 2000

/** Finds a name that differs by a typo, by spaces, or by the order of its words. */
function findSimilar<Part extends KnownPart>(index: NameIndex<Part>, name: string): Part | null {
  const words = foldNameOnce(name).split(' ')
  const rearrangedParts = listRearrangements(words).map((key) => index.byRearrangement.get(key))
  const findNearPart = () =>
    index.byInitials
      .get(getInitials(words))
      ?.slice(0, maxComparedNames)
      .find((one) => areNearWords(one.words, words))?.part
  return rearrangedParts.find((part) => part !== undefined) ?? findNearPart() ?? null
}

/** Asks before a new name that is nearly the name of a product or variant of the edition. */
function suggestNewProduct(similarPart: KnownPart | null, product_id: string | null = null): ProductSuggestion {
  const create = { ...noProduct, action: 'create' as const, product_id, confidence: 0.75 }
  return similarPart
    ? { ...create, action: null, confidence: 0, similar_product: { id: similarPart.id, name: similarPart.name } }
    : create
}

/** Suggests a product of the edition by its name, or to create one. */
export function suggestProduct(tuple: ProductTuple, index: ProductIndex): ProductSuggestion {
  const product = findOnly(index.products.byName, tuple.product)
  if (!product) {
    const ids = tuple.variant === null ? findOnly(index.variants, tuple.product) : null
    if (ids) return { ...noProduct, ...ids, action: 'map', confidence: 0.85 }
    return suggestNewProduct(findSimilar(index.products, tuple.product))
  }
  const map = { ...noProduct, action: 'map' as const, product_id: product.id, confidence: 0.95 }
  if (tuple.variant === null) return map
  const variants = index.variantsOf(product)
  const variant = findOnly(variants.byName, tuple.variant)
  return variant
    ? { ...map, variant_id: variant.id }
    : suggestNewProduct(findSimilar(variants, tuple.variant), product.id)
}

/** Finds the name of which a new one may be a misspelling. The names are folded once. */
export function indexSimilarNames(names: readonly string[]): (name: string) => string | null {
  const index = indexNames(names.map((name) => ({ id: name, name })))
  return (name) => findSimilar(index, name)?.name ?? null
}
