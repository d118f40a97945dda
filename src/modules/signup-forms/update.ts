import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { signupForms } from '../../db/schema/signup-forms.ts'
import { isEmpty, pickChanges, updateVersion } from '../../db/write.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import { openEditions } from '../editions/index.ts'
import type { UpdateSignupFormInput } from './contract.ts'
import { checkForm } from './create.ts'
import type { FormRow, SignupFormRow } from './queries.ts'

function buildRequestedColumns(input: UpdateSignupFormInput): Partial<FormRow> {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined)
  const columns = Object.fromEntries(entries) as Partial<FormRow>
  return input.name === undefined ? columns : { ...columns, name_key: buildSortKey(input.name) }
}

export async function updateSignupForm(
  ctx: Ctx,
  row: SignupFormRow,
  input: UpdateSignupFormInput,
): Promise<SignupFormRow> {
  const requestedChanges = pickChanges<FormRow>(row, buildRequestedColumns(input))
  if (isEmpty(requestedChanges)) return commit(ctx, row, openEditions(row.edition_id))
  const changes = { ...requestedChanges, modified_at: ctx.now() }
  const updatedRow = { ...row, ...changes, version: row.version + 1 }
  await checkForm(ctx, updatedRow)
  return commit(ctx, updatedRow, [...openEditions(row.edition_id), ...updateVersion(signupForms, row, changes)])
}
