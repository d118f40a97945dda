import { buildNameColumns } from '../../domain/catalogue.ts'
import type { ExternalItem } from '../../domain/orders/external-orders.ts'
import type { ResolvedItem } from '../../domain/orders/reconcile-purchases.ts'
import { fold } from '../../domain/text/fold.ts'
import {
  buildChildKey,
  type ImportState,
  type LocationRow,
  type OptionRow,
  type ProductRow,
  type VariantRow,
} from './state.ts'
import { type DecisionContext, buildInsert, type Write } from './writes.ts'

/** Rows of a catalogue table by their key, including the rows that the import adds. */
class CatalogueRows<Row> {
  readonly #rows: Map<string, Row>
  readonly newRows: Row[] = []

  constructor(existingRows: ReadonlyMap<string, Row>) {
    this.#rows = new Map(existingRows)
  }

  getOrCreate(key: string, create: () => Row): Row {
    const existingRow = this.#rows.get(key)
    if (existingRow) return existingRow
    const row = create()
    this.#rows.set(key, row)
    this.newRows.push(row)
    return row
  }

  list(): Row[] {
    return [...this.#rows.values()]
  }
}

/** Resolves names of products, variants, locations and options. Unknown names are added to the edition's catalogue. */
export class CatalogueResolver {
  readonly #context: DecisionContext
  readonly #products: CatalogueRows<ProductRow>
  readonly #locations: CatalogueRows<LocationRow>
  readonly #variants: CatalogueRows<VariantRow>
  readonly #options: CatalogueRows<OptionRow>

  constructor(context: DecisionContext, state: ImportState) {
    this.#context = context
    this.#products = new CatalogueRows(state.products)
    this.#locations = new CatalogueRows(state.locations)
    this.#variants = new CatalogueRows(state.variants)
    this.#options = new CatalogueRows(state.options)
  }

  resolve(item: ExternalItem): Pick<ResolvedItem, 'product_id' | 'variant_id' | 'location_id' | 'options'> {
    const { edition, now, newId } = this.#context
    const editionColumns = {
      organization_id: edition.organization_id,
      edition_id: edition.id,
      is_draft: false,
      created_at: now,
    }
    const product_id = this.#products.getOrCreate(fold(item.product), () => ({
      id: newId('product'),
      ...editionColumns,
      ...buildNameColumns(item.product),
      modified_at: now,
    })).id
    const buildChildColumns = (name: string) => ({ product_id, ...buildNameColumns(name), created_at: now })
    const { variant, location } = item
    return {
      product_id,
      variant_id:
        variant &&
        this.#variants.getOrCreate(buildChildKey(product_id, variant), () => ({
          id: newId('variant'),
          ...buildChildColumns(variant),
        })).id,
      location_id:
        location &&
        this.#locations.getOrCreate(fold(location), () => ({
          id: newId('location'),
          ...editionColumns,
          ...buildNameColumns(location),
          version: 1,
          modified_at: now,
        })).id,
      options: item.options.map((name) => {
        const option = this.#options.getOrCreate(buildChildKey(product_id, name), () => ({
          id: newId('option'),
          ...buildChildColumns(name),
          price_mod_minor: 0,
          deposit_mod_minor: 0,
        }))
        return { api_id: option.id, name: option.name, price_mod_minor: 0, deposit_mod_minor: 0 }
      }),
    }
  }

  /** Names of products and variants by id. */
  mapNames(): Map<string, string> {
    return new Map([...this.#products.list(), ...this.#variants.list()].map(({ id, name }) => [id, name]))
  }

  buildWrites(): Write[] {
    return [
      ...buildInsert('products', this.#products.newRows),
      ...buildInsert('locations', this.#locations.newRows),
      ...buildInsert('variants', this.#variants.newRows),
      ...buildInsert('options', this.#options.newRows),
    ]
  }
}
