export {
  type AnnouncedPurchase,
  announcedColumns,
  announcedFields,
  announcedJoins,
  purchaseAction,
} from './announcement.ts'
export {
  boughtFieldsOf,
  boughtJoins,
  cartLineColumns,
  cartLineFields,
  cartLines,
  imagesOfProduct,
  presentBought,
  presentImages,
} from './bought.ts'
export { boughtFields, Purchase } from './contract.ts'
export { presentPurchase } from './present.ts'
export { purchaseFields, purchaseVisibility, type ShownPurchaseRow } from './queries.ts'
