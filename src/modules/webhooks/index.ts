export { type Announcement, announce, announceAll } from './announce.ts'
export { commitAnnounced } from './commit-announced.ts'
export { deliverClaims } from './deliver-claims.ts'
