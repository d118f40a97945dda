export { sweepCaptured } from './store.ts'
