export { type Announcement, announce, announceAll } from './announce.ts'
export { deliverClaims } from './deliver-claims.ts'
