import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { get, post, publicUrl, readLinkPath } from '../support/api.ts'
import { listCaptured, runUntil } from '../support/campaigns.ts'
import { dump } from '../support/dump.ts'
import { describeRefusal } from '../support/refusals.ts'
import { givenMember } from '../support/seeding/members.ts'
import { marketingTo, seedCampaign, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { aBlock, seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { db, write } from '../support/seeding/rows.ts'
import { receiveTests } from '../support/test-messages.ts'
import { visit } from '../support/visits.ts'

beforeEach(() => db.all(sql`delete from transactional_emails`))

describe('sendTestCampaign', () => {
  const sendTestOf = (campaign: string, body: object, token?: string) =>
    post(`/v1/campaigns/${campaign}/send-test`, body, token)

  it('sends what a recipient gets, apart from the mark and the counted links', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd)
    const { email } = await givenMember({ id: crowd.organization }, 'viewer')
    const [person] = crowd.people
    const reply = await sendTestOf(campaign.id, { to: [email], user_id: person?.id })
    expect(reply.body.emails).toMatchObject([{ recipient: email, language: person?.locale, status: 'pending' }])
    const [test] = await receiveTests()
    expect(await listCaptured(campaign.id)).toEqual([])
    await post(`/v1/campaigns/${campaign.id}/send-now`, {})
    await runUntil(campaign.id, ['sent', 'failed'])
    const [mail] = await listCaptured(campaign.id)
    expect(test?.subject).toBe(`[Test] ${mail?.subject}`)
    expect(test?.text).toBe(mail?.body)
    expect(test?.html).not.toContain('/t/')
    expect((await get(`/v1/campaigns/${campaign.id}/stats`)).body).toMatchObject({ total_recipients: 1, sent: 1 })
  })

  it('unsubscribes nobody by its link and its header', async () => {
    const crowd = await seedCrowd(1)
    const { campaign } = await seedReady(crowd)
    await marketingTo(crowd, campaign.segment_id)
    const { email } = await givenMember({ id: crowd.organization }, 'viewer')
    await sendTestOf(campaign.id, { to: [email], languages: ['en'], user_id: crowd.people[0]?.id })
    const [mail] = await receiveTests()
    const link = `${publicUrl}/t/test/unsubscribe?language=en`
    expect(mail?.headers).toMatchObject({ 'List-Unsubscribe': `<${link}>`, 'List-Id': expect.any(String) })
    expect(mail?.text).toContain(link)
    const before = await dump()
    const init = { method: 'POST', body: 'List-Unsubscribe=One-Click' }
    expect((await visit(readLinkPath(link), init)).enqueued).toEqual([])
    expect(await dump()).toEqual(before)
  })

  it('shows blocks to a role of an edition as the edition knows the customer', async () => {
    const crowd = await seedCrowd(1)
    const [person] = crowd.people
    await write(
      sql`update users set first_name = 'Organisation' where id = ${person?.id}`,
      sql`update edition_customers set first_name = 'Edition' where user_seq = ${person?.seq}`,
    )
    const block = (name: string) => ({ ...aBlock(`For ${name}`, name), condition: `user.first_name == "${name}"` })
    const blocks = [block('Organisation'), block('Edition'), aBlock('For all')]
    const message = await seedMessage({ organization: crowd.organization, edition: null }, { type: 'campaign', blocks })
    const manager = await givenMember({ id: crowd.organization }, 'manager')
    const editionManager = await givenMember({ id: crowd.organization }, 'manager', crowd.edition)
    const giveCampaign = async (edition: string | null) => {
      const segment = await seedSegment({ organization: crowd.organization, edition })
      return seedCampaign(crowd, segment.id, { email_message_id: message })
    }
    const listShown = async (id: string, token: string) => {
      const reply = await sendTestOf(id, { to: [manager.email], languages: ['en'], user_id: person?.id }, token)
      const [mail] = await receiveTests()
      const shownNames = ['Organisation', 'Edition'].filter((name) => mail?.html.includes(`For ${name}`))
      return reply.status === 200 ? shownNames : describeRefusal(reply)
    }
    const ofOrganization = await giveCampaign(null)
    expect(await listShown(ofOrganization.id, manager.token)).toEqual(['Organisation'])
    expect(await listShown(ofOrganization.id, editionManager.token)).toBe('403 permission_denied')
    const ofEdition = await giveCampaign(crowd.edition)
    expect(await listShown(ofEdition.id, editionManager.token)).toEqual(['Edition'])
    // The segment of an ended campaign can move to the organisation, and the edition keeps the campaign.
    await post(`/v1/campaigns/${ofEdition.id}/send-now`, {}, editionManager.token)
    await runUntil(ofEdition.id, ['sent'])
    await write(sql`update segments set edition_id = null where id = ${ofEdition.segment_id}`)
    expect(await listShown(ofEdition.id, editionManager.token)).toEqual(['Edition'])
  })

  it('is in the language in which the customer gets the campaign', async () => {
    const crowd = await seedCrowd(1, { default_language: 'da', enabled_languages: ['en'] })
    const message = await seedMessage(crowd, { type: 'campaign', blocks: [aBlock('Text')] })
    const segment = await seedSegment({ organization: crowd.organization, edition: crowd.edition })
    const { id } = await seedCampaign(crowd, segment.id, { email_message_id: message })
    const { email } = await givenMember({ id: crowd.organization }, 'viewer')
    const ask = async (locale: string) => {
      await write(
        sql`update users set locale = ${locale} where id = ${crowd.people[0]?.id}`,
        sql`update edition_customers set locale = ${locale} where user_seq = ${crowd.people[0]?.seq}`,
      )
      const { body } = await sendTestOf(id, { to: [email], user_id: crowd.people[0]?.id })
      return body.emails.map(({ language }: { language: string }) => language)
    }
    expect([await ask('en'), await ask('pl'), await ask('xx')]).toEqual([['en'], ['da'], ['da']])
  })

  it('tests a campaign of every status, and changes nothing of it', async () => {
    const crowd = await seedCrowd(1)
    const { email } = await givenMember({ id: crowd.organization }, 'viewer')
    for (const status of ['draft', 'scheduled', 'sending', 'sent', 'failed', 'cancelled'] as const) {
      const { campaign } = await seedReady(crowd, { status })
      const before = (await get(`/v1/campaigns/${campaign.id}`)).body
      expect((await sendTestOf(campaign.id, { to: [email] })).status).toBe(200)
      expect((await get(`/v1/campaigns/${campaign.id}`)).body).toEqual(before)
    }
  })

  it('refuses a campaign of SMS, one without a message, and one whose message was deleted', async () => {
    const crowd = await seedCrowd(1)
    const { email } = await givenMember({ id: crowd.organization }, 'viewer')
    const ask = async (columns: object) => {
      const { campaign } = await seedReady(crowd, columns)
      return describeRefusal(await sendTestOf(campaign.id, { to: [email] }))
    }
    expect(await ask({ channel: 'sms' })).toBe('409 sms_test_unavailable')
    expect(await ask({ email_message_id: null })).toBe('409 campaign_not_ready: required #/email_message_id')
    expect(await ask({ email_message_id: null, deleted_message_id: 'eml_1' })).toBe(
      '409 campaign_not_ready: does_not_exist #/email_message_id',
    )
  })
})
