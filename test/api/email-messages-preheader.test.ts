import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { sendEmails } from '../../src/modules/transactional-emails/jobs.ts'
import { call, get, patch, post } from '../support/api.ts'
import { listCaptured, runUntil } from '../support/campaigns.ts'
import { createContextAt } from '../support/context.ts'
import { sell } from '../support/receipts.ts'
import { describeRefusal } from '../support/refusals.ts'
import { type Crowd, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { write } from '../support/seeding/rows.ts'
import { aReceiptOrder, seedShopWithReceipts } from '../support/seeding/sales/orders.ts'

let crowd: Crowd
beforeAll(async () => {
  crowd = await seedCrowd(2)
})

const path = (id: string, more = '') => `/v1/email-messages/${id}${more}`
const preheader = { en: 'Doors open at 17 for {{ customer.first_name }}', da: 'Dørene åbner kl. 17' }

/** Reads the hidden line of a mail without the characters that fill it up. */
const readPreheader = (html: string): string | undefined =>
  /<body[^>]*>\s*<div style="display:none;[^"]*">([^<]*)<\/div>/.exec(html)?.[1]?.replaceAll('&#847;&zwnj;&nbsp;', '')

const schedule = (id: string) => post(`/v1/campaigns/${id}/send-now`, {})

async function givenCampaign(columns: Parameters<typeof seedMessage>[1]): Promise<string> {
  const message = await seedMessage(crowd, { type: 'campaign', blocks: [aBlock('Welcome')], ...columns })
  return (await seedReady(crowd, { email_message_id: message })).campaign.id
}

