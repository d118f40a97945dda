import type { Schema } from '../../api'
import { Status, type Tone } from '../../parts/status'
import { loadWords } from '../../words'

const dataImportsWords = await loadWords('dataImports')

type ImportStatusCode = Schema['DataImport']['status']

const tones: Record<ImportStatusCode, Tone> = {
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
  <Status tone={tones[status]} label={dataImportsWords.statuses[status]} />
)
