import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit } from '../../db/commit.ts'
import { AppError } from '../../domain/errors.ts'
import { openEditions } from '../editions/index.ts'
import type { ConsentRow } from './queries.ts'

/** An answer that is recorded meanwhile makes this decide again. */
export async function deleteConsent(ctx: Ctx, row: ConsentRow): Promise<null> {
  if (row.records > 0) throw new AppError('consent_has_records', 'This consent has answers. Set is_active to false.')
  return commit(ctx, null, [
    ...openEditions(row.edition_id),
    sql`delete from consent_versions where consent_id = ${row.id}`,
    sql`delete from consents where id = ${row.id} and version = ${row.version}`,
    changedOne(),
  ])
}
