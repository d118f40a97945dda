import { type SQL, sql } from 'drizzle-orm'
import type { CustomerView } from '../../db/customer-visibility.ts'
import { refundRequests } from '../../db/schema/sales/refunds.ts'
import { visibilityOf } from '../../db/visibility.ts'
import { containsText } from '../orders/index.ts'

/** A plus excludes the indexes of the organisation, which has more requests than what else is asked for. */
export const refundVisibility = visibilityOf(sql`+${refundRequests.organization_id}`, sql`${refundRequests.edition_id}`)

/** The id and the reference are whole; what else a search finds are texts of orders. */
const isNamed = (text: string) =>
  sql`(${refundRequests.id} = ${text} or ${refundRequests.provider_reference} = ${text})`

/** Holds for requests of orders that contain the text. */
const isOfFoundOrder = (view: CustomerView, text: string): SQL =>
  sql`exists (select 1 from orders where orders.id = ${refundRequests.order_id} and ${containsText(view, text)})`

export const isFoundBy = (view: CustomerView, text: string): SQL =>
  sql`(${isNamed(text)} or ${isOfFoundOrder(view, text)})`
