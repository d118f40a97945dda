import { roleCodes } from '../../../src/domain/accounts/access.ts'
import { numberKey, orderStatuses, orderTypes } from '../../../src/domain/orders/orders.ts'
import { containsDigits, containsText, containsTextOrDigits, createdRange, exactly, oneOf } from './filters.ts'
import type { LongList, Row, SeenRow } from './model.ts'

const created = { by: ({ shown }: SeenRow) => Date.parse(shown.created) }
const modified = { by: ({ shown }: SeenRow) => Date.parse(shown.modified) }

/** The texts of an order by which it is found, but for the telephone number. */
const orderTexts = ({ shown, contact }: SeenRow): (string | null)[] => [
  shown.order_number,
  shown.id,
  shown.external_id,
  ...shown.transaction_ids,
  contact.email,
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
    order_number: { by: ({ shown }) => numberKey(shown.order_number) },
    status: { by: ({ shown }) => shown.status },
    type: { by: ({ shown }) => shown.type },
    amount: { by: ({ shown }) => shown.amount },
  },
  filters: {
    customer_id: exactly(({ customer }) => customer ?? null, 'usr_has_no_order'),
    transaction_id: {
      values: (all) => [...all.flatMap(({ shown }) => shown.transaction_ids), 'trx_none'],
      matches: ({ shown }, value) => shown.transaction_ids.includes(value),
    },
    order_number: {
      isText: true,
      values: (all) => all.flatMap(({ shown }) => shown.order_number ?? []),
      matches: ({ shown }, value) => containsText([shown.order_number], value),
    },
    external_id: exactly(({ shown }) => shown.external_id, 'X-none'),
    customer_email: {
      isText: true,
      values: (all) => all.flatMap(({ contact }) => contact.email ?? []),
      matches: ({ contact }, value) => containsText([contact.email], value),
    },
    customer_phone: {
      isText: true,
      values: (all) => all.flatMap(({ contact }) => contact.phone_number ?? []),
      matches: ({ contact }, value) => containsDigits(contact.phone_number, value),
    },
    search: {
      isText: true,
      values: (all) => all.flatMap((row) => [...orderTexts(row), row.contact.phone_number].flatMap((text) => text ?? [])),
      matches: (row, value) => containsTextOrDigits(orderTexts(row), row.contact.phone_number, value),
    },
    status: oneOf(orderStatuses, ({ shown }) => shown.status),
    type: oneOf(orderTypes, ({ shown }) => shown.type),
    ...createdRange('inclusive'),
  },
  rows: () => rows,
  seen: ({ shown, contact }) => ({
    order_number: shown.order_number,
    amount: shown.amount,
    customer_name: `${contact.first_name} ${contact.last_name}`.trim(),
    customer_email: contact.email,
  }),
})
