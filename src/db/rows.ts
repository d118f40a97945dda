import type { consentVersions } from './schema/consents.ts'
import type { orders } from './schema/orders.ts'
import type { refundRequests } from './schema/refunds.ts'
import type { segments } from './schema/segments.ts'

export type ConsentVersionRow = typeof consentVersions.$inferSelect
export type OrderRow = typeof orders.$inferSelect
export type RefundRow = typeof refundRequests.$inferSelect
export type StoredSegmentRow = typeof segments.$inferSelect
