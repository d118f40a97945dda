import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { signupForms } from '../../db/schema/signup-forms.ts'
import { insert } from '../../db/write.ts'
import { doesNotExist, fieldError, invalid } from '../../domain/errors.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import { listForeignConsents, loadConsentTenant } from '../consents/index.ts'
import { openEditions } from '../editions/index.ts'
import type { CreateSignupFormInput } from './contract.ts'
import type { FormRow, SignupFormRow } from './queries.ts'

type FormContent = Pick<FormRow, 'organization_id' | 'edition_id' | 'consent_ids' | 'allowed_sites' | 'redirect_url'>

/** Refuses consents of others, and a redirect to a site that is not allowed. */
export async function checkForm(ctx: Ctx, form: FormContent): Promise<void> {
  const { consent_ids, allowed_sites, redirect_url } = form
  const [foreignId] = await listForeignConsents(ctx, form, consent_ids)
  if (foreignId !== undefined) throw doesNotExist('consent_ids', String(consent_ids.indexOf(foreignId)))
  if (redirect_url !== null && !allowed_sites.includes(new URL(redirect_url).origin))
    throw invalid(
      fieldError(
        ['redirect_url'],
        'redirect_not_allowed',
        'The site of `redirect_url` must be one of `allowed_sites`.',
      ),
    )
}

export async function createSignupForm(ctx: Ctx, input: CreateSignupFormInput): Promise<SignupFormRow> {
  const { organization_id, edition_id = null } = input
  const { default_language: _, ...tenant } = await loadConsentTenant(ctx, organization_id, edition_id)
  const now = ctx.now()
  const row: FormRow = {
    ...input,
    id: ctx.newId('signup_form'),
    edition_id,
    name_key: buildSortKey(input.name),
    version: 1,
    created_at: now,
    modified_at: now,
  }
  await checkForm(ctx, row)
  return commit(ctx, { ...row, ...tenant }, [...openEditions(edition_id), insert(signupForms, row)])
}
