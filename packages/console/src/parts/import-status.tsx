import type { Schema } from '../api'
import { loadWords } from '../words'
import { Status, type Tone } from './status'

const t = await loadWords('dataImports')

type ImportStatusCode = Schema['DataImport']['status']

export const importTones: Record<ImportStatusCode, Tone> = {
  draft: 'act',
  parsing: 'wait',
  mapping_columns: 'act',
  processing_columns: 'wait',
  mapping_products: 'act',
  ready: 'act',
  importing: 'wait',
  cancelling: 'wait',
  completed: 'good',
  completed_with_errors: 'bad',
  failed: 'bad',
  cancelled: 'none',
  undoing: 'wait',
  undone: 'none',
}

export const ImportStatus = ({ status }: { status: ImportStatusCode }) => (
  <Status tone={importTones[status]} label={t.statuses[status]} />
)
