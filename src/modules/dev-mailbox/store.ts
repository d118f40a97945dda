import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedMessages } from '../../db/schema/captures.ts'
import { select } from '../../db/select.ts'
import { insertAll, remove } from '../../db/write.ts'
import type { CaptureStore } from '../../gateways/capture/capture.ts'

const maxStoredMessages = 2000

const { position, id, reference, recipient } = capturedMessages
const storedFields = { position, id, reference, recipient }

/** Creates the store of the capture gateways, which `/dev/outbox` shows. */
export const createCaptureStore = (ctx: Pick<JobCtx, 'db' | 'now' | 'newId'>): CaptureStore => ({
  async save(key, messages) {
    const [first] = messages
    if (!first) return []
    const rows = messages.map(({ from, to, replyTo, ...message }, index) => ({
      ...message,
      id: ctx.newId('captured_message'),
      call_key: key,
      position: index,
      sender: from,
      recipient: to,
      reply_to: replyTo,
      created_at: ctx.now(),
    }))
    const inserts = insertAll(capturedMessages, rows).map((insert) => sql`${insert} on conflict do nothing`)
    const selectCall = select(storedFields)
      .from(capturedMessages)
      .where(and(eq(capturedMessages.channel, first.channel), eq(capturedMessages.call_key, key)))
    const { storedRows = [] } = await ctx.db.batchNamed({
      ...Object.fromEntries(inserts.entries()),
      storedRows: selectCall,
    })
    const rowsByPosition = new Map(storedRows.map((row) => [row.position, row]))
    return messages.map((message, index) => {
      const row = rowsByPosition.get(index)
      return row && row.reference === message.reference && row.recipient === message.to ? row.id : null
    })
  },
})

/** Deletes all but the newest messages. */
export const sweepCapturedMessages = ({ db }: Pick<JobCtx, 'db'>): Promise<unknown> =>
  db.all(remove(capturedMessages, sql`seq <= (select max(seq) from captured_messages) - ${maxStoredMessages}`))
