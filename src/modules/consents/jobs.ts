export { sweepLapsed } from './lapse.ts'