describe('the preheader of a message', () => {
  it('is stored with the message, changed and removed', async () => {
    const fields = { organization_id: crowd.organization, edition_id: crowd.edition, title: 'News', type: 'campaign' }
    const reply = await post('/v1/email-messages', { ...fields, subject: { en: 'News' }, preheader })
    expect([reply.status, reply.body.preheader]).toEqual([201, preheader])
    const { id } = reply.body
    expect((await get(path(id))).body.preheader).toEqual(preheader)
    expect((await patch(path(id), { preheader: { en: 'New' } })).body.preheader).toEqual({ en: 'New' })
    expect((await patch(path(id), { title: 'Old' })).body.preheader).toEqual({ en: 'New' })
    expect((await patch(path(id), { preheader: {} })).body.preheader).toEqual({})
    const other = await post('/v1/email-messages', { ...fields, subject: { en: 'News' } })
    expect(other.body.preheader).toEqual({})
  })

  it('goes with copies of the message', async () => {
    const template = await seedMessage({ ...crowd, edition: null }, { preheader })
    const adopted = await post(path(template, '/adopt'), { edition_id: crowd.edition })
    const duplicate = await post(path(adopted.body.id, '/duplicate'), { edition_id: crowd.edition })
    expect([adopted.body.preheader, duplicate.body.preheader]).toEqual([preheader, preheader])
  })

  it.each([
    [{ en: 'x'.repeat(201) }, '#/preheader/en max_length'],
    [{ en: 'Two\nlines' }, '#/preheader/en invalid_characters'],
    [{ en: 'Hi {{ customer.first_name' }, '#/preheader/en invalid_template'],
    [{ fr: 'Bonjour' }, '#/preheader/fr unknown_language'],
  ])('is one short line: %j', async (faulty, refusal) => {
    const id = await seedMessage(crowd)
    for (const reply of [
      await patch(path(id), { preheader: faulty }),
      await post(path(id, '/preview'), { preheader: faulty }),
    ])
      expect([reply.status, `${reply.body.errors[0].pointer} ${reply.body.errors[0].code}`]).toEqual([400, refusal])
    expect((await get(path(id))).body.preheader).toEqual({})
  })

  it('is shown by the preview, hidden before the content, and not in the text', async () => {
    const id = await seedMessage(crowd, { preheader })
    const { body } = await post(path(id, '/preview'), { context: { customer: { first_name: '<b>Bo</b> & "Ib"' } } })
    expect(body.preheader).toBe('Doors open at 17 for <b>Bo</b> & "Ib"')
    expect(readPreheader(body.html)).toBe('Doors open at 17 for &lt;b&gt;Bo&lt;/b&gt; &amp; &#34;Ib&#34;')
    expect(body.html.indexOf('Doors open')).toBeLessThan(body.html.indexOf('Welcome'))
    expect(body.text).not.toContain('Doors')
    const danish = await post(path(id, '/preview'), { language: 'da' })
    expect([danish.body.preheader, readPreheader(danish.body.html)]).toEqual([preheader.da, preheader.da])
    const sent = await post(path(id, '/preview'), { preheader: { en: '5 < 6', da: '' } })
    expect([sent.body.preheader, readPreheader(sent.body.html)]).toEqual(['5 < 6', '5 &lt; 6'])
    const without = await post(path(id, '/preview'), { preheader: {} })
    expect([without.body.preheader, readPreheader(without.body.html)]).toEqual(['', undefined])
  })

  it('names the preheader that values make too long', async () => {
    const id = await seedMessage(crowd)
    const long = '{% for i in (1..50) %}{% for j in (1..50) %}{{ customer.first_name }}{% endfor %}{% endfor %}'
    const body = { preheader: { en: long }, context: { customer: { first_name: 'x'.repeat(2000) } } }
    expect(describeRefusal(await post(path(id, '/preview'), body))).toMatch(/#\/preheader\/en/)
  })

  it('is checked like the subject before a campaign is sent', async () => {
    const untranslated = await schedule(await givenCampaign({ preheader: { en: 'Doors open at 17' } }))
    expect(untranslated).toMatchObject({
      status: 409,
      body: { errors: [{ code: 'missing_translation', email_message_pointer: '#/preheader/da' }] },
    })
    const onlyDanish = await schedule(await givenCampaign({ preheader: { da: 'Dørene åbner kl. 17' } }))
    expect(onlyDanish.body.errors).toMatchObject([
      { code: 'missing_translation', email_message_pointer: '#/preheader/en' },
    ])
    const unknown = await schedule(await givenCampaign({ preheader: { en: '{{ edition.nam }}', da: 'Hej' } }))
    expect(unknown.body.errors).toMatchObject([
      {
        code: 'unknown_variable',
        email_message_pointer: '#/preheader/en',
        detail: expect.stringContaining('edition.name'),
      },
    ])
  })

  it('declares no names for the content, whose text has no preheader', async () => {
    const blocks = [{ ...aBlock('{{ place }}'), data: { text: { en: '<p>{{ place }}</p>' } } }] as never
    const names = await schedule(
      await givenCampaign({
        preheader: { en: '{% assign place = "Here" %}{{ place }}' },
        subject: { en: 'News' },
        blocks,
      }),
    )
    expect(names.body.errors).toMatchObject([
      { code: 'unknown_variable', email_message_pointer: '#/blocks/0/data/text/en' },
    ])
  })

  it('may be missing in a translation that was accepted', async () => {
    const id = await givenCampaign({ preheader: { en: 'Doors open at 17' } })
    const reply = await post(`/v1/campaigns/${id}/send-now`, { accept: ['missing_translations'] })
    expect(reply.body.accepted_translations).toEqual([{ language: 'da', block_id: null, field: 'preheader' }])
  })

  it('reaches each recipient of a campaign in their language, as it was at the start', async () => {
    const id = await givenCampaign({ preheader })
    expect((await schedule(id)).status).toBe(200)
    await write(
      sql`update email_messages set preheader = '{"en":"Later"}' where organization_id = ${crowd.organization}`,
    )
    await runUntil(id, ['sent'])
    const mails = await listCaptured(id)
    const expected = crowd.people.map(({ locale }) =>
      locale === 'da' ? 'Dørene åbner kl. 17' : 'Doors open at 17 for Astrid',
    )
    expect(mails.map(({ html }) => readPreheader(html)).toSorted()).toEqual(expected.toSorted())
    for (const { body } of mails) expect(body).not.toMatch(/Doors|Dørene/)
  })

  it('is in receipts too', async () => {
    const shop = await seedShopWithReceipts()
    await write(sql`update email_messages set preheader = '{"en":"Order {{ order.number }}"}'
      where organization_id = ${shop.organization_id}`)
    const order = aReceiptOrder({})
    await sell(shop, [{ ...order, customer: { ...order.customer, locale: 'en' } }])
    await sendEmails(createContextAt(Date.now() + 1000))
    const outbox = await call(`/dev/outbox.json?to=${order.customer.email}`, { token: null })
    const mail = (await call(`/dev/outbox/${outbox.body.results[0].id}.json`, { token: null })).body
    expect(readPreheader(mail.html)).toMatch(/^Order \w+/)
  })
})
