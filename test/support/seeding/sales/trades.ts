import { sql } from 'drizzle-orm'
import { insertEditionCustomers } from '../../../../src/db/customers.ts'
import { products } from '../../../../src/db/schema/catalog.ts'
import { users } from '../../../../src/db/schema/customers.ts'
import { orders, transactions } from '../../../../src/db/schema/orders.ts'
import { purchases, purchaseUses } from '../../../../src/db/schema/purchases.ts'
import { insert, insertAll, update } from '../../../../src/db/write.ts'
import { buildSearchColumns } from '../../../../src/domain/accounts/users.ts'
import { buildNameColumns } from '../../../../src/domain/catalogue.ts'
import { buildNumberKey } from '../../../../src/domain/orders/orders.ts'
import type { PaymentService } from '../../../../src/domain/refunds/merchant-accounts.ts'
import { buildSearchText } from '../../../../src/domain/text/fold.ts'
import { buildMembership } from '../customers.ts'
import { seedEdition } from '../editions.ts'
import { givenOrganization } from '../organizations.ts'
import { freshId, next, type Place, seededAt, seededTimes, write } from '../rows.ts'
import { seedEndpoint } from '../webhooks.ts'
import { seedMerchantAccount } from './merchant-accounts.ts'

export interface Trade {
  user: string
  order: string
  purchase: string
  transaction: string
}

/** Builds rows of one customer who bought one ticket. Of several, every fourth lacks what may be missing. */
function tradeRows(place: Place, product: string, index: number) {
  const number = next()
  const stamps = seededTimes(number)
  const ids: Trade = {
    user: freshId('user'),
    order: freshId('order'),
    purchase: freshId('purchase'),
    transaction: freshId('transaction'),
  }
  const where = { organization_id: place.organization, edition_id: place.edition }
  // Pairs of orders share the keys of every ordering except the last.
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
    ...buildSearchColumns({ email, phone_number: phone, first_name: 'Ægir', last_name: `Holm ${number}` }),
    last_seen_at: number % 2 ? null : stamps.created_at,
    ...stamps,
  }
  const amount = 10_000 + 100 * pair
  const order = {
    id: ids.order,
    ...where,
    user_id: ids.user,
    order_number: orderNumber,
    type: number % 2 ? ('imported' as const) : ('online' as const),
    status: (['completed', 'pending', 'cancelled'] as const)[number % 3] ?? 'completed',
    amount_minor: amount,
    currency: 'dkk' as const,
    items_count: 1,
    has_payment: true,
    completed_transaction_id: ids.transaction,
    cart: {
      id: freshId('cart'),
      subtotal_minor: amount,
      items: [{ id: freshId('cart_item'), product_id: product, quantity: 1, price_minor: amount }],
    },
    number_folded: orderNumber ?? '',
    number_key: buildNumberKey(orderNumber),
    search_text: buildSearchText(orderNumber, ids.order, ids.transaction),
    ...stamps,
  }
  const transaction = {
    id: ids.transaction,
    order_id: ids.order,
    type: 'payment' as const,
    status: 'captured' as const,
    service: 'import' as const,
    amount_minor: amount,
    currency: 'dkk' as const,
    service_fee_minor: 0,
    handling_fee_minor: 0,
    created_at: stamps.created_at,
  }
  const purchase = {
    id: ids.purchase,
    edition_id: place.edition,
    order_id: ids.order,
    user_id: ids.user,
    product_id: product,
    variant_id: null,
    location_id: null,
    vendor_code: null,
    status: 'active' as const,
    price_minor: amount,
    ...amounts,
    ...stamps,
  }
  const membership = buildMembership(place.edition, user, stamps.created_at)
  return { ids, user, membership, order, transaction, purchase }
}

/** Only imports create products. Returns the product's id. */
export async function seedProduct(place: Place, columns: Partial<typeof products.$inferInsert> = {}): Promise<string> {
  const id = freshId('product')
  const tenant = { organization_id: place.organization, edition_id: place.edition }
  await write(
    insert(products, {
      id,
      ...tenant,
      ...buildNameColumns(columns.name ?? `Day ticket ${next()}`),
      created_at: seededAt,
      modified_at: seededAt,
      ...columns,
    }),
  )
  return id
}

