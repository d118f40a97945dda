import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { campaignsSending, countApprovedCampaigns, countUnapprovedCampaigns } from '../../db/campaign-approvals.ts'
import { commit } from '../../db/commit.ts'
import { requireShowable, isShowable } from '../../db/images.ts'
import { files } from '../../db/schema/files.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { pickChanges, isEmpty, updateVersion } from '../../db/write.ts'
import { warnAboutLostApprovals, warnAboutMissingApprovals } from '../../domain/campaigns/approval.ts'
import { AppError, doesNotExist, type FieldError, fieldError } from '../../domain/errors.ts'
import { readPolicy, type RefundPolicy } from '../../domain/refunds/refund-policy.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import type { UpdateOrganizationInput } from './contract.ts'
import { createSlugError } from './create.ts'
import type { OrganizationRow } from './queries.ts'

/** Slugs are unique among all organisations, so refusing a taken one would reveal that another organisation has it. */
function checkSlug(ctx: Ctx, row: OrganizationRow, slug: string | undefined): void {
  if (slug === undefined || slug === row.slug || ctx.caller.is_superuser) return
  const detail = 'Only the superuser of the platform can change slugs.'
  throw new AppError('permission_denied', detail, {
    errors: [fieldError(['slug'], 'superuser_only', 'Leave this field out or send the current slug.')],
    extra: { required_roles: [] },
  })
}

/** Fields that the request leaves out stay as they are. */
function changePolicy(
  storedPolicy: OrganizationRow['refund_policy'],
  change: UpdateOrganizationInput['refund_policy'],
): OrganizationRow['refund_policy'] {
  if (!change) return storedPolicy
  const policy = readPolicy(storedPolicy)
  const { four_eyes = policy.four_eyes, manager_limit, auto_approve_below } = change
  const next: RefundPolicy = {
    four_eyes,
    manager_limit: manager_limit === undefined ? policy.manager_limit : manager_limit,
    auto_approve_below: auto_approve_below === undefined ? policy.auto_approve_below : auto_approve_below,
  }
  return isEmpty(pickChanges(policy, next)) ? storedPolicy : next
}

/** The access key of the avatar after the change. */
async function findAvatarKey(ctx: Ctx, row: OrganizationRow, id: string | null): Promise<string | null> {
  if (id === row.avatar_file_id) return row.avatar_key
  if (id === null) return null
  const file = await ctx.db.first(
    select({ access_key: files.access_key })
      .from(files)
      .where(and(eq(files.id, id), isShowable(ctx.caller, { organization_id: row.id }))),
  )
  if (!file) throw doesNotExist('avatar_file_id')
  return file.access_key
}

interface Warned {
  warnings: readonly FieldError[]
}

/** Messages show the name of the organisation, so campaigns are approved with it. */
async function listApprovalWarnings(
  ctx: Ctx,
  { id }: OrganizationRow,
  { name, requires_campaign_approval }: Partial<OrganizationRow>,
): Promise<FieldError[]> {
  if (requires_campaign_approval) return warnAboutMissingApprovals(await countUnapprovedCampaigns(ctx.db, id))
  if (name === undefined) return []
  return warnAboutLostApprovals(await countApprovedCampaigns(ctx.db, campaignsSending.organization(id)))
}

export async function updateOrganization(
  ctx: Ctx,
  row: OrganizationRow,
  input: UpdateOrganizationInput,
): Promise<OrganizationRow & Warned> {
  checkSlug(ctx, row, input.slug)
  const avatar_file_id = input.avatar_file_id === undefined ? row.avatar_file_id : input.avatar_file_id
  const avatar_key = await findAvatarKey(ctx, row, avatar_file_id)
  const requestedChanges = pickChanges<OrganizationRow>(row, {
    name: input.name ?? row.name,
    slug: input.slug ?? row.slug,
    refund_policy: changePolicy(row.refund_policy, input.refund_policy),
    sms_price: input.sms_price === undefined ? row.sms_price : input.sms_price,
    avatar_file_id,
    requires_campaign_approval: input.requires_campaign_approval ?? row.requires_campaign_approval,
  })
  if (isEmpty(requestedChanges)) return commit(ctx, { ...row, warnings: [] }, [])
  const { name } = requestedChanges
  const names = name === undefined ? {} : { name_key: buildSortKey(name), search: buildSearchText(name) }
  const changes = { ...requestedChanges, ...names, modified_at: ctx.now() }
  const warnings = await listApprovalWarnings(ctx, row, requestedChanges)
  const result = { ...row, ...changes, avatar_key, warnings, version: row.version + 1 }
  const { avatar_file_id: newAvatarId } = requestedChanges
  const guards = newAvatarId ? [requireShowable(ctx.caller, { organization_id: row.id }, newAvatarId)] : []
  return commit(ctx, result, [...guards, ...updateVersion(organizations, row, changes)], {
    'organizations.slug': createSlugError,
  })
}
