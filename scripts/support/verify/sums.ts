import { failReasons } from '../../../src/domain/campaigns/sending-policy.ts'
import { reservedStatuses } from '../../../src/domain/refunds/refunds.ts'
import type { Comparison } from './comparisons.ts'
import { quote } from './query.ts'

const list = (words: readonly string[]): string => words.map(quote).join(', ')
const cart = (name: string): string => `coalesce(orders.cart ->> '$.${name}', 0)`
const sumOfItems = (value: string): string =>
  `(select coalesce(sum(coalesce(value ->> 'quantity', 1) * ${value}), 0) from json_each(orders.cart, '$.items'))`
const purchasesSum = `(select coalesce(sum(price_minor + deposit_minor + handling_fee_minor), 0) from purchases
  where order_id = orders.id)`

const orders: Comparison[] = [
  {
    title: 'Amounts of orders and their carts',
    unit: 'orders',
    table: 'orders',
    keys: ['seq'],
    id: 'orders.id',
    stored: 'json_array(amount_minor, items_count)',
    counted: `json_array(${cart('subtotal_minor')} + ${cart('deposit_minor')} + ${cart('handling_fee_minor')}
      + ${cart('service_fee_minor')} - ${cart('discount_minor')}, ${sumOfItems('1')})`,
  },
  {
    title: 'Carts and their items',
    unit: 'orders',
    table: 'orders',
    keys: ['seq'],
    id: 'orders.id',
    stored: `json_array(${cart('subtotal_minor')}, ${cart('deposit_minor')}, ${cart('handling_fee_minor')})`,
    counted: `json_array(${sumOfItems("coalesce(value ->> 'price_minor', 0)")},
      ${sumOfItems("coalesce(value ->> 'deposit_minor', 0)")},
      ${sumOfItems("coalesce(value ->> 'handling_fee_minor', 0)")})`,
  },
  {
    // An update of an order leaves purchases that were used, refunded or cancelled, also with another price.
    title: 'Amounts of orders and their purchases',
    unit: 'orders',
    table: 'orders',
    keys: ['seq'],
    id: 'orders.id',
    stored: `amount_minor - ${cart('service_fee_minor')}`,
    counted: `iif(exists (select 1 from purchases where order_id = orders.id and status <> 'active'),
      amount_minor - ${cart('service_fee_minor')}, ${purchasesSum})`,
  },
]

const customers: Comparison[] = [
  {
    title: 'Customers of editions',
    unit: 'orders',
    table: 'orders',
    keys: ['seq'],
    id: 'orders.id',
    stored: '1',
    counted: `exists (select 1 from users join edition_customers on user_seq = users.seq
      where users.id = orders.user_id and edition_customers.edition_id = orders.edition_id)`,
    describe: (id) => `The customer of ${id} is not among the customers of its edition.`,
  },
]

const purchases: Comparison[] = [
  {
    title: 'Uses of purchases',
    unit: 'purchases',
    table: 'purchases',
    keys: ['id'],
    id: 'purchases.id',
    stored: 'uses_count',
    counted: `(select coalesce(sum(quantity), 0) from purchase_uses
      where purchase_id = purchases.id and reverted_at is null)`,
  },
  {
    title: 'Reserved and refunded amounts of purchases',
    unit: 'purchases',
    table: 'purchases',
    keys: ['id'],
    id: 'purchases.id',
    stored: 'json_array(reserved_minor, refunded_minor)',
    counted: `(select json_array(coalesce(sum(iif(status in (${list(reservedStatuses)}), amount_minor, 0)), 0),
        coalesce(sum(iif(status = 'completed', amount_minor, 0)), 0))
      from refund_items join refund_requests on refund_requests.id = refund_request_id
      where refund_items.purchase_id = purchases.id)`,
  },
]

