import {
  computeOrderId,
  customerCount,
  editionIds,
  endpointId,
  orderCount,
  organizationId,
  startMs,
} from './million-orders.ts'

export const [large, small] = editionIds
export const ofLarge = `edition_id=${large}`
const ofOrganization = `organization_id=${organizationId}`
export const farPage = 10_001

/** The role whose token asks: in the organisation, in the large edition, or in both editions. */
export type Member = 'organization' | 'edition' | 'editions'

/**
 * A plan is the way in which a page finds its rows. `index` follows an index in its order and reads no row of the table. `sort` also reads
 * only an index, and sorts what it finds. `search` looks candidates up in a full-text index. `walk` compares all texts.
 */
export type Plan = 'index' | 'sort' | 'search' | 'walk'

export interface ListCase {
  name: string
  path: string
  member?: Member
  plan: Plan
  /** The same list as a table, a condition and an order of a copy without indexes. */
  rows: readonly [table: string, where: string, orderBy: string]
  /** Milliseconds of SQL for page and count that the design allows. */
  design: string
  isDeep?: boolean
}

const newest = 'created_at desc, seq desc'
const orders = `/v1/orders?page_size=50`
export const users = '/v1/user?'
const purchases = `/v1/purchases?page_size=50&${ofLarge}`
const refunds = '/v1/refund-requests?page_size=50'
const deliveries = `/v1/webhooks/${endpointId}/deliveries?page_size=50`
const organizationDeliveries = `/v1/webhooks/deliveries?page_size=50&${ofOrganization}`
const events = `/v1/webhooks/events?page_size=50&${ofOrganization}`
const auditLog = `/v1/audit-log?page_size=50&${ofOrganization}`
export const inLarge = `edition_id = '${large}'`
const formatInstant = (ms: number): string => new Date(ms).toISOString()
/** A third of the time in which there are orders. */
const [rangeStart, rangeEnd] = [startMs + orderCount * 10_000, startMs + orderCount * 20_000]
const rareNumber = String(1_000_000 + Math.floor(orderCount / 3) + 1)
const rareOrder = computeOrderId(Math.floor(orderCount / 3) + 1)
const rareCustomer = `customer-${Math.floor(customerCount / 2) + 1}@`
const contains = (text: string) => `instr(text, '${text}')`
/** Orders of the large edition that contain a text, or whose buyer does. */
const findOrders = (text: string, buyers: string) =>
  `${inLarge} and (${contains(text)} or user_seq in (${buyers} and ${contains(text)}))`
const ofUsers = 'select seq from users where 1'
const ofEdition = `select user_seq from edition_customers where ${inLarge}`
/** Customers of both editions as a role of both sees them: with the values of the edition that they joined last. */
const latest = 'seq in (select max(seq) from edition_customers group by user_seq)'

