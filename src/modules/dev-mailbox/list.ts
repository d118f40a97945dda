import { sql } from 'drizzle-orm'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { paginate } from '../../db/paginate.ts'
import { capturedMessages } from '../../db/schema/captures.ts'
import { normalizeEmailPart } from '../../domain/accounts/users.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import {
  type CapturedChannel,
  type CapturedItem,
  itemFields,
  type MailboxReader,
  refuseInProduction,
} from './queries.ts'

export interface MailboxQuery {
  channel: CapturedChannel | null
  /** A text that the recipient contains. Empty: all recipients. */
  to: string
}

const filters: FilterTable<Partial<MailboxQuery>> = {
  channel: equals(capturedMessages.channel),
  to: (text) => sql`instr(lower(${capturedMessages.recipient}), ${normalizeEmailPart(text)}) > 0`,
}

export async function listCaptured(
  reader: MailboxReader,
  page: PageRequest,
  { channel, to }: MailboxQuery,
): Promise<Page<CapturedItem>> {
  refuseInProduction(reader)
  return paginate(reader.db, page, {
    from: sql`${capturedMessages}`,
    where: buildConditions(filters, { channel: channel ?? undefined, to: to || undefined }),
    orderBy: [],
    id: sql`${capturedMessages.seq}`,
    columns: itemFields,
    joins: sql`join ${capturedMessages} on ${capturedMessages.seq} = page.id`,
  })
}
