import { from, valueMap, type Preset } from './preset.ts'

/**
 * Eventbrite attendee summary in British and American words: a row is an attendee, and names no buyer. So each attendee
 * is an order of their own, with the number of the order in which they were bought.
 */
const eventbriteSummary: Preset = {
  source: 'eventbrite',
  label: 'Eventbrite attendee summary',
  signature: ['Order no.|Order #', 'Attendee no.|Attendee #', 'Ticket Type', 'Total Paid', 'Attendee Status'],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Attendee no.|Attendee #'),
    'order.order_number': from('Order no.|Order #'),
    'order.created': from('Order Date'),
    'order.status': {
      columns: ['Attendee Status'],
      value_map: valueMap({
        completed: ['Attending', 'Checked In'],
        cancelled: ['Not Attending', 'Deleted', 'Refunded', 'Cancelled'],
      }),
    },
    'order.currency': from('Currency'),
    'customer.email': from('Email'),
    'customer.phone_number': from('Mobile Phone|Cell Phone'),
    'customer.first_name': from('First Name'),
    'customer.last_name': from('Surname|Last Name'),
    'item.product': from('Ticket Type'),
    'item.variant': from('Price Tier'),
    'item.quantity': from('Quantity'),
    'item.line_total': from('Total Paid'),
  },
}

/** Eventbrite attendees report of 2025, header row as in a public import script (`Order ID,Order date,Attendee first name,…`). */
const eventbriteReport: Preset = {
  source: 'eventbrite',
  label: 'Eventbrite attendees report',
  signature: [
    'Order ID',
    'Order date',
    'Attendee first name',
    'Buyer email',
    'Ticket quantity',
    'Ticket type',
    'Ticket price',
    'Barcode number',
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Order ID'),
    'order.created': from('Order date'),
    'order.currency': from('Currency'),
    'customer.email': from('Buyer email'),
    'customer.first_name': from('Buyer first name'),
    'customer.last_name': from('Buyer last name'),
    'item.user.email': from('Attendee email'),
    'item.user.first_name': from('Attendee first name'),
    'item.user.last_name': from('Attendee last name'),
    'item.product': from('Ticket type'),
    'item.variant': from('Ticket tier'),
    'item.quantity': from('Ticket quantity'),
    'item.unit_price': from('Ticket price'),
    'item.vendor_code': from('Barcode number'),
  },
  left_out: ['Phone number'],
}

/** Tito tickets export. */
const tito: Preset = {
  source: 'tito',
  label: 'Tito',
  signature: [
    'Ticket',
    'Ticket Full Name',
    'Ticket Email',
    'Void Status',
    'Ticket Reference',
    'Order Reference',
    'Order Email',
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Order Reference'),
    'order.created': from('Order Created Date'),
    'order.coupon_code': from('Order Discount Code'),
    'order.payment_reference': from('Payment Reference'),
    'customer.email': from('Order Email'),
    'customer.phone_number': from('Order Phone Number'),
    'customer.full_name': from('Order Name'),
    'item.product': from('Ticket'),
    'item.unit_price': from('Price'),
    'item.vendor_code': from('Ticket Reference'),
    'item.status': {
      columns: ['Void Status'],
      value_map: valueMap({
        cancelled: ['Void', 'Voided', 'Yes', 'true'],
        active: ['No', 'false', 'Not void', 'Valid'],
      }),
    },
    'item.user.email': from('Ticket Email'),
    'item.user.first_name': from('Ticket First Name'),
    'item.user.last_name': from('Ticket Last Name'),
  },
  left_out: ['Number', 'Ticket Created Date', 'Event', 'Order IP'],
}

/** Luma guests, header row as in several public parsers of it (help.luma.com/p/download-guest-csv). */
const luma: Preset = {
  source: 'luma',
  label: 'Luma guests',
  signature: ['guest_id|api_id', 'email', 'approval_status', 'qr_code_url', 'ticket_type_id', 'ticket_name'],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('guest_id|api_id'),
    'order.created': from('created_at'),
    'order.status': {
      columns: ['approval_status'],
      value_map: valueMap(
        {
          completed: ['approved', 'session'],
          pending: ['pending_approval', 'pending', 'waitlist'],
          cancelled: ['declined'],
        },
        ['invited'],
      ),
    },
    'order.currency': from('currency'),
    'order.coupon_code': from('coupon_code'),
    'customer.email': from('email'),
    'customer.phone_number': from('phone_number'),
    'customer.first_name': from('first_name'),
    'customer.last_name': from('last_name'),
    'item.product': { columns: ['ticket_name'], default_value: 'Registration' },
    'item.line_total': { columns: ['amount'], default_value: '0' },
  },
  left_out: ['name'],
}

