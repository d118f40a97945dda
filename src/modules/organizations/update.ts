import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { requireShowable, isShowable } from '../../db/visibility.ts'
import { files } from '../../db/schema/files/files.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { AppError, doesNotExist, fieldError } from '../../domain/errors.ts'
import { buildSearchText } from '../../domain/text/fold.ts'
import { toMinor } from '../../domain/money.ts'
import { readPolicy, type RefundPolicy } from '../../domain/refunds/refund-policy.ts'
import type { UpdateOrganizationInput } from './contract.ts'
import { slugTaken } from './create.ts'
import type { OrganizationRow } from './queries.ts'

/** Slugs are unique among all organisations: whether one is free says what others have. */
function checkSlug(ctx: Ctx, row: OrganizationRow, slug: string | undefined): void {
  if (slug === undefined || slug === row.slug || ctx.caller.is_superuser) return
  const detail = 'The operator of the platform changes slugs, because they are shared by all organisations.'
  throw new AppError('permission_denied', detail, {
    errors: [fieldError(['slug'], 'superuser_only', 'Leave it out, or send the slug that the organisation has.')],
    extra: { required_roles: [] },
  })
}

const minorOf = (major: number | null): number | null => (major === null ? null : toMinor(major))

/** The policy with the fields that were sent. */
function policyAfter(
  stored: OrganizationRow['refund_policy'],
  change: UpdateOrganizationInput['refund_policy'],
): OrganizationRow['refund_policy'] {
  if (!change) return stored
  const policy = readPolicy(stored)
  const { four_eyes = policy.four_eyes, manager_limit, auto_approve_below } = change
  const next: RefundPolicy = {
    four_eyes,
    manager_limit: manager_limit === undefined ? policy.manager_limit : minorOf(manager_limit),
    auto_approve_below: auto_approve_below === undefined ? policy.auto_approve_below : minorOf(auto_approve_below),
  }
  return isEmpty(pickChanges(policy, next)) ? stored : next
}

/** The key of the avatar after the change. */
async function avatarKeyOf(ctx: Ctx, row: OrganizationRow, id: string | null): Promise<string | null> {
  if (id === row.avatar_file_id) return row.avatar_key
  if (id === null) return null
  const shower = { organization_id: row.id }
  const found = await ctx.db.first(
    select({ access_key: files.access_key })
      .from(files)
      .where(and(eq(files.id, id), isShowable(ctx.caller, shower))),
  )
  if (!found) throw doesNotExist('avatar_file_id')
  return found.access_key
}

export async function updateOrganization(
  ctx: Ctx,
  row: OrganizationRow,
  input: UpdateOrganizationInput,
): Promise<OrganizationRow> {
  checkSlug(ctx, row, input.slug)
  const avatar_file_id = input.avatar_file_id === undefined ? row.avatar_file_id : input.avatar_file_id
  const avatar_key = await avatarKeyOf(ctx, row, avatar_file_id)
  const asked = pickChanges<OrganizationRow>(row, {
    name: input.name ?? row.name,
    slug: input.slug ?? row.slug,
    refund_policy: policyAfter(row.refund_policy, input.refund_policy),
    avatar_file_id,
  })
  if (isEmpty(asked)) return commit(ctx, row, [])
  const changes = { ...asked, search: buildSearchText(asked.name ?? row.name), modified_at: ctx.now() }
  const result = { ...row, ...changes, avatar_key, version: row.version + 1 }
  const shower = { organization_id: row.id }
  const stands = asked.avatar_file_id ? [requireShowable(ctx.caller, shower, asked.avatar_file_id)] : []
  return commit(ctx, result, [...stands, ...updateVersion(organizations, row, changes)], {
    'organizations.slug': slugTaken,
  })
}