export const cases: readonly ListCase[] = [
  {
    name: 'orders of an edition',
    path: `${orders}&${ofLarge}`,
    plan: 'index',
    rows: ['orders', inLarge, newest],
    design: '0.5, page 10,001 29; count 58-61',
    isDeep: true,
  },
  {
    name: 'orders of a status',
    path: `${orders}&${ofLarge}&status=completed`,
    plan: 'index',
    rows: ['orders', `${inLarge} and status = 'completed'`, newest],
    design: '0.5 + 75',
  },
  {
    name: 'orders of a type in a range of time',
    path: `${orders}&${ofLarge}&type=imported&created_after=${formatInstant(rangeStart)}&created_before=${formatInstant(rangeEnd)}`,
    plan: 'index',
    rows: [
      'orders',
      `${inLarge} and type = 'imported' and created_at >= ${rangeStart} and created_at < ${rangeEnd}`,
      newest,
    ],
    design: '0.5 + 47',
  },
  {
    name: 'orders by amount',
    path: `${orders}&${ofLarge}&ordering=-amount`,
    plan: 'sort',
    rows: ['orders', inLarge, `amount_minor desc, ${newest}`],
    design: '91, next 127; count 46-52',
  },
  {
    name: 'orders by status and time',
    path: `${orders}&${ofLarge}&ordering=status,-created`,
    plan: 'sort',
    rows: ['orders', inLarge, `status, ${newest}`],
    design: '146 + 45',
  },
  {
    name: 'orders by number',
    path: `${orders}&${ofLarge}&ordering=order_number`,
    plan: 'index',
    rows: ['orders', inLarge, 'number_key nulls last, created_at, seq'],
    design: '0.4 + 44',
  },
  {
    name: 'orders by number, downwards',
    path: `${orders}&${ofLarge}&ordering=-order_number`,
    plan: 'index',
    rows: ['orders', inLarge, `number_key desc, ${newest}`],
    design: '0.4 + 44',
  },
  {
    name: 'orders by last change',
    path: `${orders}&${ofLarge}&ordering=-modified`,
    plan: 'index',
    rows: ['orders', inLarge, `modified_at desc, ${newest}`],
    design: 'under 400',
  },
  {
    name: 'orders of an organisation',
    path: `${orders}&${ofOrganization}`,
    plan: 'index',
    rows: ['orders', '1', newest],
    design: 'under 80',
    isDeep: true,
  },
  {
    name: 'orders of an organisation by amount',
    path: `${orders}&${ofOrganization}&ordering=amount`,
    plan: 'sort',
    rows: ['orders', '1', 'amount_minor, created_at, seq'],
    design: 'under 400',
  },
  {
    name: 'orders for a role of two editions',
    path: `${orders}&${ofOrganization}`,
    member: 'editions',
    plan: 'sort',
    rows: ['orders', '1', newest],
    design: 'under 400',
  },
  {
    name: 'orders by a part of a number',
    path: `${orders}&${ofLarge}&search=${rareNumber}`,
    plan: 'search',
    rows: ['orders', findOrders(rareNumber, ofUsers), newest],
    design: 'under 80',
  },
  {
    name: "orders by a part of a customer's address",
    path: `${orders}&${ofLarge}&search=${rareCustomer}`,
    member: 'edition',
    plan: 'search',
    rows: ['orders', findOrders(rareCustomer, ofEdition), newest],
    design: 'under 80',
  },
  {
    name: 'orders by a text that all have',
    path: `${orders}&${ofLarge}&search=example`,
    plan: 'walk',
    rows: ['orders', findOrders('example', ofUsers), newest],
    design: 'about 1,000',
  },
  {
    name: 'orders by a text that all have, for a role of the edition',
    path: `${orders}&${ofLarge}&search=example`,
    member: 'edition',
    plan: 'walk',
    rows: ['orders', findOrders('example', ofEdition), newest],
    design: 'about 1,000',
  },
  {
    name: 'customers of an organisation',
    path: `${users}${ofOrganization}`,
    plan: 'index',
    rows: ['users', '1', newest],
    design: 'under 80',
    isDeep: true,
  },
  {
    name: 'customers by address',
    path: `${users}${ofOrganization}&ordering=email`,
    plan: 'index',
    rows: ['users', '1', 'email nulls last, seq'],
    design: 'under 400',
  },
  {
    name: 'customers by last visit',
    path: `${users}${ofOrganization}&ordering=-last_seen`,
    plan: 'sort',
    rows: ['users', '1', 'last_seen_at desc, seq desc'],
    design: 'under 400',
  },
  {
    name: 'customers by a part of their address',
    path: `${users}${ofOrganization}&search=${rareCustomer}`,
    plan: 'search',
    rows: ['users', contains(rareCustomer), newest],
    design: 'under 80',
  },
  {
    name: 'customers by a text that all have',
    path: `${users}${ofOrganization}&search=example`,
    plan: 'walk',
    rows: ['users', contains('example'), newest],
    design: 'about 1,000',
  },
  {
    name: 'customers for a role of the edition',
    path: `${users}${ofLarge}`,
    member: 'edition',
    plan: 'index',
    rows: ['edition_customers', inLarge, newest],
    design: 'under 80',
    isDeep: true,
  },
  {
    name: 'customers by address, for a role of the edition',
    path: `${users}${ofLarge}&ordering=email`,
    member: 'edition',
    plan: 'sort',
    rows: ['edition_customers', inLarge, 'email nulls last, seq'],
    design: 'under 400',
  },
  {
    name: 'customers for a role of two editions',
    path: `${users}${ofOrganization}`,
    member: 'editions',
    plan: 'sort',
    rows: ['edition_customers', latest, newest],
    design: 'stated, no goal',
  },
  {
    name: 'customers by a part of their address, for a role of the edition',
    path: `${users}${ofLarge}&search=${rareCustomer}`,
    member: 'edition',
    plan: 'search',
    rows: ['edition_customers', `${inLarge} and ${contains(rareCustomer)}`, newest],
    design: 'under 80',
  },
  {
    name: 'purchases',
    path: purchases,
    plan: 'index',
    rows: ['purchases', inLarge, 'created_at desc, id desc'],
    design: 'under 130',
    isDeep: true,
  },
  {
    name: 'purchases of a status',
    path: `${purchases}&status=cancelled`,
    plan: 'index',
    rows: ['purchases', `${inLarge} and status = 'cancelled'`, 'created_at desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'purchases by the beginning of their code',
    path: `${purchases}&search=CODE-77`,
    plan: 'search',
    rows: ['purchases', `${inLarge} and vendor_code like 'CODE-77%'`, 'created_at desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'unused purchases with a code',
    path: `${purchases}&is_used=false&has_vendor_code=true`,
    plan: 'index',
    rows: ['purchases', `${inLarge} and uses_count = 0 and vendor_code is not null`, 'created_at desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'refund requests of an edition',
    path: `${refunds}&${ofLarge}`,
    plan: 'index',
    rows: ['refund_requests', inLarge, 'created_at desc, id desc'],
    design: 'under 80',
    isDeep: true,
  },
  {
    name: 'refund requests of an organisation',
    path: `${refunds}&${ofOrganization}`,
    plan: 'index',
    rows: ['refund_requests', '1', 'created_at desc, id desc'],
    design: 'under 80',
  },
  {
    name: 'refund requests of a status and a source by amount',
    path: `${refunds}&${ofLarge}&status=rejected&source=api&ordering=-requested_amount`,
    plan: 'sort',
    rows: [
      'refund_requests',
      `${inLarge} and status = 'rejected' and source = 'api'`,
      'requested_minor desc, created_at desc, id desc',
    ],
    design: 'under 400',
  },
  {
    name: 'deliveries of an endpoint',
    path: deliveries,
    plan: 'index',
    rows: ['webhook_deliveries', '1', 'created_at desc, id desc'],
    design: 'under 80',
    isDeep: true,
  },
  {
    name: 'deliveries of an edition and a status',
    path: `${deliveries}&${ofLarge}&status=exhausted`,
    plan: 'index',
    rows: ['webhook_deliveries', `${inLarge} and status = 'exhausted'`, 'created_at desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'deliveries by last change',
    path: `${deliveries}&ordering=-modified`,
    plan: 'sort',
    rows: ['webhook_deliveries', '1', 'modified_at desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'deliveries of an organisation',
    path: organizationDeliveries,
    plan: 'sort',
    rows: ['webhook_deliveries', '1', 'created_at desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'deliveries of an event kind in a range of time',
    path: `${organizationDeliveries}&event=consent.given&created_after=${formatInstant(rangeStart)}&created_before=${formatInstant(rangeEnd)}`,
    plan: 'sort',
    rows: [
      'webhook_deliveries',
      `kind = 'consent.given' and created_at >= ${rangeStart} and created_at < ${rangeEnd}`,
      'created_at desc, id desc',
    ],
    design: 'under 400',
  },
  {
    name: 'webhook events',
    path: events,
    plan: 'index',
    rows: ['webhook_events', '1', 'seq, id'],
    design: '0.5; count under 400',
    isDeep: true,
  },
  {
    name: 'webhook events of an edition and two kinds',
    path: `${events}&${ofLarge}&kind=consent.given,refund.failed&ordering=-cursor`,
    member: 'edition',
    plan: 'index',
    rows: ['webhook_events', `${inLarge} and kind in ('consent.given', 'refund.failed')`, 'seq desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'webhook events about an order',
    path: `${events}&resource_id=${rareOrder}`,
    plan: 'index',
    rows: ['webhook_events', `instr(resource_ids, '${rareOrder}')`, 'seq, id'],
    design: 'under 400',
  },
  {
    name: 'audit log',
    path: auditLog,
    plan: 'index',
    rows: ['audit_log', '1', 'created_at desc, id desc'],
    design: 'under 80',
    isDeep: true,
  },
  {
    name: 'audit log of an action and an actor',
    path: `${auditLog}&action=updateOrder&actor_id=root`,
    plan: 'index',
    rows: ['audit_log', `action = 'updateOrder' and actor_id = 'root'`, 'created_at desc, id desc'],
    design: 'under 400',
  },
  {
    name: 'audit log of an edition',
    path: `${auditLog}&resource_type=edition&resource_id=${large}&ordering=created`,
    plan: 'index',
    rows: ['audit_log', `resource_type = 'edition' and resource_id = '${large}'`, 'created_at, id'],
    design: 'under 400',
  },
]
