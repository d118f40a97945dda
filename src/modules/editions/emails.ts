import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { editions } from '../../db/schema/editions.ts'
import { updateVersion } from '../../db/write.ts'
import { visibilityOf, visible } from '../../db/visibility.ts'
import { editionFieldOf, type TriggerKind } from '../../domain/messaging/email-messages.ts'
import type { Language } from '../../domain/languages.ts'
import type { EditionSummaryRow } from './summary.ts'
import { editionSummaryColumns } from './summary.ts'

/** The edition that a message is for. */
export interface TargetEdition extends EditionSummaryRow {
  organization_id: string
  is_archived: number
  default_language: Language
  version: number
}

/** The edition, where the caller has any role in it. */
export const reachedEdition = (ctx: Ctx, id: string): Promise<TargetEdition | undefined> =>
  ctx.db.first(sql<TargetEdition>`select ${editionSummaryColumns}, editions.organization_id, editions.is_archived,
      editions.default_language, editions.version
    from editions where editions.id = ${id}
      and ${visible(ctx.caller, visibilityOf(sql`editions.organization_id`, sql`editions.id`))}`)

/** The type of the message that the edition sends for the like; null where it sends none. */
export async function typeInUse(ctx: Pick<Ctx, 'db'>, editionId: string, kind: TriggerKind): Promise<string | null> {
  const found = await ctx.db.first(sql<{ type: string }>`select email_messages.type from editions
    join email_messages on email_messages.id = editions.${sql.raw(editionFieldOf[kind])} where editions.id = ${editionId}`)
  return found?.type ?? null
}

/** Keeps the trigger of an edition in step with the field that names its message. */
export function triggerStatements(
  ctx: Pick<Ctx, 'newId' | 'now'>,
  edition: { id: string; organization_id: string },
  kind: TriggerKind,
  messageId: string | null,
): Statement[] {
  const now = ctx.now()
  if (messageId === null)
    return [
      sql`update triggers set email_message_id = null, is_active = 0, modified_at = ${now}
        where edition_id = ${edition.id} and kind = ${kind} and channel = 'email'`,
    ]
  return [
    sql`insert into triggers
        (id, organization_id, edition_id, kind, channel, email_message_id, is_active, created_at, modified_at)
      select ${ctx.newId('trigger')}, ${edition.organization_id}, ${edition.id}, ${kind}, 'email', email_messages.id, 1,
        ${now}, ${now}
      from email_messages where email_messages.id = ${messageId}
      on conflict (edition_id, kind, channel) do update
      set email_message_id = excluded.email_message_id, is_active = 1, modified_at = excluded.modified_at`,
    // A message that is removed meanwhile makes the change decide anew.
    changedOne(),
  ]
}

/** Makes a message the one that the edition sends. */
export const assignEmail = (
  ctx: Pick<Ctx, 'newId' | 'now'>,
  edition: TargetEdition,
  kind: TriggerKind,
  messageId: string,
): Statement[] => [
  ...updateVersion(
    editions,
    { id: edition.edition_id, version: edition.version },
    {
      [editionFieldOf[kind]]: messageId,
      modified_at: ctx.now(),
    },
  ),
  ...triggerStatements(ctx, { id: edition.edition_id, organization_id: edition.organization_id }, kind, messageId),
]
