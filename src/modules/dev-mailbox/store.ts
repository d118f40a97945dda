import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedMessages } from '../../db/schema/messaging/dev-mailbox.ts'
import { select } from '../../db/select.ts'
import { insertAll, remove } from '../../db/write.ts'
import type { CaptureStore } from '../../gateways/capture/capture.ts'

const kept = 2000

const { position, id, reference, recipient } = capturedMessages
const keptFields = { position, id, reference, recipient }

/** The capture gateways store messages here; `/dev/outbox` shows them. */
export const captureStore = (ctx: Pick<JobCtx, 'db' | 'now' | 'newId'>): CaptureStore => ({
  async store(key, messages) {
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
    const ofThisCall = select(keptFields)
      .from(capturedMessages)
      .where(and(eq(capturedMessages.channel, first.channel), eq(capturedMessages.call_key, key)))
    const { stored = [] } = await ctx.db.batchNamed({ ...Object.fromEntries(inserts.entries()), stored: ofThisCall })
    const found = new Map(stored.map((row) => [row.position, row]))
    return messages.map((message, index) => {
      const row = found.get(index)
      return row && row.reference === message.reference && row.recipient === message.to ? row.id : null
    })
  },
})

/** Deletes all but the newest messages. */
export const sweepCaptured = ({ db }: Pick<JobCtx, 'db'>): Promise<unknown> =>
  db.all(remove(capturedMessages, sql`seq <= (select max(seq) from captured_messages) - ${kept}`))
