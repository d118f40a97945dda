import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { editions } from '../../db/schema/editions.ts'
import { emailMessages } from '../../db/schema/email-messages.ts'
import { triggers } from '../../db/schema/transactional-emails.ts'
import { type RowOf, select } from '../../db/select.ts'
import { editionVisibility, isVisibleTo } from '../../db/visibility.ts'
import { update, updateVersion } from '../../db/write.ts'
import { roleCodes } from '../../domain/accounts/access.ts'
import { editionFieldsByTrigger, type TriggerKind } from '../../domain/messaging/email-messages.ts'
import { editionSummaryFields } from './summary.ts'

const { organization_id, is_archived, default_language, version } = editions
const targetFields = { ...editionSummaryFields, organization_id, is_archived, default_language, version }

/** The edition that gets a message. */
export type TargetEdition = RowOf<typeof targetFields>

/** Finds the edition if the caller has any role in it. */
export const findReachedEdition = (ctx: Ctx, id: string): Promise<TargetEdition | undefined> =>
  ctx.db.first(
    select(targetFields)
      .from(editions)
      .where(and(eq(editions.id, id), isVisibleTo(ctx.caller, editionVisibility, roleCodes))),
  )

/** The type of the message that the edition sends by itself, for example as its receipt. Null: it sends none. */
export async function findTypeInUse(
  ctx: Pick<Ctx, 'db'>,
  editionId: string,
  kind: TriggerKind,
): Promise<string | null> {
  const message = await ctx.db.first(
    select({ type: emailMessages.type })
      .from(editions)
      .innerJoin(emailMessages, eq(emailMessages.id, editions[editionFieldsByTrigger[kind]]))
      .where(eq(editions.id, editionId)),
  )
  return message?.type ?? null
}

/** Writes the trigger that belongs to a message field of an edition. */
export function writeTrigger(
  ctx: Pick<Ctx, 'newId' | 'now'>,
  edition: { id: string; organization_id: string },
  kind: TriggerKind,
  messageId: string | null,
): Statement[] {
  const now = ctx.now()
  if (messageId === null) {
    const isTrigger = sql`edition_id = ${edition.id} and kind = ${kind} and channel = 'email'`
    return [update(triggers, { email_message_id: null, is_active: false, modified_at: now }, isTrigger)]
  }
  return [
    sql`insert into triggers
        (id, organization_id, edition_id, kind, channel, email_message_id, is_active, created_at, modified_at)
      select ${ctx.newId('trigger')}, ${edition.organization_id}, ${edition.id}, ${kind}, 'email', email_messages.id, 1,
        ${now}, ${now}
      from email_messages where email_messages.id = ${messageId}
      on conflict (edition_id, kind, channel) do update
      set email_message_id = excluded.email_message_id, is_active = 1, modified_at = excluded.modified_at`,
    // This aborts the batch if the message was deleted in the meantime.
    requireOneChange(),
  ]
}

/** Makes the edition send this message by itself, for example as its receipt. */
export const assignEmail = (
  ctx: Pick<Ctx, 'newId' | 'now'>,
  edition: TargetEdition,
  kind: TriggerKind,
  messageId: string,
): Statement[] => [
  ...updateVersion(
    editions,
    { id: edition.edition_id, version: edition.version },
    { [editionFieldsByTrigger[kind]]: messageId, modified_at: ctx.now() },
  ),
  ...writeTrigger(ctx, { id: edition.edition_id, organization_id: edition.organization_id }, kind, messageId),
]
