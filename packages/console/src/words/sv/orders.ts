import type { Words } from '../en'

export const orders: Words['orders'] = {
  title: 'Orders',
  one: 'Order',
  searchHint: 'Name, e-mail, phone, order number',
  count: { one: '# order', other: '# orders' },
  empty: 'No orders yet',
  emptyHint: 'Orders come from your shop by the API, or from a file by an import.',
  statuses: { pending: 'Pending', confirmed: 'Confirmed', completed: 'Completed', cancelled: 'Cancelled' },
  types: { online: 'Online', 'in-person': 'In person', imported: 'Imported' },
  number: 'Number',
  items: 'Items',
  payment: 'Payment',
  paid: 'Paid',
  unpaid: 'Not paid',
  source: 'Source',
  externalId: 'External id',
  orderNumber: 'Order number',
  ticketCode: 'Ticket code',
  createdAfter: 'Created from',
  createdBefore: 'Created until',
}
