import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkExpression } from '../../../src/domain/cel/index.ts'
import { post } from '../../support/api.ts'
import { runUntil } from '../../support/campaigns.ts'
import { Expressions } from '../../support/cel/expressions.ts'
import { createRandom, createTenant, store } from '../../support/cel/people.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { inRecipientStore, seedCampaign } from '../../support/seeding/messaging/campaigns.ts'
import { aBlock, seedMessage } from '../../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../../support/seeding/messaging/segments.ts'
import { write } from '../../support/seeding/rows.ts'
import { calculate, listMembers } from '../../support/segments.ts'

const tenant = createTenant('conditions', 80, 13)
const place = { organization: tenant.organizationId, edition: tenant.editionId }

beforeAll(async () => {
  await store(tenant)
  await write(sql`update editions set enabled_languages = '["en","da"]' where id = ${place.edition}`)
})

/** Finds the user ids of the recipients with the bit of each condition. */
async function listFulfilling(campaignId: string, count: number): Promise<string[][]> {
  const recipients = await inRecipientStore(campaignId, (recipientStore) =>
    recipientStore.storage.sql
      .exec<{ user_id: string; conditions: number }>('select user_id, conditions from recipients order by n')
      .toArray(),
  )
  return Array.from({ length: count }, (_, position) =>
    recipients.flatMap(({ user_id, conditions }) => ((conditions >> position) & 1 ? [user_id] : [])),
  )
}

describe('the number of a recipient', () => {
  const owners = [
    ['an edition', place.edition],
    ['an organisation', null],
  ] as const

  it.each(owners)('has the bits of the segments of %s with the same expressions', async (_, edition) => {
    const owner = { organization: place.organization, edition }
    const random = createRandom(Math.floor(Math.random() * 2 ** 31))
    for (let run = 0; run < dearRuns(12, 2); run++) {
      const expressions = new Expressions(random)
      const conditions = new Set<string>()
      while (conditions.size < 8) {
        const source = expressions.condition(1 + Math.floor(random() * 3))
        if (checkExpression(source).ok) conditions.add(source)
      }
      // Sending changes what expressions find, so the segments are calculated first.
      const members: [string, string[]][] = []
      for (const expression of conditions) {
        const segment = await seedSegment(owner, { expression })
        await calculate(segment.id)
        members.push([expression, await listMembers(segment.id)])
      }
      const blocks = [...conditions].map((condition, index) => ({
        ...aBlock(`Part ${index}`, `blk_${index}`),
        condition,
      }))
      const message = await seedMessage(owner, { type: 'campaign', blocks: [aBlock('All', 'all'), ...blocks] })
      const everyone = await seedSegment(owner, { expression: 'true' })
      const campaign = await seedCampaign(place, everyone.id, { email_message_id: message })
      const reply = await post(`/v1/campaigns/${campaign.id}/send-now`, {})
      expect(reply.status, reply.text).toBe(200)
      await runUntil(campaign.id, ['sent', 'failed'])
      const fulfilling = await listFulfilling(campaign.id, conditions.size)
      expect([...conditions].map((expression, index) => [expression, fulfilling[index]])).toEqual(members)
    }
  })
})
