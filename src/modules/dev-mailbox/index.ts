export { captureStore } from './store.ts'
