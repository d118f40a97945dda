import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type RecipientEvent, recipientEventTypes } from '../../../src/domain/campaigns/recipient-events.ts'
import { endStates, engagements, recipientReasons } from '../../../src/domain/campaigns/sending-policy.ts'
import { createFailure, type SendResult } from '../../../src/domain/messaging/messaging.ts'
import { applyEvents } from '../../../src/modules/message-events/jobs.ts'
import { get, post } from '../../support/api.ts'
import { createJob, runAlarm, runUntil } from '../../support/campaigns.ts'
import { dearRuns } from '../../support/property-runs.ts'
import { type Crowd, seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { db, write } from '../../support/seeding/rows.ts'
import { calculate } from '../../support/segments.ts'

const people = 9
const links = 3

let crowd: Crowd
beforeAll(async () => {
  crowd = await seedCrowd(people)
})

const event = fc.record({
  whom: fc.nat(people - 1),
  type: fc.constantFrom(...recipientEventTypes),
  link: fc.nat(links - 1),
  /** Before, during and after the time in which a visit counts as one by a program. */
  later: fc.constantFrom(-1000, 1000, 60_000, 3_600_000),
})
const campaign = fc.record({
  refused: fc.uniqueArray(fc.nat(people - 1), { maxLength: 3 }),
  withoutAddress: fc.uniqueArray(fc.nat(people - 1), { maxLength: 2 }),
  /** The alarm projects what happened after each group. */
  groups: fc.array(fc.array(event, { maxLength: 8 }), { maxLength: 4 }),
})

type Filter = Record<string, string | number>

const filters: Filter[] = [
  {},
  ...engagements.map((engagement) => ({ engagement })),
  ...endStates.map((state) => ({ state })),
  ...recipientReasons.map((reason) => ({ reason })),
  ...[0, 1, 2].flatMap((link): Filter[] => [
    { link },
    { link, engagement: 'not_clicked' },
    { link, engagement: 'opened' },
  ]),
  { state: 'sent', engagement: 'not_opened' },
]

async function send({ refused, withoutAddress }: { refused: number[]; withoutAddress: number[] }): Promise<string> {
  const { campaign: row } = await seedReady(crowd)
  await write(
    ...crowd.people.map(
      ({ id, email }, index) =>
        sql`update users set email = ${withoutAddress.includes(index) ? null : email} where id = ${id}`,
    ),
  )
  const addresses = refused.map((index) => crowd.people[index]?.email)
  const refusal: SendResult = createFailure('permanent', 'blocked', '')
  const { email } = createJob()
  const job = createJob({
    email: {
      ...email,
      reportsDelivery: true,
      send: async (messages) =>
        messages.map(({ to }, index) =>
          addresses.includes(to.address) ? refusal : { ok: true, providerId: `p-${index}` },
        ),
    },
  })
  await post(`/v1/campaigns/${row.id}/send-now`, {})
  await runUntil(row.id, ['sent', 'failed'], job)
  await write(
    ...Array.from(
      { length: links },
      (_, position) =>
        sql`insert into campaign_links (campaign_id, position, url)
          values (${row.id}, ${position}, ${`https://example.com/${position}`}) on conflict do nothing`,
    ),
  )
  return row.id
}

/** Reports events as they happen to messages that were sent: links are clicked only by visits. */
async function report(id: string, group: readonly (typeof event extends fc.Arbitrary<infer E> ? E : never)[]) {
  const sentAt = Date.now()
  const events = group.flatMap(({ whom, type, link, later }): RecipientEvent[] => {
    const n = crowd.people[whom]?.seq ?? 0
    const one = { n, type, at: sentAt + later, bounce: type === 'bounced' ? ('soft' as const) : null }
    return type === 'clicked' ? [{ ...one, link, is_visit: true }] : [one]
  })
  await applyEvents(createJob(), [{ type: 'campaign.events', campaign_id: id, events }])
  await runAlarm(id)
}

async function listRecipients(id: string, filter: Filter): Promise<string[]> {
  const query = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)]))
  const { status, body, text } = await get(`/v1/campaigns/${id}/recipients?${query.toString()}`)
  expect([status, text]).toEqual([200, expect.anything()])
  return body.results.map((one: { id: string }) => one.id).toSorted()
}

/** Lists everybody for whom the expression of the segment holds, whether they may get a message or not. */
async function listMatches(id: string, filter: Filter): Promise<string[]> {
  const reply = await post(`/v1/campaigns/${id}/segments`, { name: 'Those', ...filter })
  expect(reply.status, reply.text).toBe(201)
  const { seq, members_epoch } = await calculate(reply.body.id)
  const rows = await db.all(sql<{ id: string }>`select users.id from segment_members join users on users.seq = user_seq
    where segment_seq = ${seq} and epoch = ${members_epoch} order by users.id`)
  return rows.map((row) => row.id)
}

describe('a segment of the recipients of any campaign', () => {
  it('holds for exactly the people whom the list of recipients has', async () => {
    await fc.assert(
      fc.asyncProperty(campaign, async ({ groups, ...sending }) => {
        const id = await send(sending)
        for (const group of groups) await report(id, group)
        await runAlarm(id)
        for (const filter of filters)
          expect([filter, await listMatches(id, filter)]).toEqual([filter, await listRecipients(id, filter)])
      }),
      { numRuns: dearRuns(10, 5) },
    )
  })
})
