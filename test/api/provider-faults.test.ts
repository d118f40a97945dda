import { sql } from 'drizzle-orm'
import { describe, expect, it, vi, afterEach } from 'vitest'
import { createResendGateway } from '../../src/gateways/email/resend.ts'
import { createGatewayApi } from '../../src/gateways/sms/gatewayapi.ts'
import { get, post } from '../support/api.ts'
import { consume, createJob, getCampaignObject, loadCampaign, runAlarm, runUntil } from '../support/campaigns.ts'
import { type Crowd, inRecipientStore, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { write } from '../support/seeding/rows.ts'

afterEach(() => void vi.restoreAllMocks())

/** Answers each call to a provider with this status. 0: the connection breaks. */
const answerCalls = (status: number, headers: Record<string, string> = {}) =>
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    if (status === 0) throw new TypeError('Network connection lost.')
    if (status >= 300) return new Response('{"name":"fault"}', { status, headers })
    const body: unknown = await new Response(init?.body ?? '{}').json()
    const ids = Array.isArray(body) ? body.map((_message, index) => ({ id: `m-${index}` })) : []
    return Response.json({ data: ids, msg_id: crypto.randomUUID() })
  })

const options = { apiBase: 'https://provider.example', apiKey: 'key' }
const createProviderJob = (now = Date.now()) => {
  const clock = () => now
  const gateways = {
    email: createResendGateway({ ...options, now: clock }),
    sms: createGatewayApi({ ...options, now: clock }),
  }
  return { ...createJob(), ...gateways }
}

async function startCampaign(crowd: Crowd, channel: 'email' | 'sms' = 'email'): Promise<string> {
  const { campaign } = await seedReady(crowd, { channel })
  expect((await post(`/v1/campaigns/${campaign.id}/send-now`, {})).status).toBe(200)
  await runUntil(campaign.id, ['sending'], createJob(), false)
  return campaign.id
}

/** Runs a consumer, and shows the state of the campaign as the API tells it. */
async function readAfterConsumer(id: string) {
  await consume(id, createProviderJob())
  await getCampaignObject(id).wake(id)
  await inRecipientStore(id, (store) => store.changeRecord({ projected_at: 0 }, { isVisible: false }))
  await runAlarm(id)
  return (await get(`/v1/campaigns/${id}`)).body
}

/** Lets the retries of a campaign be due. */
const makeRetriesDue = (id: string) =>
  inRecipientStore(id, (store) => {
    store.storage.sql.exec('update chunks set not_before = 0')
    store.changeRecord({ limited_until: 0 }, { isVisible: false })
  })

describe('a campaign whose provider fails', () => {
  it.each([
    [500, {}, 'The e-mail provider answers 500.'],
    [503, {}, 'The e-mail provider answers 503.'],
    [0, {}, 'The e-mail provider does not answer.'],
    [429, { 'retry-after': '60' }, 'The e-mail provider limits the number of calls (429).'],
  ])(
    'with %s %j says what it waits for, since when and until when, and nothing once it goes on',
    async (status, headers, reason) => {
      const id = await startCampaign(await seedCrowd(3))
      const begin = Date.now()
      answerCalls(status, headers)
      const waiting = await readAfterConsumer(id)
      expect(waiting).toMatchObject({ status: 'sending', waiting_reason: reason, error_message: '' })
      expect(Date.parse(waiting.waiting_since)).toBeGreaterThanOrEqual(begin)
      expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.parse(waiting.waiting_since))

      await makeRetriesDue(id)
      const later = await readAfterConsumer(id)
      expect(later).toMatchObject({ waiting_reason: reason, waiting_since: waiting.waiting_since })

      vi.restoreAllMocks()
      answerCalls(200)
      await makeRetriesDue(id)
      const settled = await readAfterConsumer(id)
      expect(settled).toMatchObject({
        status: 'sent',
        waiting_reason: null,
        waiting_since: null,
        next_attempt_at: null,
      })
    },
  )

  it.each([
    ['sms', 'communication.sms_accepted', 'SMS wait. The SMS provider answers 503.'],
    ['email', 'communication.email_accepted', 'E-mails wait. The e-mail provider answers 503.'],
  ] as const)('shows in the health of its edition until it goes on: %s', async (channel, check_id, message) => {
    await write(sql`delete from service_outages`)
    const crowd = await seedCrowd(2)
    const id = await startCampaign(crowd, channel)
    const readChecks = async () => {
      const { body } = await get(`/v1/editions/${crowd.edition}/healthcheck`)
      const checks = body.checks as { check_id: string }[]
      return checks.filter((check) => /(sms|email)_accepted$/.test(check.check_id))
    }
    answerCalls(503)
    expect(message).toContain((await readAfterConsumer(id)).waiting_reason)
    const waiting = await readChecks()
    expect(waiting.find((check) => check.check_id === check_id)).toMatchObject({
      passed: false,
      severity: 'warning',
      message,
    })
    expect(waiting.find((check) => check.check_id !== check_id)).toMatchObject({ passed: true })
    vi.restoreAllMocks()
    answerCalls(200)
    await makeRetriesDue(id)
    const { status, waiting_reason, error_message } = await readAfterConsumer(id)
    expect([status, waiting_reason, error_message]).toEqual(['sent', null, ''])
    for (const check of await readChecks()) expect(check).toMatchObject({ passed: true })
  })

  it('waits until the last of its calls has succeeded', async () => {
    const id = await startCampaign(await seedCrowd(250))
    let calls = 0
    answerCalls(200).mockImplementation(async (_, init) => {
      const messages: unknown[] = JSON.parse(new TextDecoder().decode(init?.body as Uint8Array))
      if (++calls === 1) return new Response('{}', { status: 502 })
      return Response.json({ data: messages.map((_message, index) => ({ id: `m-${index}` })) })
    })
    expect(await readAfterConsumer(id)).toMatchObject({
      status: 'sending',
      sent_count: 150,
      waiting_reason: 'The e-mail provider answers 502.',
    })
    await makeRetriesDue(id)
    expect(await readAfterConsumer(id)).toMatchObject({ status: 'sent', waiting_reason: null })
  })

  it('waits for nothing once it was cancelled, or has stopped because of a refused key', async () => {
    const [cancelled, stopped] = [await startCampaign(await seedCrowd(1)), await startCampaign(await seedCrowd(1))]
    answerCalls(500)
    for (const id of [cancelled, stopped])
      expect((await readAfterConsumer(id)).waiting_reason).toBe('The e-mail provider answers 500.')
    const reply = await post(`/v1/campaigns/${cancelled}/cancel`, {})
    expect(reply.body).toMatchObject({ status: 'cancelled', waiting_reason: null, next_attempt_at: null })
    vi.restoreAllMocks()
    answerCalls(401)
    await makeRetriesDue(stopped)
    expect(await readAfterConsumer(stopped)).toMatchObject({
      status: 'failed',
      waiting_reason: null,
      waiting_since: null,
      error_message: 'fault: ',
    })
    expect(await loadCampaign(cancelled)).toMatchObject({ waiting_reason: null, waiting_since: null })
  })
})
