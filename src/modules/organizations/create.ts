import { and, gte, lt } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { insert } from '../../db/write.ts'
import { fieldError, invalid, LostRace } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { pickFreeSlug, slugify } from '../../domain/text/text.ts'
import type { CreateOrganizationInput } from './contract.ts'
import type { OrganizationRow } from './queries.ts'

export const createSlugError = () =>
  invalid(fieldError(['slug'], 'unique', 'Another organisation has this slug. Choose another one.'))

export async function createOrganization(ctx: Ctx, input: CreateOrganizationInput): Promise<OrganizationRow> {
  const now = ctx.now()
  const row = {
    id: ctx.newId('organization'),
    name: input.name,
    name_key: buildSortKey(input.name),
    slug: input.slug ?? (await findFreeSlug(ctx, slugify(input.name, 'organization'))),
    version: 1,
    search: buildSearchText(input.name),
    refund_policy: {},
    sms_price: null,
    requires_campaign_approval: false,
    avatar_file_id: null,
    created_at: now,
    modified_at: now,
  }
  // If the service chose the slug, the request is repeated with another one.
  const createError = input.slug === undefined ? () => new LostRace('the slug was taken meanwhile') : createSlugError
  return commit(ctx, { ...row, avatar_key: null }, [insert(organizations, row)], { 'organizations.slug': createError })
}

async function findFreeSlug(ctx: Ctx, base: string): Promise<string> {
  const { slug } = organizations
  const hasPrefix = and(gte(slug, base), lt(slug, `${base}.`))
  const rows = await ctx.db.all(select({ slug }).from(organizations).where(hasPrefix))
  return pickFreeSlug(base, new Set(rows.map((row) => row.slug)))
}
