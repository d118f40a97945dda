import { api, type Schema } from '../../api'
import type { SendHeaders } from '../../form'

export type Columns = Schema['ColumnMappings']
export type Column = Schema['ColumnMapping']
export type ColumnChange = Parameters<typeof patchColumns>[1]

export const patchColumns = (
  id: string,
  body: {
    mappings?: {
      id: string
      target_field?: string | null
      target_position?: number
      is_ignored?: boolean
      default_value?: string | null
      transform?: Schema['ImportTransformInput']
      value_map?: Column['value_map']
    }[]
    constants?: { target_field: string; value: string | null }[]
  },
  headers: SendHeaders,
) => api.PATCH('/v1/data-imports/{id}/column-mappings', { params: { path: { id } }, headers, body })

/** A header can be missing, and two columns can have the same one. */
export const nameColumn = ({ source_column, source_index }: Pick<Column, 'source_column' | 'source_index'>): string =>
  source_column || `#${source_index + 1}`
