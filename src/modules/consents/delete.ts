import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { consents, consentVersions } from '../../db/schema/consents.ts'
import { remove } from '../../db/write.ts'
import { AppError } from '../../domain/errors.ts'
import { openEditions } from '../editions/index.ts'
import type { ConsentRow } from './queries.ts'

/** An answer that is recorded at the same time aborts the deletion, because it changes the version. */
export async function deleteConsent(ctx: Ctx, row: ConsentRow): Promise<null> {
  if (row.records > 0)
    throw new AppError('consent_has_records', 'People have answered this consent. Set `is_active` to false instead.')
  return commit(ctx, null, [
    ...openEditions(row.edition_id),
    remove(consentVersions, eq(consentVersions.consent_id, row.id)),
    remove(consents, and(eq(consents.id, row.id), eq(consents.version, row.version))),
    requireOneChange(),
  ])
}
