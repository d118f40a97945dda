import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit, requireOneChange } from '../../db/commit.ts'
import { signupForms } from '../../db/schema/signup-forms.ts'
import { remove } from '../../db/write.ts'
import { openEditions } from '../editions/index.ts'
import type { SignupFormRow } from './queries.ts'

/** Requests of the form are deleted when they expire. Without the form nobody can confirm them. */
export const deleteSignupForm = (ctx: Ctx, row: SignupFormRow): Promise<null> =>
  commit(ctx, null, [
    ...openEditions(row.edition_id),
    remove(signupForms, and(eq(signupForms.id, row.id), eq(signupForms.version, row.version))),
    requireOneChange(),
  ])
