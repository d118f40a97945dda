export {
  type PurchaseEventRow,
  purchaseEventColumns,
  purchaseEventFields,
  purchaseEventJoins,
  buildPurchaseEvent,
} from './announcement.ts'
export {
  buildProductFields,
  buildProductJoins,
  cartLineColumns,
  cartLineFields,
  cartLines,
  productImageList,
  presentProductFields,
  presentImages,
} from './product-fields.ts'
export { productFields, Purchase } from './contract.ts'
export { presentPurchase } from './present.ts'
export { purchaseSummaryFields, purchaseVisibility, type PurchaseSummaryRow } from './queries.ts'
