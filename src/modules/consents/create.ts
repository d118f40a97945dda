import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { consents, consentVersions } from '../../db/schema/consents.ts'
import { insert } from '../../db/write.ts'
import { hashWording } from '../../domain/consents/consent-records.ts'
import { listLanguages, type Wording } from '../../domain/consents/consents.ts'
import { doesNotExist, type FieldError, fieldError, invalid } from '../../domain/errors.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import type { CreateConsentInput } from './contract.ts'
import { type ConsentRow, type DefinitionRow, findConsentTenant, type TenantSummary } from './queries.ts'

const buildWordingColumns = async (wording: Wording) => ({
  ...wording,
  content_hash: await hashWording(wording),
})

/**
 * A text needs the edition's default language, which people see when theirs is missing. A consent of the whole
 * organisation needs a text in any language.
 */
export function findTextFaults(text: TranslatedDict, defaultLanguage: Language | null): FieldError[] {
  const textLanguages = listLanguages(text)
  if (defaultLanguage === null ? textLanguages.length > 0 : textLanguages.includes(defaultLanguage)) return []
  const detail =
    defaultLanguage === null
      ? '`text` must be given in at least one language.'
      : `\`text\` must be given in \`${defaultLanguage}\`, the default language of the edition.`
  return [fieldError(['text'], 'text_missing_default_language', detail)]
}

const keyTaken = () =>
  invalid(fieldError(['key'], 'unique', 'Another consent of this organisation or edition has this key.'))

/** Loads the organisation and the edition of a new definition or form. */
export async function loadConsentTenant(
  ctx: Ctx,
  organizationId: string,
  editionId: string | null,
): Promise<TenantSummary> {
  const tenant = await findConsentTenant(ctx, organizationId, editionId)
  if (!tenant) throw doesNotExist('organization_id')
  if (editionId !== null && tenant.edition_id === null) throw doesNotExist('edition_id')
  return tenant
}

const noAnswers = { records: 0, given: 0, skipped: 0, withdrawn: 0, expired: 0 }

/** Builds the row that stores a version of the wording. */
export const buildVersionRow = (row: DefinitionRow) => ({
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
  const tenant = await loadConsentTenant(ctx, organization_id, edition_id)
  const faults = findTextFaults(text, tenant.default_language)
  if (faults.length) throw invalid(...faults)
  const now = ctx.now()
  const row: DefinitionRow = {
    ...rest,
    ...(await buildWordingColumns({ title, text, link_url, legal_basis })),
    id: ctx.newId('consent'),
    organization_id,
    edition_id,
    origin_id: null,
    name_key: buildSortKey(rest.name),
    search: buildSearchText(rest.key, rest.name),
    wording_version: 1,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  const statements = [...openEditions(edition_id), insert(consents, row), insert(consentVersions, buildVersionRow(row))]
  return commit(ctx, { ...row, ...noAnswers, ...tenant }, statements, { "index 'consents_by_key'": keyTaken })
}