const refunds: Comparison[] = [
  {
    title: 'Amounts of payments and their refunds',
    unit: 'payments',
    table: 'transactions',
    keys: ['id'],
    id: 'transactions.id',
    where: "type = 'payment'",
    stored: 'amount_minor',
    counted: 'max(amount_minor, reserved_minor + refunded_minor)',
  },
  {
    title: 'Reserved amounts of payments',
    unit: 'payments',
    table: 'transactions',
    keys: ['id'],
    id: 'transactions.id',
    where: "type = 'payment'",
    stored: 'reserved_minor',
    counted: `(select coalesce(sum(coalesce(approved_minor, requested_minor)), 0) from refund_requests
      where transaction_id = transactions.id and status in (${list(reservedStatuses)}))`,
  },
  {
    // Imports and providers report refunds without a request, so more may be refunded than requests say.
    title: 'Refunded amounts of payments',
    unit: 'payments',
    table: 'transactions',
    keys: ['id'],
    id: 'transactions.id',
    where: "type = 'payment'",
    stored: 'refunded_minor',
    counted: `max(refunded_minor, (select coalesce(sum(refunded_minor), 0) from refund_requests
      where transaction_id = transactions.id and status = 'completed'))`,
  },
]

const messages: Comparison[] = [
  {
    title: 'Members of segments',
    unit: 'segments',
    table: 'segments',
    keys: ['seq'],
    id: 'segments.id',
    where: "status = 'ready' and deleted_at is null",
    stored: 'user_count',
    counted: `(select count(*) from segment_members
      where segment_seq = segments.seq and epoch = segments.members_epoch and excluded_for is null)`,
  },
  {
    title: 'Counts of campaigns',
    unit: 'campaigns',
    table: 'campaigns',
    keys: ['seq'],
    id: 'campaigns.id',
    stored: 'json_array(total_recipients, failed_count)',
    counted: `json_array(max(total_recipients, sent_count + failed_count),
      ${failReasons.map((reason) => `${reason}_count`).join(' + ')})`,
  },
  {
    // An attempt counts when it begins, and one that a crash ended has no record.
    title: 'Attempts of deliveries',
    unit: 'deliveries',
    table: 'webhook_deliveries',
    keys: ['id'],
    id: 'webhook_deliveries.id',
    stored: 'attempts',
    counted: `max(attempts, (last_attempt is not null)
      + (select count(*) from webhook_attempts where delivery_id = webhook_deliveries.id))`,
  },
  {
    title: 'Phones of passes',
    unit: 'passes',
    table: 'wallet_passes',
    keys: ['id'],
    id: 'wallet_passes.id',
    stored: 'registrations_count',
    counted: '(select count(*) from wallet_registrations where pass_id = wallet_passes.id)',
  },
]

const sortedList = (value: string, from: string): string =>
  `(select json_group_array(value) from (select distinct ${value} as value from ${from} order by 1))`

const files: Comparison[] = [
  {
    title: 'Stored objects and their files',
    unit: 'objects',
    table: 'stored_objects',
    keys: ['storage_key'],
    id: 'stored_objects.storage_key',
    stored: '1',
    counted: 'exists (select 1 from files where files.storage_key = stored_objects.storage_key)',
    describe: (key) => `No file names ${key}.`,
  },
  {
    title: 'Stored bytes of organisations',
    unit: 'organisations',
    table: 'organization_storage',
    keys: ['organization_id'],
    id: 'organization_storage.organization_id',
    stored: 'used_bytes',
    counted: `(select coalesce(sum(size), 0) from stored_objects as o
        where o.organization_id = organization_storage.organization_id)
      + (select coalesce(sum(size), 0) from file_uploads as u
        where u.organization_id = organization_storage.organization_id and file_id is null)
      + (select coalesce(sum(canonical_size), 0) from data_imports as i
        where i.organization_id = organization_storage.organization_id)`,
  },
  {
    title: 'Images of products',
    unit: 'products',
    table: 'products',
    keys: ['id'],
    id: 'products.id',
    stored: sortedList('value', 'json_each(products.images)'),
    counted: sortedList('file_id', 'product_images where product_id = products.id'),
  },
  {
    title: 'Images of messages',
    unit: 'messages',
    table: 'email_messages',
    keys: ['id'],
    id: 'email_messages.id',
    stored: sortedList('value', "json_tree(email_messages.blocks) where key = 'file_id' and type = 'text'"),
    counted: sortedList('file_id', 'email_message_images where message_id = email_messages.id'),
  },
]

/** Numbers that a row stores, although other rows say them too. */
export const sums: readonly Comparison[] = [...orders, ...customers, ...purchases, ...refunds, ...messages, ...files]
