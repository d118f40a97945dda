import { sql } from 'drizzle-orm'
import { locations, products } from '../../src/db/schema/sales/catalog.ts'
import { dataImports } from '../../src/db/schema/data-imports.ts'
import { editions, feeRules, merchantAccounts } from '../../src/db/schema/editions.ts'
import { emailMessages } from '../../src/db/schema/messaging/email-messages.ts'
import { files } from '../../src/db/schema/files/files.ts'
import { cartItems, carts, orders, purchases, purchaseUses, transactions } from '../../src/db/schema/sales/orders.ts'
import { userEditions, users } from '../../src/db/schema/users.ts'
import { insert, insertAll, update } from '../../src/db/write.ts'
import { searchText } from '../../src/domain/text/fold.ts'
import { numberKey } from '../../src/domain/orders/orders.ts'
import { editionRow, freshId, next, seededAt, write } from './seed.ts'

export interface Trade {
  user: string
  order: string
  purchase: string
  transaction: string
}

interface Place {
  organization: string
  edition: string
}

const times = (number: number) => {
  const at = seededAt + Math.floor(number / 3) * 1000
  return { created_at: at, modified_at: at }
}

/** Rows of one customer who bought one ticket. Of several, every fourth lacks what may be missing. */
function trade(place: Place, product: string, index: number) {
  const number = next()
  const stamps = times(number)
  const ids: Trade = {
    user: freshId('user'),
    order: freshId('order'),
    purchase: freshId('purchase'),
    transaction: freshId('transaction'),
  }
  const where = { organization_id: place.organization, edition_id: place.edition }
  // Pairs of orders share their keys of every order but the last.
  const pair = Math.floor(number / 2)
  const email = index % 4 === 2 ? null : `customer-${number}@example.test`
  const phone = index % 4 === 3 ? null : `+4520${String(100_000 + number)}`
  const orderNumber = index % 4 === 3 ? null : String(9_950 + pair)
  const amounts = { deposit_minor: 0, handling_fee_minor: 0 }
  const user = {
    id: ids.user,
    organization_id: place.organization,
    email,
    phone_number: phone,
    first_name: 'Ægir',
    last_name: `Holm ${number}`,
    locale: 'en',
    msg_channel: email === null ? ('sms' as const) : ('email' as const),
    email_folded: email ?? '',
    phone_digits: phone?.slice(1) ?? '',
    search: searchText(`Ægir Holm ${number}`, email, phone?.slice(1)),
    last_seen_at: number % 2 ? null : stamps.created_at,
    ...stamps,
  }
  const order = {
    id: ids.order,
    ...where,
    user_id: ids.user,
    order_number: orderNumber,
    type: number % 2 ? ('imported' as const) : ('online' as const),
    status: (['completed', 'pending', 'cancelled'] as const)[number % 3] ?? 'completed',
    amount_minor: 10_000 + 100 * pair,
    currency: 'dkk' as const,
    items_count: 1,
    has_payment: 1,
    completed_transaction_id: ids.transaction,
    number_folded: orderNumber ?? '',
    number_key: numberKey(orderNumber),
    search_own: searchText(orderNumber, ids.order, ids.transaction),
    search: searchText(orderNumber, ids.order, ids.transaction, email, phone?.slice(1)),
    ...stamps,
  }
  const total = order.amount_minor
  const cart = {
    order_id: ids.order,
    id: freshId('cart'),
    status: 'completed' as const,
    coupon_code: null,
    subtotal_minor: total,
    ...amounts,
    service_fee_minor: 0,
    discount_minor: 0,
    tax_minor: 0,
    total_minor: total,
    created_at: stamps.created_at,
  }
  const item = {
    order_id: ids.order,
    position: 0,
    id: freshId('cart_item'),
    product_id: product,
    variant_id: null,
    location_id: null,
    quantity: 1,
    price_minor: total,
    ...amounts,
  }
  const transaction = {
    id: ids.transaction,
    order_id: ids.order,
    organization_id: place.organization,
    type: 'payment' as const,
    status: 'captured' as const,
    service: 'import' as const,
    amount_minor: total,
    currency: 'dkk' as const,
    service_fee_minor: 0,
    handling_fee_minor: 0,
    created_at: stamps.created_at,
  }
  const purchase = {
    id: ids.purchase,
    ...where,
    order_id: ids.order,
    user_id: ids.user,
    product_id: product,
    variant_id: null,
    location_id: null,
    vendor_code: null,
    status: 'active' as const,
    price_minor: total,
    ...amounts,
    ...stamps,
  }
  const membership = { edition_id: place.edition, user_id: ids.user, created_at: stamps.created_at }
  return { ids, user, membership, order, cart, item, transaction, purchase }
}

