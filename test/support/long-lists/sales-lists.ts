import { roleCodes } from '../../../src/domain/accounts/access.ts'
import { buildNumberKey, orderStatuses, orderTypes } from '../../../src/domain/orders/orders.ts'
import { purchaseStatuses } from '../../../src/domain/orders/purchases.ts'
import { refundReasons, refundSources, refundStatuses } from '../../../src/domain/refunds/refunds.ts'
import { containsDigits, containsText, containsTextOrDigits, createdRange, exactly, oneOf } from './filters.ts'
import type { Contact, LongList, Row, SeenRow } from './model.ts'

const created = { by: ({ shown }: SeenRow) => Date.parse(shown.created) }
const modified = { by: ({ shown }: SeenRow) => Date.parse(shown.modified) }

const emailsOf = (contacts: readonly Contact[]) => contacts.map(({ email }) => email)
const phonesOf = (contacts: readonly Contact[]) => contacts.map(({ phone_number }) => phone_number)
const namesOf = (contacts: readonly Contact[]) =>
  contacts.map(({ first_name, last_name }) => `${first_name} ${last_name}`.trim())

/** The texts of an order by which it is found, but for the telephone number. */
const orderTexts = ({ shown, contacts }: SeenRow): (string | null)[] => [
  shown.order_number,
  shown.id,
  shown.external_id,
  ...shown.transaction_ids,
  ...emailsOf(contacts),
]

export const ordersList = (rows: readonly Row[]): LongList => ({
  id: 'listOrders',
  path: () => '/v1/orders',
  roles: roleCodes,
  requires: ['edition_id', 'organization_id', 'customer_id'],
  scopes: ['organization_id', 'edition_id'],
  defaultOrdering: '-created',
  orderings: {
    created,
    modified,
    order_number: { by: ({ shown }) => buildNumberKey(shown.order_number) },
    status: { by: ({ shown }) => shown.status },
    type: { by: ({ shown }) => shown.type },
    amount: { by: ({ shown }) => shown.amount },
  },
  filters: {
    customer_id: exactly(({ customer }) => customer ?? null, 'usr_has_no_order'),
    transaction_id: {
      values: ({ shown }) => shown.transaction_ids,
      others: ['trx_none'],
      matches: ({ shown }, value) => shown.transaction_ids.includes(value),
    },
    order_number: {
      isText: true,
      values: ({ shown }) => [shown.order_number ?? 'none'],
      others: ['none'],
      matches: ({ shown }, value) => containsText([shown.order_number], value),
    },
    external_id: exactly(({ shown }) => shown.external_id, 'X-none'),
    customer_email: {
      isText: true,
      values: ({ contacts }) => emailsOf(contacts).flatMap((email) => email ?? []),
      others: ['nobody@example.dk'],
      matches: ({ contacts }, value) => containsText(emailsOf(contacts), value),
    },
    customer_phone: {
      isText: true,
      values: ({ contacts }) => phonesOf(contacts).flatMap((phone) => phone ?? []),
      others: ['+4599999999', 'no digits'],
      matches: ({ contacts }, value) => containsDigits(phonesOf(contacts), value),
    },
    search: {
      isText: true,
      values: (row) => [...orderTexts(row), ...phonesOf(row.contacts)].flatMap((text) => text ?? []),
      others: ['nobody has this', 'e', '20'],
      matches: (row, value) => containsTextOrDigits(orderTexts(row), phonesOf(row.contacts), value),
    },
    status: oneOf(orderStatuses, ({ shown }) => shown.status),
    type: oneOf(orderTypes, ({ shown }) => shown.type),
    ...createdRange,
  },
  rows: () => rows,
  seen: ({ shown, contact }) => ({
    order_number: shown.order_number,
    amount: shown.amount,
    customer_name: `${contact.first_name} ${contact.last_name}`.trim(),
    customer_email: contact.email,
  }),
})

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** The beginning of the code, or the whole of an order number, an order id or a purchase id. */
const isPurchaseFound = ({ shown }: SeenRow, value: string): boolean =>
  (shown.vendor_code !== null && lowerAscii(shown.vendor_code).startsWith(lowerAscii(value))) ||
  buildNumberKey(shown.order.order_number) === buildNumberKey(value) ||
  [shown.id, shown.order.id].includes(value)

