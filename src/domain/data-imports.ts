import { lifecycle } from './lifecycle.ts'

const editable = ['parsing', 'mapping_columns', 'mapping_products', 'ready', 'cancelled'] as const

/** An import of a file. Imports of external orders begin and end in one request. */
export const dataImportLifecycle = lifecycle('draft', {
  draft: ['parsing', 'cancelled'],
  parsing: ['parsing', 'mapping_columns', 'failed', 'cancelled'],
  mapping_columns: ['parsing', 'processing_columns', 'cancelled'],
  processing_columns: ['parsing', 'mapping_columns', 'mapping_products', 'ready', 'failed', 'cancelled'],
  mapping_products: [...editable],
  ready: [...editable, 'importing'],
  importing: ['completed', 'completed_with_errors', 'failed', 'cancelling'],
  cancelling: ['cancelled', 'completed', 'completed_with_errors', 'failed'],
  completed: ['undoing'],
  completed_with_errors: ['undoing'],
  // Goes on after its last chunk, or with another file.
  failed: ['parsing', 'mapping_columns', 'processing_columns', 'importing', 'undoing', 'cancelled'],
  cancelled: ['undoing'],
  undoing: ['undone'],
  undone: [],
})
export const dataImportStatuses = dataImportLifecycle.states
export type DataImportStatus = (typeof dataImportStatuses)[number]

/** What the background work of an import does. */
export const importPhases = ['parse', 'stage', 'import', 'undo'] as const
export type ImportPhase = (typeof importPhases)[number]

export const rowOutcomes = ['created', 'updated', 'skipped', 'error', 'ignored', 'cancelled'] as const
export type RowOutcome = (typeof rowOutcomes)[number]

/** Orders of one commit. */
export const ordersPerChunk = 25
/** Imports of files that an organisation may run at the same time. */
export const maxRunningImports = 2
/** How long an import may be undone. */
export const undoDays = 30
/** Background work that was not seen for so long is begun again. */
export const heartbeatLostMs = 120_000
/** What stops so often without a step in between is given up. */
export const mostStalls = 5
