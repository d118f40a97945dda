export { sweepCapturedMessages } from './store.ts'
