import { type SQL, sql } from 'drizzle-orm'
import { type OrderStatus, orderStatuses, type OrderType, orderTypes } from '../domain/orders/orders.ts'
import { inWords } from './visibility.ts'

/** Orders of any status or type, or of one. */
export interface OrderKinds {
  status?: OrderStatus | undefined
  type?: OrderType | undefined
}

/** Orders by both columns that indexes of an edition begin with, so that these lead to them whatever their kind. */
export const ofKinds = ({ status, type }: OrderKinds): SQL =>
  sql`${inWords(sql`orders.status`, status ? [status] : orderStatuses)}
    and ${inWords(sql`orders.type`, type ? [type] : orderTypes)}`
