import type { ExternalItem } from '../../domain/orders/external-orders.ts'
import { fold } from '../../domain/text/fold.ts'
import type { ResolvedItem } from '../../domain/orders/reconcile-purchases.ts'
import {
  buildChildKey,
  type ImportState,
  type LocationRow,
  type OptionRow,
  type ProductRow,
  type VariantRow,
} from './state.ts'
import { type DecisionContext, buildInsert, type Write } from './writes.ts'

class Names<Row> {
  readonly #known: Map<string, Row>
  readonly added: Row[] = []

  constructor(known: ReadonlyMap<string, Row>) {
    this.#known = new Map(known)
  }

  /** Creates the row if there is none. */
  get(key: string, make: () => Row): Row {
    const existing = this.#known.get(key)
    if (existing) return existing
    const row = make()
    this.#known.set(key, row)
    this.added.push(row)
    return row
  }

  all(): Row[] {
    return [...this.#known.values()]
  }
}

const naming = (name: string) => ({ name, name_folded: fold(name) })

/** Names that the edition does not have are added to its catalogue. */
export class CatalogueDecisions {
  readonly #context: DecisionContext
  readonly #products: Names<ProductRow>
  readonly #locations: Names<LocationRow>
  readonly #variants: Names<VariantRow>
  readonly #options: Names<OptionRow>

  constructor(context: DecisionContext, state: ImportState) {
    this.#context = context
    this.#products = new Names(state.products)
    this.#locations = new Names(state.locations)
    this.#variants = new Names(state.variants)
    this.#options = new Names(state.options)
  }

  add(item: ExternalItem): Pick<ResolvedItem, 'product_id' | 'variant_id' | 'location_id' | 'options'> {
    const { edition, now, newId } = this.#context
    const place = { organization_id: edition.organization_id, edition_id: edition.id, is_draft: false, created_at: now }
    const product_id = this.#products.get(fold(item.product), () => ({
      id: newId('product'),
      ...place,
      ...naming(item.product),
    })).id
    const child = (name: string) => ({ product_id, ...naming(name), created_at: now })
    const { variant, location } = item
    return {
      product_id,
      variant_id:
        variant &&
        this.#variants.get(buildChildKey(product_id, variant), () => ({ id: newId('variant'), ...child(variant) })).id,
      location_id:
        location &&
        this.#locations.get(fold(location), () => ({ id: newId('location'), ...place, ...naming(location) })).id,
      options: item.options.map((name) => {
        const option = this.#options.get(buildChildKey(product_id, name), () => ({
          id: newId('option'),
          ...child(name),
          price_mod_minor: 0,
          deposit_mod_minor: 0,
        }))
        return { api_id: option.id, name: option.name, price_mod_minor: 0, deposit_mod_minor: 0 }
      }),
    }
  }

  names(): Map<string, string> {
    return new Map([...this.#products.all(), ...this.#variants.all()].map(({ id, name }) => [id, name]))
  }

  writes(): Write[] {
    return [
      ...buildInsert('products', this.#products.added),
      ...buildInsert('locations', this.#locations.added),
      ...buildInsert('variants', this.#variants.added),
      ...buildInsert('options', this.#options.added),
    ]
  }
}
