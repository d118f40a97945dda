import { type SQL, sql } from 'drizzle-orm'

/**
 * True for a row of `access_tokens` whose minters are all valid: no token above it is revoked or expired, and the
 * memberships by which they were minted exist. This is checked at each use, so that revoking changes one row, however many
 * it minted.
 */
export const isLineageValid = (now: number | SQL): SQL => sql`(
  (access_tokens.parent_id is null and access_tokens.minter_member_id is null) or not exists (
    with recursive lineage (parent_id, minter_member_id, is_over) as (
      select access_tokens.parent_id, access_tokens.minter_member_id, 0
      union all
      select above.parent_id, above.minter_member_id,
        above.revoked_at is not null or coalesce(above.expires_at <= ${now}, 0)
      from lineage join access_tokens as above on above.id = lineage.parent_id
    )
    select 1 from lineage where is_over or (minter_member_id is not null
      and not exists (select 1 from members where members.id = lineage.minter_member_id))))`
