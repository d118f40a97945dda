import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedMessages } from '../../db/schema/captures.ts'
import { type RowOf, select } from '../../db/select.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import { capturedChannels } from '../../domain/messaging/messaging.ts'

/** The context for reading the mailbox. It has no caller, because everybody may read the mailbox. */
export type MailboxReader = Pick<JobCtx, 'db' | 'config'>

const columns = getTableColumns(capturedMessages)
const { id, channel, reference, sender, recipient, subject, created_at } = columns
const text_start = sql<string>`substr(${columns.body}, 1, 200)`
export const itemFields = { id, channel, reference, sender, recipient, subject, text_start, created_at }

export type CapturedRow = typeof capturedMessages.$inferSelect
export type CapturedItem = RowOf<typeof itemFields>

export type CapturedChannel = (typeof capturedChannels)[number]

/** The mailbox shows every message to everybody, so it exists only in development and tests. */
export function refuseInProduction({ config }: MailboxReader): void {
  if (!['development', 'test'].includes(config.environment)) throw notFound()
}

export const parseChannel = (text: string | undefined): CapturedChannel | null =>
  capturedChannels.find((name) => name === text) ?? null

export async function findCaptured(reader: MailboxReader, messageId: string): Promise<CapturedRow> {
  refuseInProduction(reader)
  const row = await reader.db.first(select(columns).from(capturedMessages).where(eq(id, messageId)))
  if (!row)
    throw new AppError('not_found', 'There is no message with this id. Only the newest 2,000 messages are stored.')
  return row
}
