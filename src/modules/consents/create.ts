import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { consents, consentVersions } from '../../db/schema/consents.ts'
import { insert } from '../../db/write.ts'
import { doesNotExist, fieldError, invalid } from '../../domain/errors.ts'
import { buildSearchText } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import type { CreateConsentInput } from './contract.ts'
import { type ConsentRow, type DefinitionRow, findTenant, type TenantSummary } from './queries.ts'
import { textFaults, wordingColumns } from './wording.ts'

const keyTaken = () =>
  invalid(fieldError(['key'], 'unique', 'Another consent of this organisation or edition has this key.'))

async function tenantOf(ctx: Ctx, organizationId: string, editionId: string | null): Promise<TenantSummary> {
  const tenant = await findTenant(ctx, organizationId, editionId)
  if (!tenant) throw doesNotExist('organization_id')
  if (editionId !== null && tenant.edition_id === null) throw doesNotExist('edition_id')
  return tenant
}

const noAnswers = { records: 0, given: 0, skipped: 0, withdrawn: 0, expired: 0 }

/** The row that keeps the wording of a version. */
export const versionOf = (row: DefinitionRow) => ({
  consent_id: row.id,
  version: row.wording_version,
  title: row.title,
  text: row.text,
  link_url: row.link_url,
  legal_basis: row.legal_basis,
  content_hash: row.content_hash,
  created_at: row.modified_at,
})

export async function createConsent(ctx: Ctx, input: CreateConsentInput): Promise<ConsentRow> {
  const { organization_id, edition_id = null, title, text, link_url, legal_basis, ...rest } = input
  const tenant = await tenantOf(ctx, organization_id, edition_id)
  const faults = textFaults(text, tenant.default_language)
  if (faults.length) throw invalid(...faults)
  const now = ctx.now()
  const row: DefinitionRow = {
    ...rest,
    ...(await wordingColumns({ title, text, link_url, legal_basis })),
    id: ctx.newId('consent'),
    organization_id,
    edition_id,
    origin_id: null,
    search: buildSearchText(rest.key, rest.name),
    wording_version: 1,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  const statements = [...openEditions(edition_id), insert(consents, row), insert(consentVersions, versionOf(row))]
  return commit(ctx, { ...row, ...noAnswers, ...tenant }, statements, { "index 'consents_by_key'": keyTaken })
}
