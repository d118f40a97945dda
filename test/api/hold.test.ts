import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { openJob } from '../../src/entry/job.ts'
import { createStartReport } from '../../src/entry/start.ts'
import { callWith } from '../support/api.ts'
import { describeRefusal } from '../support/refusals.ts'
import { db } from '../support/seeding/rows.ts'

const hold = { OUTGOING: 'hold' }

beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

describe('OUTGOING', () => {
  it.each([
    [{}, 'sending', 0],
    [{ OUTGOING: '' }, 'sending', 0],
    [{ OUTGOING: 'send' }, 'sending', 0],
    [hold, 'held', 1],
  ])('%j shows as %s in the health, the status and the metrics', async (setting, outgoing, gauge) => {
    const bindings = { ...setting, METRICS_TOKEN: 'the-token' }
    const health = await callWith(bindings, '/healthz', { token: null })
    expect([health.status, health.body]).toMatchObject([200, { status: 'ok', outgoing }])
    expect((await callWith(bindings, '/v1/system/status')).body).toMatchObject({ outgoing })
    const { text } = await callWith(bindings, '/metrics', { token: 'the-token' })
    expect(text).toContain(`\necms_outgoing_held ${gauge}\n`)
  })

  it.each(['holt', 'HOLD', 'true', '0'])(
    '%s is refused when the service starts, and nothing is sent by mistake',
    (text) => {
      vi.spyOn(console, 'error').mockImplementation(() => undefined)
      const open = () => openJob({ ...env, OUTGOING: text })
      expect(open).toThrow(/^OUTGOING is ".*"\. It must be /)
    },
  )

  it('is told by the log once for an isolate', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const handle = createStartReport()(app.fetch)
    for (let count = 0; count < 2; count++)
      await handle(new Request('https://events.example.test/healthz'), { ...env, ...hold }, createExecutionContext())
    expect(warned.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
      {
        level: 'warn',
        request_id: 'start',
        setting: 'OUTGOING',
        message:
          'OUTGOING is hold: nothing is sent, posted or paid. All of it waits. Set OUTGOING to send, and deploy or start the service again, to release it.',
      },
    ])
  })

  it('offers no codes to sign in with, because nobody would get them', async () => {
    const { body } = await callWith(hold, '/v1/auth/methods', { token: null })
    expect(body.methods).not.toContain('code')
    expect(body.methods).toContain('link')
    const reply = await callWith(hold, '/v1/auth/sign-in-codes', { token: null, body: { email: 'held@example.dk' } })
    expect(describeRefusal(reply)).toBe('403 sign_in_method_unavailable')
    expect(await db.all(sql`select 1 from transactional_emails where recipient = 'held@example.dk'`)).toEqual([])
  })
})