export const purchasesList = (rows: readonly Row[]): LongList => ({
  id: 'listPurchases',
  path: () => '/v1/purchases',
  roles: roleCodes,
  requires: ['edition_id'],
  scopes: ['edition_id'],
  defaultOrdering: '-created',
  orderings: { created },
  filters: {
    vendor_code: {
      values: ({ shown }) => (shown.vendor_code === null ? ['code'] : [shown.vendor_code]),
      others: ['CODE-3', 'code-6', 'code'],
      matches: ({ shown }, value) =>
        shown.vendor_code !== null && lowerAscii(shown.vendor_code) === lowerAscii(value.trim()),
    },
    status: oneOf(purchaseStatuses, ({ shown }) => shown.status),
    search: {
      values: ({ shown }) => [
        shown.id,
        shown.order.id,
        ...(shown.vendor_code === null ? [] : [shown.vendor_code, shown.vendor_code.slice(0, 6).toUpperCase()]),
        ...(shown.order.order_number === null ? [] : [shown.order.order_number]),
      ],
      others: ['co', 'nothing'],
      matches: isPurchaseFound,
    },
  },
  rows: () => rows,
  seen: ({ shown, contact }) => ({
    status: shown.status,
    user: {
      full_name: `${contact.first_name} ${contact.last_name}`.trim(),
      email: contact.email,
    },
  }),
})

export const customersList = (rows: readonly Row[]): LongList => ({
  id: 'listUsers',
  path: () => '/v1/user',
  roles: roleCodes,
  scopes: ['organization_id', 'edition_id'],
  fixedSize: 100,
  defaultOrdering: '-date_joined',
  orderings: {
    email: { by: ({ shown }) => shown.email },
    phone_number: { by: ({ shown }) => shown.phone_number },
    date_joined: { by: ({ shown }) => Date.parse(shown.date_joined) },
    last_seen: { by: ({ shown }) => (shown.last_seen === null ? null : Date.parse(shown.last_seen)) },
  },
  filters: {
    search: {
      isText: true,
      values: ({ contacts }) =>
        [...namesOf(contacts), ...emailsOf(contacts), ...phonesOf(contacts)].flatMap((text) => text ?? []),
      others: ['nobody has this', 'zoe', 'e', '20'],
      matches: ({ contacts }, value) =>
        containsTextOrDigits([...namesOf(contacts), ...emailsOf(contacts)], phonesOf(contacts), value),
    },
  },
  rows: () => rows,
  seen: ({ shown }) => shown,
})

export const refundsList = (rows: readonly Row[]): LongList => ({
  id: 'listRefundRequests',
  path: () => '/v1/refund-requests',
  roles: roleCodes,
  scopes: ['organization_id', 'edition_id'],
  defaultOrdering: '-created',
  orderings: {
    created,
    modified,
    requested_amount: { by: ({ shown }) => shown.requested_amount },
    status: { by: ({ shown }) => shown.status },
  },
  filters: {
    order_id: exactly(({ shown }) => shown.order.id, 'ord_none'),
    purchase_id: {
      values: ({ shown }) => shown.purchase_ids,
      others: ['pur_none'],
      matches: ({ shown }, value) => shown.purchase_ids.includes(value),
    },
    customer_id: exactly(({ customer }) => customer ?? null, 'usr_none'),
    status: oneOf(refundStatuses, ({ shown }) => shown.status),
    reason: oneOf(refundReasons, ({ shown }) => shown.reason),
    source: oneOf(refundSources, ({ shown }) => shown.source),
    search: {
      isText: true,
      values: (row) =>
        [...refundTexts(row), ...phonesOf(row.contacts), row.shown.id, row.shown.provider_reference].flatMap(
          (text) => text ?? [],
        ),
      others: ['nobody has this', 'dk'],
      matches: (row, value) =>
        [row.shown.id, row.shown.provider_reference].includes(value) ||
        containsTextOrDigits(refundTexts(row), phonesOf(row.contacts), value),
    },
    ...createdRange,
  },
  rows: () => rows,
  seen: ({ shown, contact }) => ({
    status: shown.status,
    customer: {
      full_name: `${contact.first_name} ${contact.last_name}`.trim(),
      email: contact.email,
    },
  }),
})

/** A refund request is found by the texts of its order. */
const refundTexts = ({ shown, contacts }: SeenRow): (string | null)[] => [
  shown.order.order_number,
  shown.order.id,
  shown.external_id,
  ...shown.transaction_ids,
  ...emailsOf(contacts),
]
