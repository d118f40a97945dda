import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { importColumns, importConstants } from '../../../db/schema/data-imports.ts'
import { insert, update } from '../../../db/write.ts'
import type { StoredSource } from '../../../domain/data-imports/data-imports.ts'
import { buildHeaderKey, detectListSource, detectSource } from '../../../domain/data-imports/mapping/index.ts'
import { sha256OfShort, toHex } from '../../../domain/text/encoding.ts'
import { endPhase, type ImportRow } from '../background/steps.ts'
import { getFormat } from '../mapping/source.ts'
import { emptyStaging, loadMapping, loadReadingPlace, prepareState, summarizeColumns } from '../mapping/state.ts'
import { deleteParts } from '../retention/files.ts'
import { decideSuggestions, type MappingSuggestions } from './decide-suggestions.ts'
import {
  findSourceByHeaders,
  getMemory,
  listSourceHeaders,
  loadHeaderHistory,
  loadSourceMemory,
  recallOptions,
} from './history.ts'

type ImportSource = { external_source: string } & Pick<ImportRow, 'source_suggested_by'>

/** Decides the name of the source. It keeps a name that the user gave; other names belong to the file that was read. */
async function decideSource(
  job: JobCtx,
  row: ImportRow,
  names: readonly string[],
  detectedSource: StoredSource | null,
): Promise<ImportSource> {
  const { external_source, source_suggested_by } = row
  if (external_source !== null && source_suggested_by === null) return { external_source, source_suggested_by }
  const headers = listSourceHeaders(names)
  const earlierSource = await findSourceByHeaders(job.db, getMemory(row), headers)
  if (earlierSource !== null) return { external_source: earlierSource, source_suggested_by: 'memory' }
  if (detectedSource) return { external_source: detectedSource.source, source_suggested_by: 'preset' }
  const fingerprint = toHex(sha256OfShort(JSON.stringify(headers.toSorted()))).slice(0, 8)
  return { external_source: `file-${fingerprint}`, source_suggested_by: 'headers' }
}

/** Loads what earlier imports decided: those of the same source or, for a new source, those of any. */
async function loadEarlierDecisions(job: JobCtx, row: ImportRow, external_source: string, names: readonly string[]) {
  const memoryOwners = getMemory(row)
  const memory = await loadSourceMemory(job.db, memoryOwners, external_source)
  const earlierTargets = memory
    ? new Map([...memory.left_out].map((key) => [key, null] as const))
    : await loadHeaderHistory(job.db, memoryOwners, names.map(buildHeaderKey))
  return { memory, earlierTargets }
}

function buildSuggestionStatements(
  importId: string,
  { state, columnChanges, constants }: MappingSuggestions,
): Statement[] {
  const questions = JSON.stringify(
    Object.fromEntries(state.columns.map(({ source_index, question }) => [source_index, question])),
  )
  return [
    sql`delete from import_constants where import_id = ${importId} and suggested_by is not null`,
    ...[...columnChanges].map(([index, changes]) =>
      update(importColumns, changes, sql`import_id = ${importId} and source_index = ${index}`),
    ),
    ...constants.map((constant) => insert(importConstants, constant)),
    sql`update import_columns set question = ${questions} ->> ('$.' || source_index) where import_id = ${importId}`,
  ]
}

/** Deletes objects of earlier readings and lost races, which the canonical copy does not use. */
const deleteOrphans = (job: JobCtx, row: ImportRow): Promise<Statement[]> =>
  deleteParts(
    job,
    row.id,
    getFormat(row).segments.map(({ key }) => key),
  )

/** The last step of reading a file: suggests what its columns mean. */
export async function suggestMapping(job: JobCtx, row: ImportRow): Promise<null> {
  const { names } = getFormat(row)
  const place = await loadReadingPlace(job.db, row)
  const detectedSource = row.kind === 'customers' ? detectListSource(names) : detectSource(names)
  const source = await decideSource(job, row, names, detectedSource)
  const decisions = await loadEarlierDecisions(job, row, source.external_source, names)
  const recalledOptions = recallOptions(row.options, row.remembered_options === null ? decisions.memory : null)
  const mapping = await loadMapping(job.db, row.id, place, recalledOptions.options)
  // Suggestions of an earlier reading are made again.
  const userConstants = mapping.constants.filter(({ suggested_by }) => suggested_by === null)
  const suggestions = decideSuggestions({
    ...decisions,
    import_id: row.id,
    state: { ...mapping, constants: userConstants },
    isKnownExport: detectedSource !== null,
    isOfOrganization: row.uses_organization_memory,
    now: job.now(),
  })
  const { state } = suggestions
  return endPhase(job, row, {
    status: 'mapping_columns',
    changes: {
      ...emptyStaging,
      ...source,
      detected_source: detectedSource,
      options: state.options,
      remembered_options: row.remembered_options ?? recalledOptions.names,
      column_summary: summarizeColumns(state, prepareState(state, job.now())),
    },
    statements: [...buildSuggestionStatements(row.id, suggestions), ...(await deleteOrphans(job, row))],
  })
}
