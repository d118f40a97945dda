import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { editions } from '../../../db/schema/editions.ts'
import { select } from '../../../db/select.ts'
import { editionVisibility, isVisibleTo } from '../../../db/visibility.ts'
import { parameterError, invalid } from '../../../domain/errors.ts'
import { consentsInEdition } from '../../consents/index.ts'
import type { EditionConsent } from '../mapping/state.ts'

/** The consents of an edition that columns can be mapped to; none without an edition. */
export async function consentTargets(ctx: Ctx, editionId: string | undefined): Promise<readonly EditionConsent[]> {
  if (editionId === undefined) return []
  const edition = await ctx.db.first(
    select({ id: editions.id, organization_id: editions.organization_id })
      .from(editions)
      .where(and(eq(editions.id, editionId), isVisibleTo(ctx.caller, editionVisibility))),
  )
  if (!edition) throw invalid(parameterError('edition_id', 'does_not_exist', 'Object does not exist.'))
  return consentsInEdition(ctx.db, edition)
}
