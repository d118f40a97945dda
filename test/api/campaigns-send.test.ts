import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { get, post } from '../support/api.ts'
import { capturedOf, realJob, rowOf, statsOf, until } from '../support/campaigns.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedVerified } from '../support/seeding/messaging/sender-domains.ts'
import { db, next } from '../support/seeding/rows.ts'

describe('a campaign', () => {
  it('goes out by e-mail in the language of each person, and counts the outcomes', async () => {
    const crowd = await seedCrowd(7)
    const { campaign } = await seedReady(crowd)
    const started = await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    expect([started.status, started.body.status]).toEqual([200, 'calculating'])
    const row = await until(campaign.id, ['sent', 'failed'])
    expect(row).toMatchObject({ status: 'sent', total_recipients: 7, sent_count: 7, failed_count: 0, user_count: 7 })
    const captured = await capturedOf(campaign.id)
    expect(captured.map(({ recipient }) => recipient).toSorted()).toEqual(
      crowd.people
        .map(({ email }) => `Astrid Holm ${crowd.people.findIndex((p) => p.email === email)} <${email}>`)
        .toSorted(),
    )
    expect(await statsOf(campaign.id)).toMatchObject({ total_recipients: 7, sent: 7, delivered: 7, delivery_rate: 1 })
    const { body } = await get(`/v1/campaigns/${campaign.id}`)
    expect(body.status).toBe('sent')
  })

  it('is sent when names of people and organisations contain line breaks', async () => {
    const crowd = await seedCrowd(2)
    const { campaign } = await seedReady(crowd)
    const [odd] = crowd.people
    await db.batch([
      sql`update users set first_name = ${'Astrid\r\nBcc:'} where email = ${odd?.email ?? ''}`,
      sql`update organizations set name = ${'Nord\nlys'} where id = ${crowd.organization}`,
      sql`update editions set email_sender_name = null where organization_id = ${crowd.organization}`,
    ])
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    expect(await until(campaign.id, ['sent', 'failed'])).toMatchObject({ status: 'sent', sent_count: 2 })
    const captured = await capturedOf(campaign.id)
    expect(captured.find(({ recipient }) => recipient.includes(odd?.email ?? '?'))?.recipient).toMatch(
      /^"Astrid Bcc: Holm 0" </,
    )
    expect(captured.every(({ sender }) => sender.startsWith('Nord lys <'))).toBe(true)
    // The API stores no such name, and other tests list all organisations.
    await db.batch([sql`update organizations set name = 'Nordlys' where id = ${crowd.organization}`])
  })

  it('is sent from the edition’s address only while its domain is verified, and keeps that address until its end', async () => {
    const domain = `nordlys-${next()}.example`
    const sender = { email_sender_name: 'Nordlys', email_sender_address: `Hello@${domain.toUpperCase()}` }
    const crowd = await seedCrowd(3, sender)
    const sendersOf = async (id: string) =>
      new Set((await capturedOf(id)).map((one) => `${one.sender} ${one.reply_to}`))
    const send = async (meanwhile = async () => {}) => {
      const { campaign } = await seedReady(crowd)
      expect((await post(`/v1/campaigns/${campaign.id}/send-now`, {})).status).toBe(200)
      await until(campaign.id, ['sending'], undefined, false)
      await meanwhile()
      expect(await until(campaign.id, ['sent'])).toMatchObject({ sent_count: 3 })
      return sendersOf(campaign.id)
    }
    const platform = new Set([`Nordlys <no-reply@events.example.test> ${sender.email_sender_address}`])
    const own = new Set([`Nordlys <${sender.email_sender_address}> null`])
    expect(await send()).toEqual(platform)
    await seedVerified((await seedCrowd(0)).organization, domain)
    expect(await send()).toEqual(platform)
    await seedVerified(crowd.organization, domain)
    const drop = () => db.all(sql`delete from sender_domains where domain = ${domain}`).then(() => undefined)
    expect(await send(drop)).toEqual(own)
    expect(await send()).toEqual(platform)
  })

  it('cannot be retried from an address whose domain the organisation has lost', async () => {
    const domain = `nordlys-${next()}.example`
    const crowd = await seedCrowd(2, { email_sender_name: 'Nordlys', email_sender_address: `hello@${domain}` })
    await seedVerified(crowd.organization, domain)
    const { campaign } = await seedReady(crowd)
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    const senders: string[] = []
    const job = realJob()
    const refusing = {
      ...job,
      email: {
        ...job.email,
        send: async (messages: readonly OutboundEmail[]) => {
          senders.push(...messages.map(({ from }) => from.address))
          return messages.map(() => createFailure('configuration', 'invalid_api_key', ''))
        },
      },
    }
    await until(campaign.id, ['failed'], refusing)
    expect(new Set(senders)).toEqual(new Set([`hello@${domain}`]))
    await db.all(sql`delete from sender_domains where domain = ${domain}`)
    const refused = await post(`/v1/campaigns/${campaign.id}/retry-failed`, {})
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: 'campaign_not_ready', errors: [{ pointer: '#/edition_id', code: 'sender_not_verified' }] },
    ])
    expect(await rowOf(campaign.id)).toMatchObject({ status: 'failed', run: 1 })
    await seedVerified(crowd.organization, domain)
    expect((await post(`/v1/campaigns/${campaign.id}/retry-failed`, {})).status).toBe(200)
    await until(campaign.id, ['sent'])
    expect((await capturedOf(campaign.id)).map(({ sender }) => sender)).toEqual(
      Array(2).fill(`Nordlys <hello@${domain}>`),
    )
  })
})
