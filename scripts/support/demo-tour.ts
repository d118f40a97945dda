import type { Client, Page } from './client.ts'
import type { Print, Tenant } from './demo-import.ts'

interface ListedOrder {
  id: string
  external_id: string
  status: string
  amount: number
  currency: string
  customer_email: string
  items_count: number
  created: string
}

interface Order {
  id: string
  external_id: string
  amount: number
  currency: string
  customer: { api_id: string; email: string }
  purchases: { id: string }[]
  transactions: { status: string; service: string; amount: number }[]
}

interface Purchase {
  id: string
  status: string
  product: { name: string }
  price_paid: number
  vendor_code: string | null
}

const formatAmount = (amount: number, currency: string) => `${amount.toFixed(2)} ${currency.toUpperCase()}`

const formatOrder = (order: ListedOrder) =>
  `${order.external_id.padEnd(8)} ${order.status.padEnd(10)} ${formatAmount(order.amount, order.currency).padStart(12)}  ${String(order.items_count).padStart(5)} items  ${order.customer_email}`

/** Finds orders by filters, searches, orderings and pages. */
export async function findOrders(client: Client, { edition_id }: Tenant, print: Print): Promise<ListedOrder> {
  const list = (query: Record<string, string>) =>
    client.get<Page<ListedOrder>>(`/v1/orders?${new URLSearchParams({ edition_id, ...query }).toString()}`)

  const dearest = await list({ ordering: '-amount', page_size: '3' })
  print(`${dearest.count} orders in the edition; the three dearest:`, ...dearest.results.map(formatOrder))
  const cancelled = await list({ status: 'cancelled' })
  print(`${cancelled.count} of them cancelled:`, ...cancelled.results.map(formatOrder))
  const after = '2010-12-01T12:30:00Z'
  print(`${(await list({ created_after: after })).count} created after ${after}`)
  const [first] = dearest.results
  if (!first) throw new Error('No order was found.')
  const { customer_email } = first
  print(`${(await list({ customer_email })).count} of customer ${customer_email}`)
  const number = first.external_id.slice(-4)
  const matches = await list({ search: number })
  print(
    `${matches.count} found by the search for ${number}: ${matches.results.map((order) => order.external_id).join(', ')}`,
  )

  let pages = 0
  const seen = new Set<string>()
  for (let page: Page<ListedOrder> | null = await list({ page_size: '20', ordering: 'created' }); page;) {
    pages++
    for (const order of page.results) seen.add(order.id)
    page = page.next ? await client.get<Page<ListedOrder>>(page.next) : null
  }
  print(`walking by next: ${pages} pages of 20, ${seen.size} different orders`)
  return first
}

/** Reads an order and a purchase, changes the address of the customer, and finds the orders by the new address. */
export async function followCustomer(client: Client, tenant: Tenant, listed: ListedOrder, print: Print): Promise<void> {
  const order = await client.get<Order>(`/v1/orders/${listed.id}`)
  const [transaction] = order.transactions
  print(
    `order ${order.external_id}: ${formatAmount(order.amount, order.currency)}, ${order.purchases.length} purchases, ` +
      (transaction ? `payment ${transaction.status} by ${transaction.service}` : 'no payment'),
  )
  const [bought] = order.purchases
  if (!bought) throw new Error('The order has no purchase.')
  const purchase = await client.get<Purchase>(`/v1/purchases/${bought.id}`)
  print(
    `purchase ${purchase.vendor_code ?? purchase.id}: ${purchase.product.name} for ` +
      `${formatAmount(purchase.price_paid, order.currency)}, ${purchase.status}`,
  )
  const email = `head-office-${order.customer.email}`
  await client.patch(`/v1/user/${order.customer.api_id}`, { email })
  const query = new URLSearchParams({ edition_id: tenant.edition_id, customer_email: email })
  const moved = await client.get<Page<ListedOrder>>(`/v1/orders?${query.toString()}`)
  print(`customer ${order.customer.email} is now ${email}: ${moved.count} orders found under the new address`)
}
