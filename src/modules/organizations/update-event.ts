import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { campaignsSending, countApprovedCampaigns } from '../../db/campaign-approvals.ts'
import { abortUnless, commit, requireChanges, requireOneChange } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { events } from '../../db/schema/editions.ts'
import { splitIntoParameters, update } from '../../db/write.ts'
import { warnAboutLostApprovals } from '../../domain/campaigns/approval.ts'
import { formatEditionName } from '../../domain/editions/editions.ts'
import type { FieldError } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import type { UpdateEventInput } from './contract.ts'
import type { EventRow } from './queries.ts'

interface NamedEdition {
  id: string
  name: string
  slug: string
  full_name: string
  version: number
}

/** Renames the editions of an event whose full names contain its name. Archived editions do not change. */
async function renameEditions(ctx: Ctx, event: EventRow, name: string): Promise<Statement[]> {
  const ofEvent = sql`from editions where event_id = ${event.id} and is_archived = 0`
  const editions = await ctx.db.all(sql<NamedEdition>`select id, name, slug, full_name, version ${ofEvent}`)
  const rows = editions.flatMap((edition) => {
    const full_name = formatEditionName(name, edition.name)
    if (full_name === edition.full_name) return []
    return [JSON.stringify([edition.id, edition.version, full_name, buildSearchText(full_name, edition.slug)])]
  })
  return [
    abortUnless(sql`(select count(*) ${ofEvent}) = ${editions.length}`),
    ...splitIntoParameters(rows).flatMap((part) => [
      sql`update editions set full_name = renamed.value ->> 2, search = renamed.value ->> 3,
          version = editions.version + 1, modified_at = ${ctx.now()}, sender_changed_by = ${ctx.caller.id},
          sender_changed_at = ${ctx.now()}
        from json_each(${`[${part.join(',')}]`}) as renamed
        where editions.id = renamed.value ->> 0 and editions.version = renamed.value ->> 1`,
      requireChanges(part.length),
    ]),
  ]
}

export async function updateEvent(
  ctx: Ctx,
  event: EventRow,
  { name }: UpdateEventInput,
): Promise<EventRow & { warnings: readonly FieldError[] }> {
  if (name === undefined || name === event.name) return commit(ctx, { ...event, warnings: [] }, [])
  const changes = {
    name,
    name_key: buildSortKey(name),
    search: buildSearchText(name),
    modified_at: ctx.now(),
  }
  const warnings = warnAboutLostApprovals(await countApprovedCampaigns(ctx.db, campaignsSending.event(event.id)))
  return commit(ctx, { ...event, ...changes, warnings }, [
    update(events, changes, sql`id = ${event.id} and name = ${event.name}`),
    requireOneChange(),
    ...(await renameEditions(ctx, event, name)),
  ])
}
