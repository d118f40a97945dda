import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { capturedMessages } from '../../db/schema/messaging/dev-mailbox.ts'
import { insertAll } from '../../db/write.ts'
import type { CaptureStore } from '../../gateways/capture/capture-store.ts'

const kept = 2000

interface KeptMessage {
  position: number
  id: string
  reference: string
  recipient: string
}

/** The capture gateways store messages here; `/dev/outbox` shows them. */
export const captureStore = (ctx: Pick<JobCtx, 'db' | 'now' | 'newId'>): CaptureStore => ({
  async keep(key, messages) {
    const [first] = messages
    if (!first) return []
    const rows = messages.map(({ channel, reference, from, to, replyTo, subject, html, body, headers }, position) => ({
      id: ctx.newId('captured_message'),
      channel,
      call_key: key,
      position,
      reference,
      sender: from,
      recipient: to,
      reply_to: replyTo,
      subject,
      html,
      body,
      headers: JSON.stringify(headers),
      created_at: ctx.now(),
    }))
    const inserts = insertAll(capturedMessages, rows).map((insert) => sql`${insert} on conflict do nothing`)
    const results = await ctx.db.batch([
      ...inserts,
      sql<KeptMessage>`select position, id, reference, recipient from captured_messages
        where channel = ${first.channel} and call_key = ${key}`,
    ])
    const found = new Map((results.at(-1) as KeptMessage[]).map((row) => [row.position, row]))
    return messages.map(({ reference, to }, position) => {
      const row = found.get(position)
      return row && row.reference === reference && row.recipient === to ? row.id : null
    })
  },
})

/** Deletes all but the newest messages. */
export const sweepCaptured = ({ db }: Pick<JobCtx, 'db'>): Promise<unknown> =>
  db.all(sql`delete from captured_messages where seq <= (select max(seq) from captured_messages) - ${kept}`)
