/** Header rows of further systems as public documents and parsers of them have them, with the target that each means. */
export const publishedHeaders: readonly { source: string; columns: Readonly<Record<string, string | null>> }[] = [
  {
    source: 'support.cooltix.com, content of export',
    columns: { 'Attendee ID': null, 'Order ID': 'order.external_id', 'Order Date': 'order.created', 'Occasion Start Date': null, 'Occasion End Date': null, 'Customer Email': 'customer.email', 'Customer Name': 'customer.full_name', 'Invoice Name': null, 'Invoice Address': null, 'Invoice Number': null, 'Voucher Code': null },
  },
  {
    source: 'tixify.live, file format guide',
    columns: { order_id: 'order.external_id', shop_name: null, event_name: null, barcode: 'item.vendor_code', first_event_date_start: null, last_event_date_end: null, first_name: 'customer.first_name', last_name: 'customer.last_name', email: 'customer.email', ticket_name: 'item.product', order_status: 'order.status', ticket_invalidated: null, ticket_invalidated_at: null, created_at: 'order.created', ticket_value: null, ticket_fees: null, payment_method: null, device: null },
  },
  {
    source: 'help.booktix.com, ticket revenue report',
    columns: { id: null, order_item_status: 'item.status', order_id: 'order.external_id', conf_num: null, show_name: null, performance_id: null, performance_date: null, unix_date: null, ticket_name: 'item.product', payment_type: null, gateway: null, order_item_price: 'item.unit_price', order_item_discount: null, order_item_tax: null },
  },
  {
    source: 'Event Tickets, attendee importer',
    columns: { event_name: null, ticket_name: 'item.product', attendee_name: 'item.user.full_name', attendee_email: 'item.user.email', display_optin: null, going: null, user_id: null },
  },
  {
    source: 'a public parser of Humanitix reports',
    columns: { 'Event Name': null, 'Event Date': null, Venue: null, 'Ticket Type': 'item.product', Price: 'item.unit_price', Quantity: 'item.quantity', 'Buyer Email': 'customer.email', Postcode: null, 'Purchase Date': 'order.created' },
  },
  {
    source: 'a public parser of Ticket Tailor tickets',
    columns: { 'Order ID': 'order.external_id', 'Transaction ID': 'order.payment_reference', 'Payment reference': null, 'Event ID': null, Event: null, 'Event start': null, 'Ticket type': 'item.product', 'Ticket price': 'item.unit_price', 'Ticket reference': 'item.vendor_code', 'Order status': 'order.status', 'Checked in': null, Attended: null },
  },
  {
    source: 'a public checkout export',
    columns: { 'Buyer First Name': 'customer.first_name', 'Buyer Last Name': 'customer.last_name', 'Buyer Email': 'customer.email', 'Item Name': 'item.product', 'Item Price': 'item.unit_price', Quantity: 'item.quantity', 'Total Paid': null, Comments: null, Status: 'order.status', Date: 'order.created' },
  },
  {
    source: 'open-event-server, attendees',
    columns: { 'Order#': 'order.external_id', 'Order Date': 'order.created', Status: 'order.status', 'First Name': 'customer.first_name', 'Last Name': 'customer.last_name', Email: 'customer.email', Country: null, Occupation: null, 'Company/Instt': null, Gender: null, 'Payment Type': null, 'Ticket Name': 'item.product', 'Ticket Price': 'item.unit_price', 'Ticket Type': null },
  },
]
