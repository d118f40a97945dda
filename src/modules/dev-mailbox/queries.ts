import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { paginate } from '../../db/paginate.ts'
import { capturedMessages } from '../../db/schema/captures.ts'
import { type RowOf, select } from '../../db/select.ts'
import { normalizeEmailPart } from '../../domain/accounts/users.ts'
import { AppError, notFound } from '../../domain/errors.ts'
import { capturedChannels } from '../../domain/messaging/messaging.ts'
import type { Page, PageRequest } from '../../domain/page.ts'

/** What reading the mailbox needs. It has no caller, because everybody may read the mailbox. */
export type MailboxReader = Pick<JobCtx, 'db' | 'config'>

const columns = getTableColumns(capturedMessages)
const { id, channel, reference, sender, recipient, subject, created_at } = columns
const text_start = sql<string>`substr(${columns.body}, 1, 200)`
const itemFields = { id, channel, reference, sender, recipient, subject, text_start, created_at }

export type CapturedRow = typeof capturedMessages.$inferSelect
export type CapturedItem = RowOf<typeof itemFields>

type CapturedChannel = (typeof capturedChannels)[number]

export interface MailboxFilter {
  channel: CapturedChannel | null
  /** A text that the recipient contains. */
  to: string
}

/** The mailbox shows every message to everybody, so it exists only in development and tests. */
function refuseInProduction({ config }: MailboxReader): void {
  if (!['development', 'test'].includes(config.environment)) throw notFound()
}

export const parseChannel = (text: string | undefined): CapturedChannel | null =>
  capturedChannels.find((name) => name === text) ?? null

export async function listCaptured(
  reader: MailboxReader,
  filter: MailboxFilter,
  page: PageRequest,
): Promise<Page<CapturedItem>> {
  refuseInProduction(reader)
  const where: SQL[] = []
  if (filter.channel) where.push(eq(channel, filter.channel))
  if (filter.to) where.push(sql`instr(lower(${recipient}), ${normalizeEmailPart(filter.to)}) > 0`)
  return paginate(reader.db, page, {
    from: sql`${capturedMessages}`,
    id: sql`${columns.seq}`,
    where,
    orderBy: [],
    columns: itemFields,
    joins: sql`join ${capturedMessages} on ${columns.seq} = page.id`,
  })
}

export async function findCaptured(reader: MailboxReader, messageId: string): Promise<CapturedRow> {
  refuseInProduction(reader)
  const row = await reader.db.first(select(columns).from(capturedMessages).where(eq(id, messageId)))
  if (!row)
    throw new AppError('not_found', 'There is no message with this id. Only the newest 2,000 messages are stored.')
  return row
}
