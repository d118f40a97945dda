import { roleCodes } from '../../../src/domain/accounts/access.ts'
import { buildNumberKey, orderStatuses, orderTypes } from '../../../src/domain/orders/orders.ts'
import { purchaseStatuses } from '../../../src/domain/orders/purchases.ts'
import { refundReasons, refundSources, refundStatuses } from '../../../src/domain/refunds/refunds.ts'
import {
  containsDigits,
  containsText,
  containsTextOrDigits,
  containsWords,
  containsWordsOrPhone,
  createdRange,
  flag,
  matchExactly,
  matchOneOf,
} from './filters.ts'
import type { Contact, LongList, Row, SeenRow } from './model.ts'

const created = { by: ({ shown }: SeenRow) => Date.parse(shown.created) }
const modified = { by: ({ shown }: SeenRow) => Date.parse(shown.modified) }

const listEmails = (contacts: readonly Contact[]) => contacts.map(({ email }) => email)
const listPhones = (contacts: readonly Contact[]) => contacts.map(({ phone_number }) => phone_number)
const listNames = (contacts: readonly Contact[]) =>
  contacts.map(({ first_name, last_name }) => `${first_name} ${last_name}`.trim())

/** Names as people type them: in either order, and with a comma. */
const listTypedNames = (contacts: readonly Contact[]) =>
  contacts.flatMap(({ first_name, last_name }) => [
    `${first_name} ${last_name}`.trim(),
    `${last_name} ${first_name}`.trim(),
    `${last_name}, ${first_name}`,
  ])

/** The texts by which an order is found, except the telephone number. */
const orderTexts = ({ shown, contacts }: SeenRow): (string | null)[] => [
  shown.order_number,
  shown.id,
  shown.external_id,
  ...shown.transaction_ids,
  ...listEmails(contacts),
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
    customer_id: matchExactly(({ customer }) => customer ?? null, 'usr_has_no_order'),
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
    external_id: matchExactly(({ shown }) => shown.external_id, 'X-none'),
    source: matchExactly(({ shown }) => shown.source, 'no-source'),
    data_import_id: {
      values: ({ shown }) => shown.data_import_ids,
      others: ['imp_none'],
      matches: ({ shown }, value) => shown.data_import_ids.includes(value),
    },
    product_id: {
      values: ({ shown }) => shown.product_ids,
      others: ['prd_none'],
      matches: ({ shown }, value) => shown.product_ids.includes(value),
    },
    customer_name: {
      isText: true,
      values: ({ contacts }) => listTypedNames(contacts),
      others: ['nobody', 'holm nobody', 'e', 'n b', 'ng bo'],
      matches: ({ contacts }, value) => listNames(contacts).some((name) => containsWords(name, value)),
    },
    ticket_code: {
      values: ({ shown }) => shown.ticket_codes,
      others: ['CODE-3', 'code-6', 'code'],
      matches: ({ shown }, value) => shown.ticket_codes.some((code: string) => lowerAscii(code) === lowerAscii(value)),
    },
    customer_email: {
      isText: true,
      values: ({ contacts }) => listEmails(contacts).flatMap((email) => email ?? []),
      others: ['nobody@example.dk'],
      matches: ({ contacts }, value) => containsText(listEmails(contacts), value),
    },
    customer_phone: {
      isText: true,
      values: ({ contacts }) => listPhones(contacts).flatMap((phone) => phone ?? []),
      others: ['+4599999999', 'no digits'],
      matches: ({ contacts }, value) => containsDigits(listPhones(contacts), value),
    },
    search: {
      isText: true,
      values: (row) => [...orderTexts(row), ...listPhones(row.contacts)].flatMap((text) => text ?? []),
      others: ['nobody has this', 'e', '20'],
      matches: (row, value) => containsTextOrDigits(orderTexts(row), listPhones(row.contacts), value),
    },
    status: matchOneOf(orderStatuses, ({ shown }) => shown.status),
    type: matchOneOf(orderTypes, ({ shown }) => shown.type),
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

/** Matches the beginning of the code, or a whole order number, order id or purchase id. */
const isPurchaseFound = ({ shown }: SeenRow, value: string): boolean =>
  (shown.vendor_code !== null && lowerAscii(shown.vendor_code).startsWith(lowerAscii(value))) ||
  buildNumberKey(shown.order.order_number) === buildNumberKey(value) ||
  [shown.id, shown.order.id].includes(value)

export const purchasesList = (rows: readonly Row[]): LongList => ({
  id: 'listPurchases',
  path: () => '/v1/purchases',
  roles: roleCodes,
  requires: ['edition_id', 'organization_id', 'user_id'],
  scopes: ['organization_id', 'edition_id'],
  defaultOrdering: '-created',
  orderings: { created },
  filters: {
    product_id: matchExactly(({ shown }) => shown.product.api_id, 'prd_none'),
    user_id: matchExactly(({ customer }) => customer ?? null, 'usr_none'),
    has_vendor_code: flag(({ shown }) => shown.vendor_code !== null),
    is_used: flag(({ shown }) => shown.is_used),
    vendor_code: {
      values: ({ shown }) => (shown.vendor_code === null ? ['code'] : [shown.vendor_code]),
      others: ['CODE-3', 'code-6', 'code'],
      matches: ({ shown }, value) =>
        shown.vendor_code !== null && lowerAscii(shown.vendor_code) === lowerAscii(value.trim()),
    },
    status: matchOneOf(purchaseStatuses, ({ shown }) => shown.status),
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
    ...createdRange,
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
        [...listTypedNames(contacts), ...listEmails(contacts), ...listPhones(contacts)].flatMap((text) => text ?? []),
      others: ['nobody has this', 'zoe', 'e', '20', 'ng bo', 'holm anna', '+4520 anna'],
      matches: ({ contacts }, value) =>
        containsWordsOrPhone([...listNames(contacts), ...listEmails(contacts)], listPhones(contacts), value),
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
    order_id: matchExactly(({ shown }) => shown.order.id, 'ord_none'),
    purchase_id: {
      values: ({ shown }) => shown.purchase_ids,
      others: ['pur_none'],
      matches: ({ shown }, value) => shown.purchase_ids.includes(value),
    },
    customer_id: matchExactly(({ customer }) => customer ?? null, 'usr_none'),
    status: matchOneOf(refundStatuses, ({ shown }) => shown.status),
    reason: matchOneOf(refundReasons, ({ shown }) => shown.reason),
    source: matchOneOf(refundSources, ({ shown }) => shown.source),
    search: {
      isText: true,
      values: (row) =>
        [...refundTexts(row), ...listPhones(row.contacts), row.shown.id, row.shown.provider_reference].flatMap(
          (text) => text ?? [],
        ),
      others: ['nobody has this', 'dk'],
      matches: (row, value) =>
        [row.shown.id, row.shown.provider_reference].includes(value) ||
        containsTextOrDigits(refundTexts(row), listPhones(row.contacts), value),
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
  ...listEmails(contacts),
]
