import { operation } from '../../../http/operation.ts'
import { ImportParams, keepers, tag } from '../contract-parts.ts'
import { DataImport } from '../import-contract.ts'

export const undoDataImport = operation({
  id: 'undoDataImport',
  tag,
  method: 'post',
  path: '/v1/data-imports/{id}/undo',
  summary: 'Undo a data import',
  description: `Takes back what the import of a file wrote, until \`undo_until\`, in the background: poll until \`undone\`. Orders that
it made and nobody touched since are deleted, with customers and products that nothing else needs; orders that it
brought up to date get back what they were. An order that was changed, used, refunded or put into a wallet since, or of
which an e-mail went out, stays: it counts in \`kept_orders\`, and the rows of the import say why. The same file may be
imported again. Imports of external orders cannot be undone.`,
  roles: keepers,
  params: ImportParams,
  response: DataImport,
  errors: ['edition_archived', 'import_limit', 'invalid_transition'],
})
