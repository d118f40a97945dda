import { toIso } from '../../domain/time/instants.ts'
import type { CapturedItem, CapturedRow } from './queries.ts'

export const presentItem = (row: Omit<CapturedItem, 'text_start'>) => ({
  id: row.id,
  channel: row.channel,
  reference: row.reference,
  from: row.sender,
  to: row.recipient,
  subject: row.subject,
  created: toIso(row.created_at),
})

export const presentCapturedMessage = (row: CapturedRow) => ({
  ...presentItem(row),
  reply_to: row.reply_to,
  html: row.html,
  text: row.body,
  headers: row.headers,
})