/** Seeds orders of as many customers for one product, with all their rows, in a few round trips. */
export async function seedTrades(place: Place, count: number): Promise<Trade[]> {
  const product = await seedProduct(place)
  const rows = Array.from({ length: count }, (_, index) => tradeRows(place, product, index))
  await write(
    ...insertAll(
      users,
      rows.map((row) => row.user),
    ),
    ...insertEditionCustomers(rows.map((row) => row.membership)),
    ...insertAll(
      orders,
      rows.map((row) => row.order),
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

/** Seeds a completed order of a customer for one ticket. */
export async function seedTrade(place: Place): Promise<Trade> {
  const [trade] = await seedTrades(place, 1)
  if (!trade) throw new Error('no trade was made')
  await write(sql`update orders set status = 'completed' where id = ${trade.order}`)
  return trade
}

/** Seeds a ticket of one use that was used. */
export async function seedUse(place: Place): Promise<{ purchase: string; use: string }> {
  const { purchase } = await seedTrade(place)
  const use = freshId('purchase_use')
  const row = { id: use, purchase_id: purchase, quantity: 1, used_at: seededAt, created_at: seededAt }
  await write(update(purchases, { status: 'used', uses_count: 1 }, sql`id = ${purchase}`), insert(purchaseUses, row))
  return { purchase, use }
}

/** Seeds reverted uses of a purchase, some at the same time. */
export async function seedUsesOf(purchase: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: freshId('purchase_use'),
    purchase_id: purchase,
    quantity: 1,
    used_at: seededAt + Math.floor(index / 2) * 1000,
    reverted_at: seededAt + 1_000_000,
    created_at: seededAt,
  }))
  await write(...insertAll(purchaseUses, rows))
}

/** Seeds one more purchase like another, in the same order. */
export async function seedPurchaseLike(purchase: string): Promise<string> {
  const id = freshId('purchase')
  const columns = sql`edition_id, order_id, user_id, product_id, status, price_minor, deposit_minor,
    handling_fee_minor, created_at, modified_at`
  await write(
    sql`insert into purchases (id, ${columns}) select ${id}, ${columns} from purchases where id = ${purchase}`,
  )
  return id
}

export interface Sale extends Trade, Place {
  account: string
  /** The price of a ticket in minor units. */
  amount: number
}

/** Seeds a ticket of 100.00 kr. that was paid through a merchant account, in a new organisation. */
export async function seedSale(type: PaymentService = 'test'): Promise<Sale> {
  const organization = await givenOrganization()
  const edition = await seedEdition(organization, { enabled_languages: ['en', 'da'] })
  const place = { organization: organization.id, edition: edition.id }
  await seedEndpoint(place, { events: ['purchase.action'] })
  const columns = { name: 'Nordlys', type, supported_currencies: ['dkk'] as const }
  const account = await seedMerchantAccount(organization, columns, edition.id)
  return seedSaleIn({ ...place, account })
}

/** Seeds one more such ticket of the edition, in its own order. */
export async function seedSaleIn(place: Place & { account: string }): Promise<Sale> {
  const trade = await seedTrade(place)
  const amount = 10_000
  const prices = sql`price_minor = ${amount}, status = 'active'`
  await write(
    sql`update purchases set ${prices} where id = ${trade.purchase}`,
    sql`update transactions set amount_minor = ${amount}, provider_reference = ${`pi_${trade.transaction}`},
      organization_id = ${place.organization}, reference_since = ${next()},
      merchant_account_id = ${place.account}, service = 'test' where id = ${trade.transaction}`,
    sql`update users set email = ${`${trade.user}@example.test`} where id = ${trade.user}`,
  )
  return { ...place, ...trade, amount }
}

export interface Buyer extends Place {
  user: string
  order: string
}

/** Seeds an organisation with an edition, in which one customer has an order. */
export async function seedBuyer(): Promise<Buyer> {
  const organization = await givenOrganization()
  const edition = await seedEdition(organization)
  const trade = await seedTrade({ organization: organization.id, edition: edition.id })
  return { organization: organization.id, edition: edition.id, user: trade.user, order: trade.order }
}
