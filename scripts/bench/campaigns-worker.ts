import { Hono } from 'hono'
import type { Bindings } from '../../src/app.ts'
import type { Meter } from '../../src/domain/meter.ts'
import { handleBatch } from '../../src/entry/queue.ts'
import { CampaignSenderObject } from '../../src/objects/campaign/campaign-sender.ts'
import { databaseCosts, meteredJob } from './metered.ts'

/** What batches of messages and the objects of campaigns have cost since the Worker began. */
export interface CampaignCosts extends Meter {
  object_rows_read: number
  object_rows_written: number
  /** Calls to objects, and their alarms. */
  object_requests: number
}

const objectRows = { read: 0, written: 0 }
let objectRequests = 0

export const meteredQueue = (batch: MessageBatch, env: Bindings): Promise<void> => handleBatch(meteredJob(env), batch)

/** The rows of a statement are known once its cursor was read, and so when the next one begins. */
let unread: { rowsRead: number; rowsWritten: number } | undefined
function countRows(): void {
  objectRows.read += unread?.rowsRead ?? 0
  objectRows.written += unread?.rowsWritten ?? 0
  unread = undefined
}

function meterRows(sql: SqlStorage): void {
  const exec = sql.exec.bind(sql)
  sql.exec = (query, ...values) => {
    countRows()
    const cursor = exec(query, ...values)
    unread = cursor
    return cursor as never
  }
}

export class MeteredSender extends CampaignSenderObject<Bindings> {
  constructor(state: DurableObjectState, env: Bindings) {
    meterRows(state.storage.sql)
    super(state, env, meteredJob(env))
  }
}

for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(CampaignSenderObject.prototype))) {
  if (name === 'constructor') continue
  const counted = function (this: MeteredSender, ...given: unknown[]): unknown {
    objectRequests++
    return (value as (...all: unknown[]) => unknown).apply(this, given)
  }
  Object.defineProperty(MeteredSender.prototype, name, { value: counted, writable: true, configurable: true })
}

/** Calls of a provider without a campaign. */
export interface BareCalls {
  channel: 'email' | 'sms'
  calls: number
  bytesACall: number
  atOnce: number
}

const lettersACall = 100

/** The body of one call of this size. All calls have the same, so that the Worker does nothing but call. */
function bareBody({ channel, bytesACall }: BareCalls): string {
  if (channel === 'sms') {
    const empty = JSON.stringify({ reference: 'bare', message: '' })
    return JSON.stringify({ reference: 'bare', message: 'x'.repeat(Math.max(0, bytesACall - empty.length)) })
  }
  const html = 'x'.repeat(bytesACall / lettersACall)
  const letter = { html, tags: [{ name: 'reference', value: 'bare' }] }
  return JSON.stringify(Array.from({ length: lettersACall }, () => letter))
}

export const campaignsBench = new Hono<{ Bindings: Bindings }>()

campaignsBench.get('/floor/campaigns/costs', (c) => {
  countRows()
  return c.json<CampaignCosts>({
    ...databaseCosts(),
    object_rows_read: objectRows.read,
    object_rows_written: objectRows.written,
    object_requests: objectRequests,
  })
})

campaignsBench.post('/floor/campaigns/calls', async (c) => {
  const wanted = await c.req.json<BareCalls>()
  const { channel, atOnce } = wanted
  const url = channel === 'sms' ? `${c.env.SMS_API_BASE}/mobile/single` : `${c.env.EMAIL_API_BASE}/emails/batch`
  const body = bareBody(wanted)
  let left = wanted.calls
  const callInTurn = async () => {
    while (left > 0) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': `bare-${left--}` }
      const answer = await fetch(url, { method: 'POST', headers, body })
      await answer.json()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, callInTurn))
  return c.json({})
})
