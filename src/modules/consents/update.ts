import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { consents, consentVersions } from '../../db/schema/consents.ts'
import { pickChanges, insert, isEmpty, updateVersion } from '../../db/write.ts'
import { contentHash } from '../../domain/consents/consent-records.ts'
import { wordingFields } from '../../domain/consents/consents.ts'
import { invalid } from '../../domain/errors.ts'
import { buildSearchText } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import type { UpdateConsentInput } from './contract.ts'
import { versionOf } from './create.ts'
import type { ConsentRow, DefinitionRow } from './queries.ts'
import { textFaults } from './wording.ts'

/** The requested changes, as columns. */
function requestedColumns(input: UpdateConsentInput, key: string): Partial<DefinitionRow> {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  const columns = Object.fromEntries(given) as Partial<DefinitionRow>
  return input.name === undefined ? columns : { ...columns, search: buildSearchText(key, input.name) }
}

/** A change of the wording makes a version beside the earlier ones. */
async function renewed(row: ConsentRow, changes: Partial<DefinitionRow>): Promise<Partial<DefinitionRow>> {
  if (!wordingFields.some((name) => name in changes)) return {}
  const { title, text, link_url, legal_basis } = { ...row, ...changes }
  const content_hash = await contentHash({ title, text, link_url, legal_basis })
  return content_hash === row.content_hash ? {} : { content_hash, wording_version: row.wording_version + 1 }
}

export async function updateConsent(ctx: Ctx, row: ConsentRow, input: UpdateConsentInput): Promise<ConsentRow> {
  const faults = input.text === undefined ? [] : textFaults(input.text, row.default_language)
  if (faults.length) throw invalid(...faults)
  const asked = pickChanges<DefinitionRow>(row, requestedColumns(input, row.key))
  if (isEmpty(asked)) return commit(ctx, row, openEditions(row.edition_id))
  const changes = { ...asked, ...(await renewed(row, asked)), modified_at: ctx.now() }
  const result = { ...row, ...changes, version: row.version + 1 }
  return commit(ctx, result, [
    ...openEditions(row.edition_id),
    ...updateVersion(consents, row, changes),
    ...('wording_version' in changes ? [insert(consentVersions, versionOf(result))] : []),
  ])
}
