import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { post } from '../support/api.ts'
import { listCaptured, runUntil } from '../support/campaigns.ts'
import { createProvider, createReceiptEngine, listReceipts, sell } from '../support/receipts.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { write } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'
import { listPaths, sendCampaign, visit } from '../support/visits.ts'

describe('links to the page of consents', () => {
  it('appear on the unsubscribe page as long as the address is the person’s', async () => {
    const { crowd, captured } = await sendCampaign(1)
    const [path = ''] = listPaths(captured[0], 'u')
    const linkOn = async () => /href="\.\.\/\.\.(\/consents\/[\w-]+)"/.exec((await visit(path)).text)?.[1]
    const link = (await linkOn()) ?? ''
    const page = await visit(link)
    expect([page.status, page.text.includes(crowd.people[0]?.email ?? '?')]).toEqual([200, true])
    await write(sql`update users set email = 'another@example.test' where id = ${crowd.people[0]?.id}`)
    expect(await linkOn()).toBeUndefined()
  })

  it('appear in campaigns and receipts, one for each recipient', async () => {
    const crowd = await seedCrowd(2)
    const link = { en: '<p>x</p><p><a href="{{ links.preferences }}">y</a></p>' }
    const blocks = JSON.stringify([{ id: 'b', type: 'rich_text', data: { text: link } }])
    const { campaign } = await seedReady(crowd)
    await write(sql`update email_messages set blocks = ${blocks} where id = ${campaign.email_message_id}`)
    await post(`/v1/campaigns/${campaign.id}/send-now`, { accept: ['missing_translations'] })
    await runUntil(campaign.id, ['sent', 'failed'])
    const shop = await seedShopWithReceipts()
    await write(sql`update email_messages set blocks = ${blocks} where organization_id = ${shop.organization_id}`)
    await sell(shop, [aReceiptOrder()])
    const provider = createProvider({ deduplicates: true })
    await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
    const receipts = (await listReceipts(shop)).map(({ recipient }) =>
      provider.calls.find(({ email }) => email.to.address === recipient),
    )
    const mails = [
      ...(await listCaptured(campaign.id)).map(({ recipient, html }) => ({ recipient, html })),
      ...receipts.map((call) => ({ recipient: call?.email.to.address ?? '?', html: call?.email.html ?? '' })),
    ]
    expect(mails).toHaveLength(3)
    for (const { recipient, html } of mails) {
      const path = /https:\/\/[^"/]+(\/consents\/[\w-]+)"/.exec(html)?.[1] ?? ''
      const page = await visit(path)
      const address = /[^<\s]+@[^>\s]+/.exec(recipient)?.[0] ?? '?'
      expect([page.status, page.text.includes(address)]).toEqual([200, true])
    }
  })
})
