import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { erasures } from '../../db/schema/personal-data.ts'
import { users } from '../../db/schema/users.ts'
import { insert, updateVersion } from '../../db/write.ts'
import { firstIdAt } from '../../domain/ids.ts'
import { erasedContact } from '../../domain/accounts/users.ts'
import type { LoadedUser } from '../users/index.ts'
import type { EraseUserInput } from './contract.ts'
import { blankingStatements, type ErasureRow } from './erasure-statements.ts'
import { findErasure, knownAddresses } from './queries.ts'

/** The clocks of the Workers that made the ids differ by less. */
const toleranceMs = 600_000

/**
 * Blanks the personal data of a customer in the database. The sweep does the same in the objects of campaigns, the events
 * of webhooks and the rows of imports. A repeated request answers the erasure that exists.
 */
export async function eraseUser(ctx: Ctx, user: LoadedUser, input: EraseUserInput): Promise<ErasureRow> {
  const known = user.erased_at === null ? undefined : await findErasure(ctx, user.id)
  if (known) return commit(ctx, known, [])
  const now = ctx.now()
  const erasure: ErasureRow = {
    id: ctx.newId('erasure'),
    organization_id: user.organization_id,
    user_id: user.id,
    user_seq: user.seq,
    reason: input.reason ?? '',
    caller_id: ctx.caller.id,
    addresses: await knownAddresses(ctx, user),
    pass: 1,
    campaign_after: 0,
    event_after: firstIdAt('webhook_event', user.created_at - toleranceMs),
    import_after: '',
    next_step_at: now,
    completed_at: null,
    created_at: now,
  }
  return commit(ctx, erasure, [
    ...updateVersion(users, user, { ...erasedContact, erased_at: now, modified_at: now }),
    insert(erasures, erasure),
    ...(await blankingStatements(erasure, now)),
  ])
}
