import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeObjects, readObjectsByApi } from '../../../scripts/support/verify/campaigns.ts'
import { call, post, rootToken } from '../../support/api.ts'
import {
  consume,
  createJob,
  getCampaignObject,
  listCaptured,
  loadCampaign,
  runAlarm,
  runUntil,
} from '../../support/campaigns.ts'
import { type Crowd, seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { db, write } from '../../support/seeding/rows.ts'

const people = 500
/** The tables that a restore of the database brings back. Captured messages are the outside world, which no restore changes. */
const tables = ['campaign_receipts', 'campaign_conditions', 'campaign_links', 'campaign_contents', 'campaigns']

const query = async <Row>(text: string): Promise<Row[]> => (await env.DB.prepare(text).all<Row>()).results
const run = (statements: readonly string[]) =>
  env.DB.batch(['pragma defer_foreign_keys = on', ...statements].map((text) => env.DB.prepare(text)))

const backUp = () =>
  run(
    tables.flatMap((table) => [
      `drop table if exists backup_${table}`,
      `create table backup_${table} as select * from ${table}`,
    ]),
  )

const restore = () =>
  run([
    ...tables.map((table) => `delete from ${table}`),
    ...tables.toReversed().map((table) => `insert into ${table} select * from backup_${table}`),
  ])

let crowd: Crowd
let id: string
beforeAll(async () => {
  crowd = await seedCrowd(people)
})

async function givenReady(): Promise<string> {
  id = (await seedReady(crowd)).campaign.id
  return id
}

/** A clock that ends the time of a consumer after its first chunks. */
function createShortClock(): () => number {
  let readCount = 0
  return () => Date.now() + (readCount++ < 4 ? 0 : 25_000)
}

async function sendHalf(): Promise<number> {
  for (let turn = 0; turn < 50 && (await getCampaignObject(id).readSnapshot())?.status !== 'sending'; turn++)
    await runAlarm(id)
  await consume(id, createJob({ now: createShortClock() }))
  const sent = (await listCaptured(id)).length
  expect([sent > 0, sent < people]).toEqual([true, true])
  return sent
}

/** Restores the database while the campaign is sending, and lets its object notice. Returns the messages sent before. */
async function restoreAfterHalf(): Promise<number> {
  await post(`/v1/campaigns/${id}/send-now`, {})
  const sent = await sendHalf()
  await restore()
  await runAlarm(id)
  await consume(id)
  return sent
}

async function expectOnce(count = people): Promise<void> {
  const recipients = (await listCaptured(id)).map(({ recipient }) => recipient)
  expect([recipients.length, new Set(recipients).size]).toEqual([count, count])
}

const countReceipts = async () =>
  (
    await db.first(
      sql<{ n: number }>`select count(*) as n from campaign_receipts where campaign_id = ${id} and state = 'sent'`,
    )
  )?.n

const readObjects = readObjectsByApi(async (path) => {
  const { status, body } = await call(path, { token: rootToken })
  return { status, body: body as { count: number } }
})
const describeState = async () => (await describeObjects(query, readObjects)).filter((line) => line.includes(id))

const stopReason = 'The database was restored to a time before this campaign was started.'

describe('a restore of the database to a time before a campaign was sent', () => {
  it('is named with what the object sent, and starting the draft again sends nothing twice', async () => {
    await givenReady()
    await backUp()
    await post(`/v1/campaigns/${id}/send-now`, {})
    await runUntil(id, ['sent'])
    await restore()
    const row = await loadCampaign(id)
    expect(row).toMatchObject({ status: 'draft', sent_count: 0 })
    expect(await describeState()).toEqual([
      `${id} "${row.name}" is draft with 0 sent messages, and its object has sent ${people}.`,
    ])
    expect((await call(`/v1/campaigns/${id}`, { method: 'DELETE', token: rootToken })).status).toBe(409)
    await post(`/v1/campaigns/${id}/send-now`, {})
    expect(await runUntil(id, ['sent'])).toMatchObject({ sent_count: people, total_recipients: people })
    await expectOnce()
    expect(await countReceipts()).toBe(people)
    expect(await describeState()).toEqual([])
  })

  it('makes a scheduled campaign what it is: sent', async () => {
    await givenReady()
    await write(sql`update campaigns set status = 'scheduled', scheduled_at = ${Date.now() - 1000} where id = ${id}`)
    await backUp()
    await getCampaignObject(id).wake(id)
    await runUntil(id, ['sent'])
    await restore()
    expect(await loadCampaign(id)).toMatchObject({ status: 'scheduled', run: 0 })
    await getCampaignObject(id).wake(id)
    expect(await runUntil(id, ['sent', 'failed'])).toMatchObject({ status: 'sent', sent_count: people })
    await expectOnce()
  })

  it('makes a campaign that failed in the meantime what it is, although its time has passed long ago', async () => {
    await givenReady()
    await write(sql`update campaigns set status = 'scheduled', scheduled_at = ${Date.now() - 1000} where id = ${id}`)
    await backUp()
    await getCampaignObject(id).wake(id)
    await runUntil(id, ['sent'])
    await restore()
    await write(sql`update campaigns set scheduled_at = 1000 where id = ${id}`)
    await getCampaignObject(id).wake(id)
    await runAlarm(id)
    expect(await loadCampaign(id)).toMatchObject({ status: 'sent', sent_count: people, run: 1 })
    await expectOnce()
  })

  it('stops a campaign that was sending, and another start reaches the others alone', async () => {
    await givenReady()
    await backUp()
    const sent = await restoreAfterHalf()
    expect(await loadCampaign(id)).toMatchObject({ status: 'failed', error_message: stopReason, sent_count: sent })
    await expectOnce(sent)
    await post(`/v1/campaigns/${id}/send-now`, {})
    expect(await runUntil(id, ['sent'])).toMatchObject({ sent_count: people, failed_count: 0 })
    await expectOnce()
    expect(await countReceipts()).toBe(people)
  })

  it('goes on with a campaign that was sending then, and counts what was sent since', async () => {
    await givenReady()
    await post(`/v1/campaigns/${id}/send-now`, {})
    await sendHalf()
    await runAlarm(id)
    await backUp()
    await runUntil(id, ['sent'])
    await restore()
    expect((await loadCampaign(id)).status).toBe('sending')
    await getCampaignObject(id).wake(id)
    expect(await runUntil(id, ['sent'])).toMatchObject({ sent_count: people })
    await expectOnce()
    expect(await countReceipts()).toBe(people)
  })

  it('stops the object of a campaign that the database does not have any more', async () => {
    await backUp()
    await givenReady()
    const sent = await restoreAfterHalf()
    expect(await getCampaignObject(id).readSnapshot()).toMatchObject({
      status: 'failed',
      error_message: stopReason,
      sent,
    })
    await expectOnce(sent)
  })
})

it('the numbers of customers who came since a restored time can be left out, as the page of backups says', async () => {
  const [before] = await query<{ seq: number }>("select seq from sqlite_sequence where name = 'users'")
  await env.DB.prepare("update sqlite_sequence set seq = seq + 1000000 where name = 'users'").run()
  const { people: newcomers } = await seedCrowd(1)
  expect(newcomers[0]?.seq).toBe((before?.seq ?? 0) + 1_000_001)
})
