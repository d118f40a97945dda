import { indexSimilarNames } from '../../domain/data-imports/mapping/index.ts'
import { type FieldError, fieldError } from '../../domain/errors.ts'
import { fold } from '../../domain/text/fold.ts'
import type { OrderEntry } from './check.ts'
import type { ImportState } from './state.ts'
import type { ImportEdition } from './writes.ts'

/** Bounds the work for a call that creates thousands of products. Further ones get a warning without a similar name. */
const maxComparedNames = 100

/** Warns about the products that orders create, because a typing error would create one too. */
export class ProductWarnings {
  readonly #state: Pick<ImportState, 'products' | 'product_names'>
  /** True if the first products of an edition need no warning, unless two names are near each other. */
  readonly #areFirst: boolean
  readonly #newNames = new Map<string, string>()
  #findStored: ((name: string) => string | null) | undefined

  constructor({ has_products }: ImportEdition, state: Pick<ImportState, 'products' | 'product_names'>) {
    this.#state = state
    this.#areFirst = has_products === false
  }

  /** Lists the warnings of the next order. The first order that has a new product gets its warning. */
  list({ order, path }: OrderEntry): FieldError[] {
    const { products, product_names } = this.#state
    if (!product_names) return []
    return order.items.flatMap(({ product, position }) => {
      const key = fold(product)
      if (products.has(key) || this.#newNames.has(key)) return []
      const similarName = this.#findSimilar(product, product_names)
      this.#newNames.set(key, product)
      if (similarName === null && this.#areFirst) return []
      const hint = similarName === null ? '' : ` The edition also has "${similarName}": is it the same product?`
      const detail = `The product "${product}" is new in this edition.${hint}`
      return [fieldError([...path, 'items', position, 'product'], 'product_created', detail)]
    })
  }

  #findSimilar(name: string, storedNames: readonly string[]): string | null {
    if (this.#newNames.size >= maxComparedNames) return null
    this.#findStored ??= indexSimilarNames(storedNames)
    return this.#findStored(name) ?? indexSimilarNames([...this.#newNames.values()])(name)
  }
}
