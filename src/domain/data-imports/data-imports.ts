import { type Encoding, encodings } from '@ecms/table-reader'
import { lifecycle } from '../lifecycle.ts'
import type { Currency } from '../money.ts'
import type { DuplicatePolicy } from '../orders/external-orders.ts'
import type { OrderStatus } from '../orders/orders.ts'
import type { ImportPosition } from './import-position.ts'
import type { Grouping } from './mapping/mapping.ts'

const editable = ['parsing', 'mapping_columns', 'mapping_products', 'ready', 'cancelled'] as const

/** Imports of external orders begin and end in one request and skip these states. */
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
  // A failed import continues after its last chunk, or with another file.
  failed: ['parsing', 'mapping_columns', 'processing_columns', 'importing', 'undoing', 'cancelled'],
  cancelled: ['undoing'],
  undoing: ['undone'],
  undone: [],
})
export const dataImportStatuses = dataImportLifecycle.states
export type DataImportStatus = (typeof dataImportStatuses)[number]

/** Statuses before the start, after the file is read. */
const mappingStatuses = ['mapping_columns', 'mapping_products', 'ready'] as const satisfies DataImportStatus[]
/** Statuses in which the mapping, the options and the file of an import can be changed. */
const editableStatuses = ['draft', ...mappingStatuses, 'failed'] as const satisfies DataImportStatus[]
/** Statuses whose rows and orders are staged as the mapping says. */
const stagedStatuses = [
  'mapping_products',
  'ready',
  'importing',
  'cancelling',
  'completed',
  'completed_with_errors',
  'undoing',
  'undone',
] as const satisfies DataImportStatus[]

export const importPhases = ['parse', 'stage', 'import', 'undo'] as const
export type ImportPhase = (typeof importPhases)[number]

export const rowOutcomes = ['created', 'updated', 'skipped', 'error', 'ignored', 'cancelled'] as const
export type RowOutcome = (typeof rowOutcomes)[number]
/** Numbers of rows by outcome. An outcome without rows has no entry. */
export type RowCounts = Partial<Record<RowOutcome, number>>

export const previewActions = ['create', 'update', 'skip', 'error', 'ignore'] as const
/** `ignore`: all products of the order are ignored. */
export type PreviewAction = (typeof previewActions)[number]
export type PreviewTotals = Record<PreviewAction, number>

/** Adds rows to the stored counts, which are null when the import was not counted from the beginning. */
export function countRows(storedCounts: RowCounts | null, addedCounts: RowCounts): RowCounts | null {
  if (storedCounts === null) return null
  const counts = { ...storedCounts }
  for (const outcome of rowOutcomes) {
    const sum = (counts[outcome] ?? 0) + (addedCounts[outcome] ?? 0)
    if (sum > 0) counts[outcome] = sum
  }
  return counts
}

export const ordersPerChunk = 25
export const maxRunningImports = 2
export const undoDays = 30
/** The file and the rows of an import are stored for this time after its end, because an undo needs them. */
export const importRetentionDays = undoDays
/** Background work without progress for this time is started again. */
export const heartbeatLostMs = 120_000
/** Progress is stored at most this often, because an index contains its time. */
export const heartbeatEveryMs = 10_000
export const maxStalls = 5
export const maxProducts = 2000

export const importDelimiters = ['auto', ',', ';', 'tab', 'pipe'] as const
export const importEncodings = ['auto', 'utf-8', 'utf-16', ...encodings.filter((one) => one !== 'utf-8')] as const
export const quoteOptions = ['auto', 'double', 'none'] as const
export const decimalOptions = ['auto', '.', ','] as const
export const dateOptions = ['auto', 'dmy', 'mdy', 'ymd'] as const

/** Options of an import. Null leaves the choice to the edition or to the file. */
export interface ImportOptions {
  delimiter: (typeof importDelimiters)[number]
  encoding: 'auto' | 'utf-16' | Encoding
  quotes: (typeof quoteOptions)[number]
  has_header: boolean | null
  sheet: string | null
  decimal_separator: (typeof decimalOptions)[number]
  date_format: (typeof dateOptions)[number]
  timezone: string | null
  group_by: Grouping | null
  on_duplicate: DuplicatePolicy
  default_currency: Currency | null
  default_status: OrderStatus
  create_users: boolean
  create_missing_products: boolean
  emit_webhooks: boolean
  send_receipts: boolean
  skipped: boolean
}

export const defaultOptions: ImportOptions = {
  delimiter: 'auto',
  encoding: 'auto',
  quotes: 'auto',
  has_header: null,
  sheet: null,
  decimal_separator: 'auto',
  date_format: 'auto',
  timezone: null,
  group_by: null,
  on_duplicate: 'skip',
  default_currency: null,
  default_status: 'completed',
  create_users: true,
  create_missing_products: true,
  emit_webhooks: false,
  send_receipts: false,
  skipped: false,
}

/** Options that decide how the bytes of a file become cells. */
export const readingOptions = ['delimiter', 'encoding', 'quotes', 'has_header', 'sheet'] as const
/** Options that decide what the cells mean. */
export const stagingOptions = [
  'decimal_separator',
  'date_format',
  'timezone',
  'group_by',
  'create_missing_products',
] as const

