export { type Announcement, announce, announceAll } from './announce.ts'
