import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { formatReference } from '../../src/domain/campaigns/recipient-events.ts'
import { toBase64, utf8 } from '../../src/domain/text/encoding.ts'
import { applyEvents } from '../../src/modules/message-events/jobs.ts'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { get, post } from '../support/api.ts'
import { createJob, readStats, runUntil } from '../support/campaigns.ts'
import { postEvent } from '../support/provider-events.ts'
import { listReceipts, sell } from '../support/receipts.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { givenOrganization } from '../support/seeding/organizations.ts'
import { db } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'
import { requestCode, seedMemberWithEmail } from '../support/sign-in.ts'
import { sendCampaign, visit } from '../support/visits.ts'

describe('events of providers', () => {
  const buildEvent = (id: string, n: number, type: string, more: object = {}) => ({
    type: `email.${type}`,
    created_at: new Date().toISOString(),
    data: { email_id: 'm-1', tags: { reference: formatReference(id, n) }, ...more },
  })

  /** Sends a campaign to three people, of whom one bounces, one complains, and one reads the message. */
  async function givenReported() {
    const { id, crowd } = await sendCampaign(3)
    const [bounced, complaining, happy] = crowd.people
    const replies = [
      await postEvent(
        buildEvent(id, bounced?.seq ?? 0, 'bounced', {
          bounce: { type: 'Permanent', subType: 'General', message: 'gone' },
        }),
      ),
      await postEvent(buildEvent(id, bounced?.seq ?? 0, 'delivered')),
      await postEvent(buildEvent(id, complaining?.seq ?? 0, 'complained')),
      await postEvent(buildEvent(id, happy?.seq ?? 0, 'clicked', { click: { link: 'https://example.com/map' } })),
      await postEvent(buildEvent(id, happy?.seq ?? 0, 'opened')),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const messages = replies.flatMap(({ enqueued }) => enqueued)
    await applyEvents(createJob(), messages)
    await applyEvents(createJob(), messages.toReversed())
    return { id, crowd }
  }

  it('count once, in any order', async () => {
    const { id } = await givenReported()
    expect(await readStats(id)).toMatchObject({ sent: 3, bounced: 1, complained: 1, opened: 1, clicked: 1 })
  })

  it('exclude addresses that bounced or complained from the next campaign', async () => {
    const { crowd } = await givenReported()
    const [bounced, complaining] = crowd.people
    expect(
      await db.all(sql<{ address: string; reason: string }>`select address, reason from suppressions
        where organization_id = ${crowd.organization} order by reason desc`),
    ).toEqual([
      { address: bounced?.email, reason: 'hard_bounce' },
      { address: complaining?.email, reason: 'complaint' },
    ])
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const row = await runUntil(campaign.id, ['sent', 'failed'])
    expect(row.total_recipients + row.skipped_count).toBe(3)
    const { body } = await get(`/v1/campaigns/${campaign.id}/recipients?state=skipped`)
    expect(body.results.map(({ address }: { address: string }) => address)).toContain(bounced?.email)
  })

  it('suppress an address after the third soft bounce, counting each message once', async () => {
    const crowd = await seedCrowd(1)
    const n = crowd.people[0]?.seq ?? 0
    const isSuppressed = async () =>
      (await db.all(sql`select 1 from suppressions where organization_id = ${crowd.organization}`)).length
    for (let time = 1; time <= 3; time++) {
      const { campaign } = await seedReady(crowd)
      await post(`/v1/campaigns/${campaign.id}/send-now`, {})
      await runUntil(campaign.id, ['sent'])
      const soft = await postEvent(
        buildEvent(campaign.id, n, 'bounced', {
          bounce: { type: 'Transient', subType: 'MailboxFull', message: 'full' },
        }),
      )
      for (let round = 0; round < 3; round++) await applyEvents(createJob(), soft.enqueued)
      expect([time, await isSuppressed()]).toEqual([time, time === 3 ? 1 : 0])
    }
  })

  describe('about receipts', () => {
    const dead = { reason: 'hard_bounce', channel: 'email', campaign_id: null }
    const bounce = (type: string) => ({ bounce: { type, subType: 'General', message: 'no' } })
    const buildReceiptEvent = (id: string, type: string, more: object = {}) => ({
      type: `email.${type}`,
      created_at: new Date().toISOString(),
      data: { email_id: 'm-9', tags: { reference: id }, ...more },
    })

    /** Sells so many orders to one person, and sends the receipts. */
    async function givenSent(count: number) {
      await db.all(sql`delete from transactional_emails`)
      const shop = await seedShopWithReceipts()
      const first = aReceiptOrder()
      const more = Array.from({ length: count - 1 }, () => aReceiptOrder({ customer: { email: first.customer.email } }))
      await sell(shop, [first, ...more])
      await sendEmails(createJob({ now: () => Date.now() + 1000 }))
      const listSuppressions = () =>
        db.all(sql`select address, reason, channel, campaign_id from suppressions
          where organization_id = ${shop.organization_id} order by reason, address`)
      const address = first.customer.email
      return { shop, address, ids: (await listReceipts(shop)).map(({ id }) => id), listSuppressions }
    }

    it('suppress an address after a hard bounce', async () => {
      const { address, ids, listSuppressions } = await givenSent(1)
      await postEvent(buildReceiptEvent(ids[0] ?? '', 'bounced', bounce('Permanent')))
      expect(await listSuppressions()).toEqual([{ ...dead, address }])
    })

    it('suppress an address after soft bounces of three messages, each of which counts once', async () => {
      const { address, ids, listSuppressions } = await givenSent(3)
      const softly = ids.map((id) => buildReceiptEvent(id, 'bounced', bounce('Transient')))
      for (const event of [softly[0], softly[1], softly[1]]) await postEvent(event ?? {})
      expect(await listSuppressions()).toEqual([])
      await postEvent(softly[2] ?? {})
      expect(await listSuppressions()).toEqual([{ ...dead, address }])
    })

    it('tell that a message was sent after all, for which the service had given up without an answer', async () => {
      const { shop, ids } = await givenSent(1)
      await db.all(sql`update transactional_emails set status = 'failed', error_code = 'unknown', sent_at = null
        where id = ${ids[0]}`)
      await postEvent(buildReceiptEvent(ids[0] ?? '', 'delivered'))
      expect(await listReceipts(shop)).toMatchObject([{ status: 'sent', error_code: null, provider_id: 'm-9' }])
    })

    it('suppress an address after a complaint', async () => {
      const { address, ids, listSuppressions } = await givenSent(1)
      await postEvent(buildReceiptEvent(ids[0] ?? '', 'complained'))
      expect(await listSuppressions()).toEqual([{ ...dead, reason: 'complaint', address }])
    })

    it('are accepted when there is no such message', async () => {
      expect((await postEvent(buildReceiptEvent('tem_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', 'complained'))).status).toBe(200)
    })
  })

  it('suppress no address for a code to sign in, which no organisation has sent', async () => {
    const { email } = await seedMemberWithEmail((await givenOrganization()).id)
    await requestCode(email)
    const [row] = await db.all(sql<{ id: string }>`select id from transactional_emails where recipient = ${email}`)
    for (const [type, more] of [
      ['complained', {}],
      ['bounced', { bounce: { type: 'Permanent', subType: 'General', message: 'no' } }],
      ['bounced', { bounce: { type: 'Transient', subType: 'General', message: 'no' } }],
    ] as const) {
      const data = { email_id: 'm-7', tags: { reference: row?.id }, ...more }
      const event = { type: `email.${type}`, created_at: new Date().toISOString(), data }
      expect((await postEvent(event)).status).toBe(200)
    }
    expect(await db.all(sql`select 1 from suppressions where address = ${email}`)).toEqual([])
  })

  it('are refused without reading a body of unlimited length', async () => {
    let bytesSent = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        bytesSent += 65_536
        if (bytesSent > 20_000_000) controller.close()
        else controller.enqueue(new Uint8Array(65_536))
      },
    })
    const { status } = await visit('/provider-events/resend', { method: 'POST', body: endless })
    expect(status).toBe(413)
    expect(bytesSent).toBeLessThan(1_000_000)
  })

  it('are refused without a valid signature, and for unknown messages', async () => {
    expect(
      (
        await postEvent(
          buildEvent('cmp_x', 1, 'opened'),
          `whsec_${toBase64(utf8('another secret of some characters'))}`,
        )
      ).status,
    ).toBe(401)
    expect((await visit('/provider-events/resend', { method: 'POST', body: '{}' })).status).toBe(401)
    expect((await visit('/provider-events/unheard-of', { method: 'POST', body: '{}' })).status).toBe(404)
    expect((await postEvent({ type: 'email.opened', data: { tags: { reference: 'tem_1' } } })).enqueued).toEqual([])
  })
})
