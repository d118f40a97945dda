export { createCaptureStore } from './store.ts'
