export { type Announcement, announce, announceAll, commitAnnounced } from './events/announce.ts'
export { deliverClaims } from './delivery/deliver.ts'
export { selectDeliveryWork, selectEndpointWaits } from './queries.ts'
