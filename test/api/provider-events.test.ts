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

  it('count once, in any order, and exclude dead addresses from the next campaign', async () => {
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
    expect(await readStats(id)).toMatchObject({ sent: 3, bounced: 1, complained: 1, opened: 1, clicked: 1 })
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

  it('affect later messages to the same address when they are about receipts', async () => {
    await db.all(sql`delete from transactional_emails`)
    const shop = await seedShopWithReceipts()
    const orders = Array.from({ length: 4 }, () => aReceiptOrder())
    const [hard, soft, doubtful] = orders.map(({ customer }) => customer.email)
    const thrice = [1, 2].map(() => aReceiptOrder({ customer: { email: soft } }))
    await sell(shop, [...orders, ...thrice])
    const ids = new Map((await listReceipts(shop)).map((row) => [row.order_id, row]))
    await sendEmails(createJob({ now: () => Date.now() + 1000 }))
    const findMessages = (email: string | undefined) => [...ids.values()].filter(({ recipient }) => recipient === email)
    const buildReceiptEvent = (id: string, type: string, more: object = {}) => ({
      type: `email.${type}`,
      created_at: new Date().toISOString(),
      data: { email_id: 'm-9', tags: { reference: id }, ...more },
    })
    const bounce = (type: string) => ({ bounce: { type, subType: 'General', message: 'no' } })
    const listSuppressions = () =>
      db.all(sql`select address, reason, channel, campaign_id from suppressions
        where organization_id = ${shop.organization_id} order by reason, address`)
    await postEvent(buildReceiptEvent(findMessages(hard)[0]?.id ?? '', 'bounced', bounce('Permanent')))
    const softly = findMessages(soft).map(({ id }) => buildReceiptEvent(id, 'bounced', bounce('Transient')))
    for (const event of [softly[0], softly[1], softly[1]]) await postEvent(event ?? {})
    const dead = { reason: 'hard_bounce', channel: 'email', campaign_id: null }
    expect(await listSuppressions()).toEqual([{ ...dead, address: hard }])
    await postEvent(softly[2] ?? {})
    expect(await listSuppressions()).toEqual([hard, soft].toSorted().map((address) => ({ ...dead, address })))

    // The service gave up without an answer, and the message was sent after all.
    const [lost] = findMessages(doubtful)
    const status = async () => (await listReceipts(shop)).find(({ id }) => id === lost?.id)
    await db.all(sql`update transactional_emails set status = 'failed', error_code = 'unknown', sent_at = null
      where id = ${lost?.id}`)
    await postEvent(buildReceiptEvent(lost?.id ?? '', 'delivered'))
    expect(await status()).toMatchObject({ status: 'sent', error_code: null, provider_id: 'm-9' })
    await postEvent(buildReceiptEvent(lost?.id ?? '', 'complained'))
    expect(await listSuppressions()).toContainEqual({ ...dead, reason: 'complaint', address: doubtful })
    expect((await postEvent(buildReceiptEvent('tem_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8', 'complained'))).status).toBe(200)
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
