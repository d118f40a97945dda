export { announce, announceAll, commitAnnounced } from './events/announce.ts'
export type { Announcement } from './events/event-rows.ts'
export { deliverClaims } from './delivery/deliver.ts'
export { selectDeliveryWork, selectEndpointWaits } from './queries.ts'
