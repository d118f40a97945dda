import { eq } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { events } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { insert } from '../../db/write.ts'
import { doesNotExist } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import type { CreateEventInput } from './contract.ts'
import type { EventRow } from './queries.ts'

export async function createEvent(ctx: Ctx, input: CreateEventInput): Promise<EventRow> {
  const { id } = organizations
  const organization = await ctx.db.first(select({ id }).from(organizations).where(eq(id, input.organization_id)))
  if (!organization) throw doesNotExist('organization_id')
  const now = ctx.now()
  const row: EventRow = {
    id: ctx.newId('event'),
    organization_id: input.organization_id,
    name: input.name,
    name_key: buildSortKey(input.name),
    search: buildSearchText(input.name),
    created_at: now,
    modified_at: now,
  }
  return commit(ctx, row, [insert(events, row)])
}
