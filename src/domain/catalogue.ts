import { AppError } from './errors.ts'
import { maxGoodNameLength } from './orders/external-orders.ts'
import { buildSortKey, fold } from './text/fold.ts'

/** Rows that imports add may exceed it. */
export const maxCatalogueRows = 500

/** Imports name products and locations within the same limit. */
export const maxCatalogueNameLength = maxGoodNameLength

export const maxFeeRuleDescriptionLength = 1000

/** Names that fold to the same text are one name: lists search by it, and imports match by it. */
export const buildNameColumns = (name: string) => ({
  name,
  name_key: buildSortKey(name),
  name_folded: fold(name),
})

export const catalogueFull = (): AppError =>
  new AppError('catalogue_full', `There are ${maxCatalogueRows} of these already. Delete one that you no longer need.`)
