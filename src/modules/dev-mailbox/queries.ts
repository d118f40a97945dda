import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import type { capturedMessages } from '../../db/schema/messaging/dev-mailbox.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import type { Page, PageRequest } from '../../domain/page.ts'

/** Needed to read the mailbox. It has no caller: anybody may read it. */
export type MailboxReader = Pick<JobCtx, 'db' | 'config'>

export type CapturedRow = typeof capturedMessages.$inferSelect
export type CapturedItem = Pick<
  CapturedRow,
  'id' | 'channel' | 'reference' | 'sender' | 'recipient' | 'subject' | 'created_at'
> & { start: string }

const capturedChannels = [...channels, 'wallet'] as const
type CapturedChannel = (typeof capturedChannels)[number]

export interface MailboxFilter {
  channel: CapturedChannel | null
  /** A part of the recipient. */
  to: string
}

/** Everybody's messages can be read here, so it exists only where no message is real. */
function refuseInProduction({ config }: MailboxReader): void {
  if (!['development', 'test'].includes(config.environment)) throw notFound()
}

export const channelOf = (text: string | undefined): CapturedChannel | null =>
  capturedChannels.find((channel) => channel === text) ?? null

export async function listCaptured(
  reader: MailboxReader,
  filter: MailboxFilter,
  page: PageRequest,
): Promise<Page<CapturedItem>> {
  refuseInProduction(reader)
  const where: SQL[] = []
  if (filter.channel) where.push(sql`channel = ${filter.channel}`)
  if (filter.to) where.push(sql`instr(lower(recipient), lower(${filter.to})) > 0`)
  return paginate<CapturedItem>(reader.db, page, {
    from: sql`captured_messages`,
    key: sql`captured_messages.seq`,
    where,
    sort: [{ by: sql`captured_messages.seq`, desc: true }],
    columns: sql`message.id, message.channel, message.reference, message.sender, message.recipient, message.subject,
      substr(message.body, 1, 200) as start, message.created_at`,
    joins: sql`join captured_messages as message on message.seq = page.key`,
  })
}

export async function findCaptured(reader: MailboxReader, id: string): Promise<CapturedRow> {
  refuseInProduction(reader)
  const row = await reader.db.first(sql<CapturedRow>`select * from captured_messages where id = ${id}`)
  if (!row) throw new AppError('not_found', 'There is no such message, or it is older than the newest 2,000.')
  return row
}
