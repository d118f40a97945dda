export { listPreview, previewTotals } from './list-preview.ts'
export type { PreviewedOrder } from './preview.ts'