/** Orders of as many customers, with all their rows, in three round trips at most. */
export async function seedTrades(place: Place, count: number): Promise<Trade[]> {
  const product = freshId('product')
  const name = `Day ticket ${next()}`
  const rows = Array.from({ length: count }, (_, index) => trade(place, product, index))
  await write(
    insert(products, {
      id: product,
      organization_id: place.organization,
      edition_id: place.edition,
      name,
      name_folded: name.toLowerCase(),
      created_at: seededAt,
    }),
    ...insertAll(
      users,
      rows.map((row) => row.user),
    ),
    ...insertAll(
      userEditions,
      rows.map((row) => row.membership),
    ),
    ...insertAll(
      orders,
      rows.map((row) => row.order),
    ),
    ...insertAll(
      carts,
      rows.map((row) => row.cart),
    ),
    ...insertAll(
      cartItems,
      rows.map((row) => row.item),
    ),
    ...insertAll(
      transactions,
      rows.map((row) => row.transaction),
    ),
    ...insertAll(
      purchases,
      rows.map((row) => row.purchase),
    ),
  )
  return rows.map((row) => row.ids)
}

export async function seedTrade(place: Place): Promise<Trade> {
  const [made] = await seedTrades(place, 1)
  if (!made) throw new Error('no trade was made')
  return made
}

export async function seedLocation(place: Place): Promise<string> {
  const id = freshId('location')
  const name = `Gate ${next()}`
  const where = { organization_id: place.organization, edition_id: place.edition }
  await write(insert(locations, { id, ...where, name, name_folded: name.toLowerCase(), created_at: seededAt }))
  return id
}

/** A ticket of one use that was used. */
export async function seedUse(place: Place): Promise<{ purchase: string; use: string }> {
  const { purchase } = await seedTrade(place)
  const use = freshId('purchase_use')
  const row = { id: use, purchase_id: purchase, quantity: 1, used_at: seededAt, created_at: seededAt }
  await write(update(purchases, { status: 'used', uses_count: 1 }, sql`id = ${purchase}`), insert(purchaseUses, row))
  return { purchase, use }
}

const named = (name: string) => ({ name, search: searchText(name) })

export async function seedDataImports(place: Place, count: number): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({
    id: freshId('data_import'),
    organization_id: place.organization,
    edition_id: place.edition,
    account_id: null,
    ...named(`Import ${Math.floor(next() / 2)}`),
    source: 'api',
    external_source: 'shop',
    status: 'completed' as const,
    options: { on_duplicate: 'skip' as const, emit_webhooks: false, send_receipts: false },
    total_rows: 0,
    created_orders: 0,
    updated_orders: 0,
    skipped_orders: 0,
    failed_orders: 0,
    results: [],
    ...times(next()),
  }))
  await write(...insertAll(dataImports, rows))
  return rows.map((row) => row.id)
}

export const seedEditions = (organization: { id: string; event: string }, count: number): Promise<void> =>
  write(
    ...insertAll(
      editions,
      Array.from({ length: count }, () => {
        const number = next()
        const start = number % 3 ? seededAt + Math.floor(number / 2) * 86_400_000 : null
        return {
          ...editionRow(organization, `Edition ${Math.floor(number / 2)}`),
          start_at: start,
          end_at: start === null ? null : start + 86_400_000,
          ...times(number),
        }
      }),
    ),
  )

/** What the fields of an edition may point to. */
export async function seedReferences(organization: string) {
  const ids = {
    feeRule: `fee_${freshId('request').slice(4)}`,
    merchantAccount: `mac_${freshId('request').slice(4)}`,
    receipt: `eml_${freshId('request').slice(4)}`,
    confirmation: `eml_${freshId('request').slice(4)}`,
    image: `fil_${freshId('request').slice(4)}`,
  }
  const stamps = { created_at: seededAt, modified_at: seededAt }
  const owner = { organization_id: organization }
  const message = { ...owner, edition_id: null, title: 'Receipt', scope: 'template' as const, ...stamps }
  await write(
    insert(feeRules, { id: ids.feeRule, ...owner, name: 'Standard', currency: 'dkk' }),
    insert(merchantAccounts, {
      id: ids.merchantAccount,
      ...owner,
      name: 'Main',
      type: 'manual',
      supported_currencies: ['dkk', 'eur'],
    }),
    insert(emailMessages, { id: ids.receipt, ...message, type: 'receipt' }),
    insert(emailMessages, { id: ids.confirmation, ...message, type: 'refund_confirmation' }),
    insert(files, {
      id: ids.image,
      ...owner,
      edition_id: null,
      name: 'poster.png',
      purpose: 'image',
      mime_type: 'image/png',
      size: 1000,
      access_key: freshId('request'),
      ...stamps,
    }),
  )
  return ids
}
