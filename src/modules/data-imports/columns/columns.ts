import { readBytes } from '@ecms/table-reader'
import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { editions } from '../../../db/schema/editions.ts'
import { select } from '../../../db/select.ts'
import { editionVisibility, isVisibleTo } from '../../../db/visibility.ts'
import type { Tenant } from '../../../domain/accounts/access.ts'
import { readOptions } from '../../../domain/data-imports/data-imports.ts'
import { canonicalRangeLength, readCanonical, type IndexedRow } from '../../../domain/data-imports/files/canonical.ts'
import type { PreparedMappings } from '../../../domain/data-imports/mapping/index.ts'
import { parameterError, invalid } from '../../../domain/errors.ts'
import { listConsentsInEdition } from '../../consents/index.ts'
import { findMappingIssues, type MappingIssue } from '../mapping/issues.ts'
import { openCanonical, getFormat } from '../mapping/source.ts'
import {
  loadMappingState,
  type ColumnRow,
  type MappingState,
  prepareState,
  type EditionConsent,
} from '../mapping/state.ts'
import { findImport, type LoadedImport } from '../queries.ts'

export interface ColumnView {
  id: string
  tenant: Tenant
  row: LoadedImport
  state: MappingState
  preparedMappings: PreparedMappings
  issues: { errors: MappingIssue[]; warnings: MappingIssue[] }
}

export function buildColumnView(ctx: Ctx, row: LoadedImport, state: MappingState): ColumnView {
  const preparedMappings = prepareState(state, ctx.now())
  return {
    id: row.id,
    tenant: row.tenant,
    row,
    state,
    preparedMappings,
    issues: findMappingIssues(state, preparedMappings),
  }
}

export async function findColumnView(ctx: Ctx, id: string): Promise<ColumnView> {
  const row = await findImport(ctx, id)
  return buildColumnView(ctx, row, await loadMappingState(ctx, row, readOptions(row.options)))
}

export interface ColumnWithIssues extends ColumnRow {
  issues: readonly MappingIssue[]
  is_required: boolean
}

export const addIssues = (column: ColumnRow, view: ColumnView): ColumnWithIssues => ({
  ...column,
  issues: view.issues.errors.concat(view.issues.warnings).filter((issue) => issue.column === column.source_index),
  is_required: view.preparedMappings.readers.some(
    ({ field }) => field.key === column.target_field && (field.is_required || field.one_of !== null),
  ),
})

/** Reads as many rows as one range of the canonical copy contains. */
export async function readFirstDataRows(ctx: Ctx, row: LoadedImport, count: number): Promise<IndexedRow[]> {
  if (row.canonical_size === null) return []
  const file = openCanonical(ctx, getFormat(row))
  const bytes = await readBytes(file, 0, canonicalRangeLength)
  return readCanonical(bytes, 0, bytes.byteLength >= file.size)
    .filter(({ kind }) => kind === 'data')
    .slice(0, count)
}

export async function loadConsentTargets(ctx: Ctx, editionId: string | undefined): Promise<readonly EditionConsent[]> {
  if (editionId === undefined) return []
  const edition = await ctx.db.first(
    select({ id: editions.id, organization_id: editions.organization_id })
      .from(editions)
      .where(and(eq(editions.id, editionId), isVisibleTo(ctx.caller, editionVisibility))),
  )
  if (!edition) throw invalid(parameterError('edition_id', 'does_not_exist', 'Object does not exist.'))
  return listConsentsInEdition(ctx.db, edition)
}
