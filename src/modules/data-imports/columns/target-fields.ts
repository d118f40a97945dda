import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { visibilityOf, visible } from '../../../db/visibility.ts'
import { parameterError, invalid } from '../../../domain/errors.ts'
import { consentsInEdition } from '../../consents/index.ts'
import { keepers } from '../contract-parts.ts'
import type { EditionConsent } from '../mapping/state.ts'

/** The consents of an edition that columns can be mapped to; none without an edition. */
export async function consentTargets(ctx: Ctx, editionId: string | undefined): Promise<readonly EditionConsent[]> {
  if (editionId === undefined) return []
  const edition = await ctx.db.first(
    sql<{ id: string; organization_id: string }>`select id, organization_id from editions where id = ${editionId}
      and ${visible(ctx.caller, visibilityOf(sql`editions.organization_id`, sql`editions.id`), keepers)}`,
  )
  if (!edition) throw invalid(parameterError('edition_id', 'does_not_exist', 'Object does not exist.'))
  return consentsInEdition(ctx.db, edition)
}
