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
  productImages,
  presentProductFields,
  presentImages,
} from './product-fields.ts'
export { productFields, Purchase } from './contract.ts'
export { presentPurchase } from './present.ts'
export { purchaseFields, purchaseVisibility, type PurchaseSummaryRow } from './queries.ts'
