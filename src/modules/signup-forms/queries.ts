import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { signupForms } from '../../db/schema/signup-forms.ts'
import { fromJson, type Nullable, select } from '../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../db/visibility.ts'
import type { Tenant } from '../../domain/accounts/access.ts'
import { notFound } from '../../domain/errors.ts'
import { type EditionSummaryRow, editionSummaryFields } from '../editions/index.ts'
import { type OrganizationSummaryRow, organizationSummaryFields } from '../organizations/index.ts'

export type FormRow = typeof signupForms.$inferSelect

/** A form with its organisation and edition. Edition columns are null when the whole organisation owns it. */
export type SignupFormRow = Omit<FormRow, 'organization_id' | 'edition_id'> &
  OrganizationSummaryRow &
  Nullable<EditionSummaryRow>

export const formVisibility = buildVisibility(sql`${signupForms.organization_id}`, sql`${signupForms.edition_id}`)

/** Leaves out consents that were deleted since. */
const existingConsentIds = fromJson<
  readonly string[]
>(sql`(select json_group_array(value) from json_each(signup_forms.consent_ids)
  where exists (select 1 from consents where consents.id = value))`)

/** The form's columns come last, so that its ids win over those of a missing edition. */
export const formColumns = {
  ...organizationSummaryFields,
  ...editionSummaryFields,
  ...getTableColumns(signupForms),
  consent_ids: existingConsentIds,
}

/** Finds a form with the tenant that decides who may change it. */
export async function findSignupForm(ctx: Ctx, id: string): Promise<SignupFormRow & { tenant: Tenant }> {
  const row = await ctx.db.first(
    select(formColumns)
      .from(signupForms)
      .innerJoin(organizations, eq(organizations.id, signupForms.organization_id))
      .leftJoin(editions, eq(editions.id, signupForms.edition_id))
      .where(and(eq(signupForms.id, id), isVisibleTo(ctx.caller, formVisibility))),
  )
  if (!row) throw notFound()
  const { organization_id, edition_id } = row
  return { ...row, tenant: { organization_id, editions: edition_id === null ? [] : [edition_id] } }
}
