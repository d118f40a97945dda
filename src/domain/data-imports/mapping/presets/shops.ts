import { from, valueMap, type Preset } from './preset.ts'

/** Shopify: header row of its orders export. Only the first row of an order has its order-level cells. */
const shopify: Preset = {
  source: 'shopify',
  label: 'Shopify',
  signature: [
    'Name',
    'Email',
    'Financial Status',
    'Fulfillment Status',
    'Lineitem quantity',
    'Lineitem name',
    'Lineitem price',
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Name'),
    'order.created': from('Created at'),
    'order.status': {
      columns: ['Financial Status'],
      value_map: valueMap({
        completed: ['paid', 'partially_refunded'],
        cancelled: ['refunded', 'voided', 'expired'],
        confirmed: ['authorized'],
        pending: ['pending', 'partially_paid', 'unpaid'],
      }),
    },
    'order.currency': from('Currency'),
    'order.amount': from('Total'),
    'order.refunded_amount': from('Refunded Amount'),
    'order.discount': from('Discount Amount'),
    'order.coupon_code': from('Discount Code'),
    'order.service_fee': from('Shipping'),
    'order.payment_reference': from('Payment Reference|Payment ID'),
    'customer.email': from('Email'),
    'customer.phone_number': from('Phone'),
    'customer.full_name': from('Billing Name'),
    'item.product': from('Lineitem name'),
    'item.quantity': from('Lineitem quantity'),
    'item.unit_price': from('Lineitem price'),
  },
}

/** WooCommerce by SkyVerge's Customer/Order CSV Export, one row per item; prices are without the tax beside them. */
const woocommerce: Preset = {
  source: 'woocommerce',
  label: 'WooCommerce',
  signature: [
    'order_id',
    'order_number',
    'order_date',
    'status',
    'order_total',
    'billing_email',
    'item_name',
    'item_quantity',
    'item_total',
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('order_id'),
    'order.order_number': from('order_number_formatted|order_number'),
    'order.created': from('order_date'),
    'order.status': {
      columns: ['status'],
      value_map: valueMap({
        completed: ['completed', 'processing', 'wc-completed', 'wc-processing'],
        pending: ['pending', 'on-hold', 'wc-pending', 'wc-on-hold'],
        cancelled: ['cancelled', 'refunded', 'failed', 'trash', 'wc-cancelled', 'wc-refunded', 'wc-failed'],
      }),
    },
    'order.currency': from('order_currency'),
    'order.amount': from('order_total'),
    'order.refunded_amount': from('refunded_total'),
    'customer.email': from('billing_email'),
    'customer.phone_number': from('billing_phone'),
    'customer.first_name': from('billing_first_name'),
    'customer.last_name': from('billing_last_name'),
    'item.product': from('item_name'),
    'item.quantity': from('item_quantity'),
    'item.line_total': from('item_total'),
    'item.tax': from('item_total_tax'),
  },
}

/**
 * Square items detail, header row as in several public parsers of it (`Date,Time,Time Zone,Category,Item,Qty,Price Point
 * Name,SKU,Modifiers Applied,Gross Sales,…`). It has no e-mail and no number: the user says who the customer is.
 */
const square: Preset = {
  source: 'square',
  label: 'Square items',
  signature: ['Item', 'Qty', 'Price Point Name', 'Modifiers Applied', 'Gross Sales', 'Net Sales', 'Transaction ID'],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Transaction ID'),
    'order.created': from('Date', 'Time'),
    'order.payment_reference': from('Payment ID'),
    'customer.full_name': from('Customer Name'),
    'item.product': from('Item'),
    'item.variant': from('Price Point Name'),
    'item.options': from('Modifiers Applied'),
    'item.quantity': from('Qty'),
    'item.line_total': from('Net Sales'),
  },
}

/** Stripe payments, header row as in Stripe's own export (`id,Description,Created (UTC),Amount,Amount Refunded,…`). */
const stripe: Preset = {
  source: 'stripe',
  label: 'Stripe payments',
  signature: [
    'id',
    'Created (UTC)|Created date (UTC)',
    'Amount',
    'Amount Refunded',
    'Currency',
    'Status',
    'Customer Email',
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('id'),
    'order.payment_reference': from('id'),
    'order.payment_service': { columns: [], constant: 'stripe' },
    'order.created': {
      columns: ['Created (UTC)|Created date (UTC)'],
      transform: { type: 'date', time_zone: 'UTC' },
    },
    'order.status': {
      columns: ['Status'],
      value_map: valueMap({ completed: ['Paid', 'Partial Refund', 'succeeded'], cancelled: ['Refunded'] }, [
        'Failed',
        'Canceled',
        'canceled',
        'requires_payment_method',
        'requires_action',
        'Requires payment method',
        'Incomplete',
      ]),
    },
    'order.currency': from('Currency'),
    'order.refunded_amount': from('Amount Refunded'),
    'customer.email': from('Customer Email'),
    'item.product': { columns: ['Description'], default_value: 'Payment' },
    'item.line_total': from('Amount'),
  },
  left_out: ['Card Name', 'Customer ID', 'Customer Description'],
}

export const shopPresets: readonly Preset[] = [shopify, woocommerce, square, stripe]
