export { boughtColumns, boughtJoins, type BoughtRow, presentBought } from './bought.ts'
export { boughtFields, Purchase } from './contract.ts'
export { presentPurchase } from './present.ts'
export type { PurchaseRow } from './queries.ts'
