import type { Ctx } from '../../context.ts'
import type { ExternalItem, ResolvedItem } from '../../domain/external-orders.ts'
import { fold } from '../../domain/fold.ts'
import { childKey, type ImportState } from './state.ts'
import type { Edition, Writes } from './writes.ts'

/** The row of that name, made when there is none. */
function named<Row>(known: Map<string, Row>, key: string, added: Row[], make: () => Row): Row {
  const row = known.get(key) ?? make()
  if (!known.has(key)) {
    known.set(key, row)
    added.push(row)
  }
  return row
}

/** The items of an order with the catalogue's ids; names that the edition does not have yet join its catalogue. */
export function resolveItems(
  ctx: Ctx,
  edition: Edition,
  state: ImportState,
  writes: Writes,
  items: readonly ExternalItem[],
): ResolvedItem[] {
  const created_at = ctx.now()
  const home = { organization_id: edition.organization_id, edition_id: edition.id, is_draft: 0, created_at }
  const naming = (name: string) => ({ name, name_folded: fold(name) })
  return items.map((item) => {
    const product = named(state.products, fold(item.product), writes.products, () => ({
      id: ctx.newId('product'),
      ...home,
      ...naming(item.product),
    }))
    const child = (name: string) => ({ product_id: product.id, ...naming(name), created_at })
    const { variant, location } = item
    return {
      product_id: product.id,
      variant_id:
        variant &&
        named(state.variants, childKey(product.id, variant), writes.variants, () => ({
          id: ctx.newId('variant'),
          ...child(variant),
        })).id,
      location_id:
        location &&
        named(state.locations, fold(location), writes.locations, () => ({
          id: ctx.newId('location'),
          ...home,
          ...naming(location),
        })).id,
      options: item.options.map((name) => {
        const option = named(state.options, childKey(product.id, name), writes.options, () => ({
          id: ctx.newId('option'),
          ...child(name),
          price_mod_minor: 0,
          deposit_mod_minor: 0,
        }))
        return { api_id: option.id, name: option.name, price_mod_minor: 0, deposit_mod_minor: 0 }
      }),
      quantity: item.quantity,
      price_minor: item.price_minor,
      deposit_minor: item.deposit_minor,
      handling_fee_minor: item.handling_fee_minor,
      vendor_code: item.vendor_code,
      uses_limit: item.uses_limit,
      is_unlimited_use: item.is_unlimited_use,
      valid_until: item.valid_until,
    }
  })
}
