import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { consents, consentVersions } from '../../db/schema/consents.ts'
import { pickChanges, insert, isEmpty, updateVersion } from '../../db/write.ts'
import { hashWording } from '../../domain/consents/consent-records.ts'
import { wordingFields } from '../../domain/consents/consents.ts'
import { invalid } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import type { UpdateConsentInput } from './contract.ts'
import { buildVersionRow, findTextFaults } from './create.ts'
import type { ConsentRow, DefinitionRow } from './queries.ts'

function buildRequestedColumns(input: UpdateConsentInput, key: string): Partial<DefinitionRow> {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined)
  const columns = Object.fromEntries(entries) as Partial<DefinitionRow>
  if (input.name === undefined) return columns
  return { ...columns, name_key: buildSortKey(input.name), search: buildSearchText(key, input.name) }
}

/** A change of the wording makes a new version. Earlier versions stay. */
async function buildVersionChanges(row: ConsentRow, changes: Partial<DefinitionRow>): Promise<Partial<DefinitionRow>> {
  if (!wordingFields.some((name) => name in changes)) return {}
  const { title, text, link_url, legal_basis } = { ...row, ...changes }
  const content_hash = await hashWording({ title, text, link_url, legal_basis })
  return content_hash === row.content_hash ? {} : { content_hash, wording_version: row.wording_version + 1 }
}

export async function updateConsent(ctx: Ctx, row: ConsentRow, input: UpdateConsentInput): Promise<ConsentRow> {
  const faults = input.text === undefined ? [] : findTextFaults(input.text, row.default_language)
  if (faults.length) throw invalid(...faults)
  const requestedChanges = pickChanges<DefinitionRow>(row, buildRequestedColumns(input, row.key))
  if (isEmpty(requestedChanges)) return commit(ctx, row, openEditions(row.edition_id))
  const changes = { ...requestedChanges, ...(await buildVersionChanges(row, requestedChanges)), modified_at: ctx.now() }
  const updatedRow = { ...row, ...changes, version: row.version + 1 }
  return commit(ctx, updatedRow, [
    ...openEditions(row.edition_id),
    ...updateVersion(consents, row, changes),
    ...('wording_version' in changes ? [insert(consentVersions, buildVersionRow(updatedRow))] : []),
  ])
}
