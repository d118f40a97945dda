import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { referenceOf } from '../../src/domain/campaign-events.ts'
import { fromBase64, toBase64, utf8 } from '../../src/domain/encoding.ts'
import { applyEvents } from '../../src/modules/tracking/jobs.ts'
import { get, post } from '../support/api.ts'
import { realJob, statsOf, until } from '../support/campaigns.ts'
import { seedCrowd, seedReady } from '../support/seed-campaigns.ts'
import { db } from '../support/seed.ts'
import { secret, sent, visit } from '../support/visits.ts'

async function tell(event: object, signedWith = secret) {
  const body = JSON.stringify(event)
  const [id, timestamp] = [crypto.randomUUID(), String(Math.floor(Date.now() / 1000))]
  const key = await crypto.subtle.importKey(
    'raw',
    fromBase64(signedWith.slice(6)),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const mac = toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8(`${id}.${timestamp}.${body}`))))
  const headers = {
    'content-type': 'application/json',
    'svix-id': id,
    'svix-timestamp': timestamp,
    'svix-signature': `v1,${mac}`,
  }
  return visit('/provider-events/resend', { method: 'POST', body, headers }, null)
}

describe('what providers tell', () => {
  const about = (id: string, n: number, type: string, more: object = {}) => ({
    type: `email.${type}`,
    created_at: new Date().toISOString(),
    data: { email_id: 'm-1', tags: { reference: referenceOf(id, n) }, ...more },
  })

  it('counts once, in any order, and keeps dead addresses from the next campaign', async () => {
    const { id, crowd } = await sent(3)
    const [bounced, complaining, happy] = crowd.people
    const replies = [
      await tell(
        about(id, bounced?.seq ?? 0, 'bounced', { bounce: { type: 'Permanent', subType: 'General', message: 'gone' } }),
      ),
      await tell(about(id, bounced?.seq ?? 0, 'delivered')),
      await tell(about(id, complaining?.seq ?? 0, 'complained')),
      await tell(about(id, happy?.seq ?? 0, 'clicked', { click: { link: 'https://example.com/map' } })),
      await tell(about(id, happy?.seq ?? 0, 'opened')),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const messages = replies.flatMap(({ rung }) => rung)
    await applyEvents(realJob(), messages)
    await applyEvents(realJob(), messages.toReversed())
    expect(await statsOf(id)).toMatchObject({ sent: 3, bounced: 1, complained: 1, opened: 1, clicked: 1 })
    expect(
      await db().all(sql<{ address: string; reason: string }>`select address, reason from suppressions
        where organization_id = ${crowd.organization} order by address`),
    ).toEqual([
      { address: bounced?.email, reason: 'hard_bounce' },
      { address: complaining?.email, reason: 'complaint' },
    ])
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const row = await until(campaign.id, ['sent', 'failed'])
    expect(row.total_recipients + row.skipped_count).toBe(3)
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=skipped`)
    expect(body.results.map(({ address }: { address: string }) => address)).toContain(bounced?.email)
  })

  it('takes an address for dead after the third soft bounce, each message counted once', async () => {
    const crowd = await seedCrowd(1)
    const n = crowd.people[0]?.seq ?? 0
    const suppressed = async () =>
      (await db().all(sql`select 1 from suppressions where organization_id = ${crowd.organization}`)).length
    for (let time = 1; time <= 3; time++) {
      const { campaign } = await seedReady(crowd)
      await post(`/v1/campaigns/${campaign.id}/send-now`, {})
      await until(campaign.id, ['sent'])
      const soft = await tell(
        about(campaign.id, n, 'bounced', { bounce: { type: 'Transient', subType: 'MailboxFull', message: 'full' } }),
      )
      for (let again = 0; again < 3; again++) await applyEvents(realJob(), soft.rung)
      expect([time, await suppressed()]).toEqual([time, time === 3 ? 1 : 0])
    }
  })

  it('is not believed without the signature, and not of strangers', async () => {
    expect(
      (await tell(about('cmp_x', 1, 'opened'), `whsec_${toBase64(utf8('another secret of some characters'))}`)).status,
    ).toBe(401)
    expect((await visit('/provider-events/resend', { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await visit('/provider-events/unheard-of', { method: 'POST', body: '{}' })).status).toBe(404)
    expect((await tell({ type: 'email.opened', data: { tags: { reference: 'tem_1' } } })).rung).toEqual([])
  })
})
