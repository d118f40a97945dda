export { type Announcement, announce, announceAll } from './events/announce.ts'
export { commitAnnounced } from './events/commit-announced.ts'
export { deliverClaims } from './delivery/delivery-run.ts'