/** Options that the next file of the same source gets, because they say what its cells mean. */
export const rememberedOptions = [
  'decimal_separator',
  'date_format',
  'timezone',
  'group_by',
  'default_currency',
  'default_status',
  'skipped',
] as const satisfies readonly (keyof ImportOptions)[]
export type RememberedOption = (typeof rememberedOptions)[number]

/** The source of the name of a file's system, if the user did not set it. */
export const sourceOrigins = ['memory', 'preset', 'headers'] as const

/** Imports of external orders store fewer options. */
export type StoredOptions = Partial<ImportOptions>

export function readOptions(storedOptions: StoredOptions): ImportOptions {
  const storedCounts = { ...defaultOptions, ...storedOptions }
  const names = Object.keys(defaultOptions) as (keyof ImportOptions)[]
  return Object.fromEntries(names.map((name) => [name, storedCounts[name]])) as unknown as ImportOptions
}

/** The system that exported the file, recognized by its headers. */
export interface StoredSource {
  source: string
  label: string
  /** From 0 to 1. */
  confidence: number
}

export interface ColumnSummary {
  total: number
  mapped: number
  ignored: number
  missing_required: readonly string[]
}

export interface ProductSummary {
  total: number
  mapped: number
  ignored: number
  unmapped: number
}

export const noColumns: ColumnSummary = { total: 0, mapped: 0, ignored: 0, missing_required: [] }
export const noProducts: ProductSummary = { total: 0, mapped: 0, ignored: 0, unmapped: 0 }

export const importActionNames = [
  'update',
  'cancel',
  'update_column_mappings',
  'validate',
  'process',
  'update_product_mappings',
  'preview',
  'start',
  'undo',
] as const
export type ImportActionName = (typeof importActionNames)[number]

interface ImportFacts {
  source: 'csv' | 'xlsx' | 'api'
  status: DataImportStatus
  phase: ImportPhase | null
  /** Null before the file was read. */
  format: object | null
  started_at: number | null
  undo_until: number | null
  files_deleted_at: number | null
  rows_deleted_at: number | null
}

const actionStatuses: Record<Exclude<ImportActionName, 'undo'>, readonly DataImportStatus[]> = {
  update: editableStatuses,
  cancel: dataImportLifecycle.states.filter((from) =>
    (['cancelled', 'cancelling'] as const).some((to) => dataImportLifecycle.allows(from, to)),
  ),
  update_column_mappings: [...mappingStatuses, 'failed'],
  validate: [...mappingStatuses, 'failed'],
  process: ['mapping_columns', 'failed'],
  update_product_mappings: ['mapping_products', 'ready'],
  preview: stagedStatuses,
  start: ['ready', 'failed'],
}

const actionsThatNeedFormat: readonly ImportActionName[] = ['update_column_mappings', 'validate', 'process']
const actionsThatNeedFile: readonly ImportActionName[] = ['update', ...actionsThatNeedFormat]

export const allowsImportAction = (row: ImportFacts, action: ImportActionName, now: number): boolean => {
  if (row.rows_deleted_at !== null || (row.source === 'api' && action !== 'undo')) return false
  if (row.files_deleted_at !== null && actionsThatNeedFile.includes(action)) return false
  if (action === 'undo') return row.undo_until !== null && row.undo_until > now && canBeUndone(row.status)
  if (!actionStatuses[action].includes(row.status)) return false
  if (row.status !== 'failed') return true
  // A failed import continues with its orders if it began to create them; otherwise it returns to its file.
  if (row.started_at !== null) return action === 'start'
  return action !== 'start' && (!actionsThatNeedFormat.includes(action) || row.format !== null)
}

export const endedStatuses = [
  'completed',
  'completed_with_errors',
  'failed',
  'cancelled',
  'undone',
] as const satisfies DataImportStatus[]

/** Statuses in which an import no longer uses its mapping. A failed import can continue with it. */
export const finalStatuses = [
  'completed',
  'completed_with_errors',
  'cancelled',
  'undoing',
  'undone',
] as const satisfies DataImportStatus[]

const canBeUndone = (status: DataImportStatus): boolean => dataImportLifecycle.allows(status, 'undoing')

export const listImportActions = (row: ImportFacts, now: number): ImportActionName[] =>
  importActionNames.filter((action) => allowsImportAction(row, action, now))

interface ImportProgress {
  source: 'csv' | 'xlsx' | 'api'
  status: DataImportStatus
  phase: ImportPhase | null
  position: ImportPosition
  total_rows: number
  created_orders: number
  updated_orders: number
  skipped_orders: number
  failed_orders: number
}

/** Computes the part of a call's orders that are decided. Orders are the rows of a call. */
const computeCallProgress = (row: ImportProgress): number =>
  (row.created_orders + row.updated_orders + row.skipped_orders + row.failed_orders) / Math.max(1, row.total_rows)

const unstartedStatuses: readonly DataImportStatus[] = ['draft', 'failed']

/** Computes the progress of the current work from 0 to 1, rounded down to hundredths. */
export function getImportProgress(row: ImportProgress): number {
  const { source, status, phase, position } = row
  const isUnfinishedCall = source === 'api' && status === 'importing'
  if (phase === null && !isUnfinishedCall) return source !== 'api' && unstartedStatuses.includes(status) ? 0 : 1
  const { progress = isUnfinishedCall ? computeCallProgress(row) : 0 } = position
  return Math.floor(100 * Math.min(1, Math.max(0, progress))) / 100
}
