import type { Schema } from '../../api'

type DataImport = Schema['DataImport']

/** The steps of the wizard, in their order. */
export const steps = ['file', 'columns', 'products', 'preview', 'report'] as const
export type Step = (typeof steps)[number]

const running: readonly DataImport['status'][] = ['parsing', 'processing_columns', 'importing', 'cancelling', 'undoing']

/** True if the service works on the import by itself. */
export const isRunning = (status: DataImport['status'] | undefined): boolean =>
  status !== undefined && running.includes(status)

/** The step at which the import itself says that it is. */
export function readStep({
  status,
  started_at,
  file_format,
}: Pick<DataImport, 'status' | 'started_at' | 'file_format'>): Step {
  switch (status) {
    case 'draft':
    case 'parsing':
      return 'file'
    case 'mapping_columns':
    case 'processing_columns':
      return 'columns'
    case 'mapping_products':
      return 'products'
    case 'ready':
      return 'preview'
    case 'failed':
    case 'cancelled':
      return started_at !== null ? 'report' : file_format === null ? 'file' : 'columns'
    default:
      return 'report'
  }
}

/** The step of the address, unless the import has not come that far. */
export function chooseStep(current: Step, wish: Step | undefined): Step {
  return wish !== undefined && steps.indexOf(wish) < steps.indexOf(current) ? wish : current
}
