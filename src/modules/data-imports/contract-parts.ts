import type { RoleCode } from '../../domain/accounts/access.ts'
import { IdParams } from '../../http/fields.ts'

export const tag = 'Data Imports' as const
export const keepers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']
export const ImportParams = IdParams('imp')