/** Hi.Events attendees: headings of `HiEvents\Exports\AttendeesExport`. It has no prices: the user says them. */
const hiEvents: Preset = {
  source: 'hi_events',
  label: 'Hi.Events attendees',
  signature: [
    'First Name',
    'Last Name',
    'Email',
    'Status',
    'Product ID',
    'Product Name',
    'Event ID',
    'Public ID',
    'Short ID',
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Public ID'),
    'order.created': from('Created Date'),
    'order.status': {
      columns: ['Status'],
      value_map: valueMap({ completed: ['ACTIVE'], pending: ['AWAITING_PAYMENT'], cancelled: ['CANCELLED'] }),
    },
    'customer.email': from('Email'),
    'customer.first_name': from('First Name'),
    'customer.last_name': from('Last Name'),
    'item.product': from('Product Name'),
  },
  left_out: ['ID', 'Notes', 'Last Updated Date'],
}

/**
 * Ticket Tailor orders: columns as a public import script reads them (`Order ID`, `PAYG fees`, `Order cancelled`, …). All
 * tickets of an order are in one cell, so the user has to name the product.
 */
const ticketTailor: Preset = {
  source: 'ticket_tailor',
  label: 'Ticket Tailor orders',
  signature: [
    'Order ID',
    'Order date',
    'Total paid',
    'Tickets purchased',
    'Order items',
    'Order cancelled',
    'Refunded amount',
  ],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Order ID'),
    'order.created': from('Order date'),
    'order.status': {
      columns: ['Order cancelled'],
      value_map: valueMap({ cancelled: ['1', 'Yes'], completed: ['0', 'No'] }),
      default_value: '0',
    },
    'order.refunded_amount': from('Refunded amount'),
    'order.payment_reference': from('Transaction ID'),
    'customer.email': from('Email'),
    'customer.phone_number': from('Mobile number'),
    'customer.first_name': from('First Name'),
    'customer.last_name': from('Last Name'),
    'item.quantity': from('Tickets purchased'),
    'item.line_total': from('Total paid'),
  },
  left_out: ['Name', 'Order value', 'Remaining order value'],
}

/** Mailchimp audience, header row as in its own export (`…,MEMBER_RATING,OPTIN_TIME,…,LEID,EUID`). It has people and no orders. */
const mailchimp: Preset = {
  source: 'mailchimp',
  label: 'Mailchimp contacts',
  signature: ['Email Address', 'MEMBER_RATING', 'OPTIN_TIME', 'LEID', 'EUID'],
  group_by: 'email',
  targets: {
    'order.external_id': from('EUID'),
    'customer.email': from('Email Address'),
    'customer.first_name': from('First Name'),
    'customer.last_name': from('Last Name'),
    'customer.phone_number': from('Phone Number|Phone'),
  },
}

/** eventyay, formerly Open Event: `export_orders_csv` of fossasia/open-event-server. It names no ticket. */
const eventyay: Preset = {
  source: 'eventyay',
  label: 'eventyay orders',
  signature: ['Order#', 'Order Date', 'Status', 'Payment Type', 'Total Amount', 'Quantity', 'Discount Code'],
  group_by: 'external_id',
  targets: {
    'order.external_id': from('Order#'),
    'order.created': from('Order Date'),
    'order.status': {
      columns: ['Status'],
      value_map: valueMap({
        completed: ['completed', 'placed'],
        pending: ['pending', 'initializing'],
        cancelled: ['cancelled', 'expired'],
      }),
    },
    'order.coupon_code': from('Discount Code'),
    'customer.email': from('Email'),
    'customer.first_name': from('First Name'),
    'customer.last_name': from('Last Name'),
    'item.quantity': from('Quantity'),
    'item.line_total': from('Total Amount'),
  },
}

export const ticketPresets: readonly Preset[] = [
  eventbriteSummary,
  eventbriteReport,
  tito,
  luma,
  hiEvents,
  ticketTailor,
  mailchimp,
  eventyay,
]
