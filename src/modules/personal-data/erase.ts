import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { erasures, users } from '../../db/schema/customers.ts'
import { insert, updateVersion } from '../../db/write.ts'
import { buildUserEvent, type LoadedUser, type UserField } from '../users/index.ts'
import { announceAll, type Announcement } from '../webhooks/index.ts'
import type { EraseUserInput } from './contract.ts'
import { buildErasureStatements, type ErasureRow } from './places.ts'
import { findErasure, listAddresses } from './queries.ts'

const contactFields: UserField[] = ['email', 'phone_number', 'first_name', 'last_name', 'metadata']

/** Whoever has copied the customer learns that the fields are empty now: the organisation, and each edition. */
async function buildErasureAnnouncements(
  { db }: Ctx,
  { id: user_id, seq, organization_id }: LoadedUser,
  now: number,
): Promise<Announcement[]> {
  const editions = await db.all(
    sql<{ edition_id: string }>`select edition_id from edition_customers where user_seq = ${seq}`,
  )
  return [
    ...buildUserEvent({ user_id, organization_id, edition_id: null }, [...contactFields, 'is_active'], now),
    ...editions.flatMap(({ edition_id }) =>
      buildUserEvent({ user_id, organization_id, edition_id }, contactFields, now),
    ),
  ]
}

/**
 * Erases the personal data of a customer in the database. A sweep erases it in campaign objects, webhook events and
 * import rows. A repeated request returns the existing erasure.
 */
export async function eraseUser(ctx: Ctx, user: LoadedUser, input: EraseUserInput): Promise<ErasureRow> {
  const existingErasure = user.erased_at === null ? undefined : await findErasure(ctx, user.id)
  if (existingErasure) return commit(ctx, existingErasure, [])
  const now = ctx.now()
  const erasedColumns = {
    is_active: false,
    is_verified: false,
    last_seen_at: null,
    erased_at: now,
    modified_at: now,
  }
  const erasure: ErasureRow = {
    id: ctx.newId('erasure'),
    organization_id: user.organization_id,
    user_id: user.id,
    user_seq: user.seq,
    reason: input.reason ?? '',
    caller_id: ctx.caller.id,
    addresses: await listAddresses(ctx, user),
    user_created_at: user.created_at,
    pass: 1,
    place: '',
    cursor: '',
    due_at: now,
    claimed_until: null,
    completed_at: null,
    created_at: now,
  }
  return commit(ctx, erasure, [
    ...updateVersion(users, user, erasedColumns),
    insert(erasures, erasure),
    ...(await buildErasureStatements(ctx.db, erasure, now)),
    ...announceAll(ctx, await buildErasureAnnouncements(ctx, user, now)),
  ])
}
