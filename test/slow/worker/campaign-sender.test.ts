import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createFailure } from '../../../src/domain/messaging/messaging.ts'
import { get, post } from '../../support/api.ts'
import { type Conduct, type Engine, withEngine } from '../../support/campaign-engine.ts'
import {
  runAlarm,
  listCaptured,
  consume,
  createJob,
  loadCampaign,
  readStats,
  runUntil,
  getCampaignObject,
} from '../../support/campaigns.ts'
import { type Crowd, seedCrowd, seedReady } from '../../support/seeding/messaging/campaigns.ts'
import { aBlock } from '../../support/seeding/messaging/email-messages.ts'
import { db, write } from '../../support/seeding/rows.ts'

const startRow = (campaignId: string, now: number) =>
  env.DB.prepare(
    "update campaigns set status = 'calculating', run = run + 1, version = version + 1, heartbeat_at = ?2 where id = ?1",
  )
    .bind(campaignId, now)
    .run()

/** A clock that ends the time of a consumer after its first chunk. */
function createShortClock(): () => number {
  let readCount = 0
  return () => Date.now() + (readCount++ === 0 ? 0 : 25_000)
}

describe('a campaign', () => {
  it('continues without loss or repetition after the platform evicted its object', async () => {
    const crowd = await seedCrowd(1000)
    const { campaign } = await seedReady(crowd)
    const { id } = campaign
    await post(`/v1/campaigns/${id}/send-now`, {})
    for (let turn = 0; turn < 50 && (await getCampaignObject(id).readSnapshot())?.status !== 'sending'; turn++)
      await runAlarm(id)
    await consume(id, createJob({ now: createShortClock() }))
    const before = await getCampaignObject(id).readSnapshot()
    expect(before?.sent).toBeGreaterThan(0)
    expect(before?.sent).toBeLessThan(1000)
    await evictDurableObject(getCampaignObject(id))
    expect(await getCampaignObject(id).readSnapshot()).toMatchObject({
      sent: before?.sent,
      total: 1000,
      status: 'sending',
    })
    const row = await runUntil(id, ['sent', 'failed'])
    expect(row).toMatchObject({ status: 'sent', sent_count: 1000, failed_count: 0 })
    const references = (await listCaptured(id)).map(({ reference }) => reference)
    expect([references.length, new Set(references).size]).toEqual([1000, 1000])
  })

  it('counts 10,000 recipients exactly, with few rows and few calls for each', async () => {
    const people = 10_000
    const crowd = await seedCrowd(people)
    const { campaign } = await seedReady(crowd)
    await startRow(campaign.id, Date.now())
    await withEngine(campaign.id, { deduplicates: true }, async (engine) => {
      engine.provider.batch = 100
      engine.evict()
      await engine.wake()
      for (let turn = 0; turn < 20 && (await loadCampaign(campaign.id)).status !== 'sent'; turn++) {
        await engine.alarm()
        await engine.consume(1)
        engine.now += 3000
      }
      expect(await loadCampaign(campaign.id)).toMatchObject({
        status: 'sent',
        total_recipients: people,
        sent_count: people,
        failed_count: 0,
        user_count: people,
      })
      expect([engine.provider.reached.size, engine.provider.calls]).toEqual([people, people / 100])
      const ofObject = engine.cursors.reduce((sum, cursor) => sum + cursor.rowsWritten, 0) / people
      const ofD1 = engine.meter.rows_written / people
      expect([ofObject, ofD1].map((rows) => rows.toFixed(1))).toEqual(['7.1', '2.0'])
      expect(engine.requests / people).toBeLessThan(0.02)
    })
  })
})

describe('the start of a campaign', () => {
  it('loses no recipient when the segment is recalculated meanwhile', async () => {
    const crowd = await seedCrowd(3)
    const { campaign, segment } = await seedReady(crowd)
    await startRow(campaign.id, Date.now())
    await withEngine(campaign.id, { deduplicates: true }, async (engine) => {
      let swept = 0
      engine.meanwhile = async () => {
        if (engine.store.readRecord()?.step !== 'members' || swept++ > 0) return
        await write(
          sql`delete from segment_members where segment_seq = ${segment.seq}`,
          sql`update segments set epoch = epoch + 1, members_epoch = epoch + 1 where id = ${segment.id}`,
        )
      }
      await engine.wake()
      for (let turn = 0; turn < 5; turn++) await engine.alarm()
      expect(swept).toBeGreaterThan(0)
      expect(await engine.object.readSnapshot()).toMatchObject({ status: 'sending', total: 3, user_count: 3 })
    })
  })
})

/** Makes a campaign with this many recipients, before any message is sent. */
async function withCalculatedCampaign(
  people: number,
  deduplicates: boolean,
  work: (engine: Engine, crowd: Crowd, id: string) => Promise<void>,
) {
  const crowd = await seedCrowd(people)
  const { campaign } = await seedReady(crowd)
  await startRow(campaign.id, Date.now())
  await withEngine(campaign.id, { deduplicates }, async (engine) => {
    await engine.wake()
    await engine.alarm()
    await work(engine, crowd, campaign.id)
  })
}

describe('the events of sent messages', () => {
  it('are projected even when they never stop', async () => {
    await withCalculatedCampaign(5, true, async (engine, crowd) => {
      await engine.consume(1)
      await engine.alarm()
      engine.now += 60_000
      const reportedAt = engine.now
      for (const { seq } of crowd.people) {
        engine.now += 1000
        await engine.object.applyEvents([{ n: seq, type: 'opened', at: engine.now }])
        expect(engine.alarmAt).toBeLessThanOrEqual(reportedAt + 3000)
      }
    })
  })

  it('are counted even when they arrive while the alarm works', async () => {
    await withCalculatedCampaign(5, true, async (engine, crowd, id) => {
      await engine.consume(1)
      await engine.alarm()
      expect((await loadCampaign(id)).status).toBe('sent')
      for (const [moment, { seq }] of crowd.people.entries()) {
        let readCount = 0
        engine.meanwhile = async () => {
          if (readCount++ === moment) await engine.object.applyEvents([{ n: seq, type: 'opened', at: engine.now }])
        }
        engine.now += 60_000
        // A click gives the alarm counters and engagement to project.
        await engine.object.applyEvents([{ n: seq, type: 'clicked', at: engine.now }])
        await engine.alarm()
        engine.meanwhile = async () => undefined
        const { opened } = (await engine.object.readSnapshot()) ?? { opened: 0 }
        if ((await loadCampaign(id)).opened_count < opened) expect([moment, engine.alarmAt]).not.toContain(null)
      }
      expect((await engine.object.readSnapshot())?.opened).toBeGreaterThan(1)
    })
  })

  it('set the time of sending when no consumer reported it', async () => {
    await withCalculatedCampaign(1, true, async (engine, crowd) => {
      engine.provider.script = ['dies after']
      await engine.consume(1)
      const n = crowd.people[0]?.seq ?? 0
      const at = engine.now + 1000
      await engine.object.applyEvents([
        { n, type: 'delivered', at },
        { n, type: 'clicked', at: at + 5000, is_visit: true },
      ])
      expect((await engine.object.findRecipient(n))?.sent_at).toBe(at)
      expect(await engine.object.readSnapshot()).toMatchObject({ sent: 1, clicked: 1, opened: 1, machine_opened: 0 })
    })
  })

  it('never count more unsubscribed people than recipients', async () => {
    await withCalculatedCampaign(4, true, async (engine, crowd) => {
      await engine.consume(1)
      const [first, second, third] = crowd.people.map(({ seq }) => seq)
      const at = engine.now + 60_000
      await engine.object.applyEvents([{ n: first ?? 0, type: 'delivered', at }])
      await engine.object.applyEvents(
        [first, second, third].map((n) => ({ n: n ?? 0, type: 'unsubscribed' as const, at })),
      )
      expect(await engine.object.readSnapshot()).toMatchObject({ sent: 4, delivered: 3, unsubscribed: 3, opened: 0 })
    })
  })
})

/** Sends a campaign to 40 people, whose calls end with these results in turn. */
const play = (script: Conduct[], deduplicates: boolean, work: (engine: Engine, id: string) => Promise<void>) =>
  withCalculatedCampaign(40, deduplicates, async (engine, _, id) => {
    engine.provider.script = [...script]
    await engine.consume(1)
    await work(engine, id)
  })

describe('a fault of the provider', () => {
  it('stops the campaign when it is in the configuration, and the campaign can be retried', async () => {
    await play(['ok', 'wrong key'], false, async (engine, id) => {
      await engine.alarm()
      const row = await loadCampaign(id)
      expect(row.status).toBe('failed')
      expect(row.error_message).toBe('test_configuration: as the test wants it')
      expect(row.sent_count).toBe(engine.provider.reached.size)
      expect(await engine.object.countRetryable()).toBe(40 - row.sent_count)
    })
  })

  it('counts after the end of a claim only if it proves that a message was sent', async () => {
    await withCalculatedCampaign(2, true, async (engine, crowd) => {
      const { next } = await engine.object.exchangeChunk(null, 'first')
      const chunk = next?.chunk ?? 0
      await engine.object.beginCalls(chunk, 'first', [])
      engine.now += 600_000
      await engine.object.exchangeChunk(null, 'second')
      const [sent = 0, refused = 0] = crowd.people.map(({ seq }) => seq)
      const calls = [
        { n: sent, result: { ok: true as const, providerId: 'm' } },
        { n: refused, result: createFailure('permanent', 'refused', '') },
      ]
      await engine.object.exchangeChunk({ chunk, claim_id: 'first', calls: [calls] }, null)
      expect(await engine.object.readSnapshot()).toMatchObject({ sent: 1, failed: 0 })
    })
  })

  it('pauses the campaign as long as the provider asks when it is a rate limit', async () => {
    await play(['rate limited', 'rate limited', 'rate limited', 'rate limited'], true, async (engine) => {
      const calls = engine.provider.calls
      engine.now += 29_000
      await engine.consume(1)
      expect(engine.provider.calls).toBe(calls)
      engine.now += 2000
      await engine.consume(1)
      expect(engine.provider.calls).toBeGreaterThan(calls)
    })
  })

  it('stops the calls of the chunk when it is a rate limit, and the others get one message later', async () => {
    await play(['ok', 'rate limited'], false, async (engine, id) => {
      expect(engine.provider.calls).toBe(2)
      engine.now += 31_000
      await engine.consume(1)
      await engine.alarm()
      expect(await loadCampaign(id)).toMatchObject({ status: 'sent', sent_count: 40, failed_count: 0 })
      expect([...engine.provider.reached.values()]).toEqual(Array(40).fill(1))
    })
  })

  it('leaves recipients as unknown without an answer, and sends them nothing again without deduplication', async () => {
    await play(['taken, and no answer'], false, async (engine, id) => {
      await engine.alarm()
      const { sent, failed } = (await engine.object.readSnapshot()) ?? { sent: 0, failed: 0 }
      expect([sent, failed]).toEqual([30, 10])
      expect(await engine.object.countRetryable()).toBe(0)
      const page = { page: 1, size: 100, after: null }
      const { rows } = await engine.object.listRecipients({ state: 'failed', ordering: [], page })
      expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(['unknown']))
      // An event proves that one of these recipients got the message.
      await engine.object.applyEvents([{ n: rows[0]?.n ?? 0, type: 'delivered', at: engine.now }])
      expect(await engine.object.readSnapshot()).toMatchObject({ sent: 31, failed: 9, delivered: 1 })
      expect([...engine.provider.reached.values()].every((times) => times === 1)).toBe(true)
      expect((await loadCampaign(id)).status).toBe('sent')
    })
  })

  it('is retried when it is temporary, until every recipient has one message', async () => {
    await play(
      ['refused until later', 'no answer', 'taken, and refused until later', 'dies after'],
      true,
      async (engine, id) => {
        for (let turn = 0; turn < 12; turn++) {
          engine.now += 65_000
          await engine.alarm()
          await engine.consume(1)
        }
        engine.now += 5000
        await engine.alarm()
        expect(await loadCampaign(id)).toMatchObject({ status: 'sent', sent_count: 40, failed_count: 0 })
        expect([...engine.provider.reached.values()].every((times) => times === 1)).toBe(true)
      },
    )
  })
})

describe('a late report', () => {
  it('wakes no object whose campaign was deleted meanwhile', async () => {
    await withCalculatedCampaign(2, false, async (engine, _, id) => {
      const { next } = await engine.object.exchangeChunk(null, 'first')
      await engine.object.cancel(id, 1)
      engine.now += 600_000
      await engine.alarm()
      expect(await engine.object.deleteIfUnsent()).toBe(true)
      await engine.object.exchangeChunk({ chunk: next?.chunk ?? 0, claim_id: 'first', calls: [] }, null)
      await engine.alarm()
      expect(engine.alarmAt).toBeNull()
    })
  })
})

describe('large messages', () => {
  it('are sent in smaller calls, which a retry repeats unchanged', async () => {
    const crowd = await seedCrowd(40)
    const { campaign, message } = await seedReady(crowd)
    const heavy = `{% for i in (1..50) %}{% for j in (1..50) %}${'x'.repeat(80)}{% endfor %}{% endfor %}`
    await db.all(sql`update email_messages set blocks = ${JSON.stringify([aBlock(heavy)])} where id = ${message}`)
    await startRow(campaign.id, Date.now())
    await withEngine(campaign.id, { deduplicates: true }, async (engine) => {
      engine.provider.batch = 100
      engine.evict()
      await engine.wake()
      await engine.alarm()
      engine.provider.script = ['ok', 'taken, and no answer', 'dies after', 'ok', 'ok', 'taken, and no answer']
      for (let turn = 0; turn < 12 && (await loadCampaign(campaign.id)).status !== 'sent'; turn++) {
        await engine.consume(1).catch(() => undefined)
        engine.now += 65_000
        await engine.alarm()
      }
      expect(await loadCampaign(campaign.id)).toMatchObject({ status: 'sent', sent_count: 40, failed_count: 0 })
      expect([...engine.provider.reached.values()]).toEqual(Array(40).fill(1))
      for (const { messages, characters } of engine.provider.sizes) {
        expect(messages).toBeLessThan(12)
        expect(characters).toBeLessThan(4_200_000)
      }
    })
  })
})

describe('cancelling a campaign while it sends', () => {
  it('stops after the current chunk, with correct counts', async () => {
    const crowd = await seedCrowd(600)
    const { campaign } = await seedReady(crowd)
    const { id } = campaign
    await post(`/v1/campaigns/${id}/send-now`, {})
    for (let turn = 0; turn < 50 && (await getCampaignObject(id).readSnapshot())?.status !== 'sending'; turn++)
      await runAlarm(id)
    await consume(id, createJob({ now: createShortClock() }))
    const reply = await post(`/v1/campaigns/${id}/cancel`, {})
    expect([reply.status, reply.body.status]).toEqual([200, 'cancelled'])
    await consume(id)
    const sent = (await listCaptured(id)).length
    expect(sent).toBeGreaterThan(0)
    expect(sent).toBeLessThan(600)
    expect(await readStats(id)).toMatchObject({ total_recipients: 600, sent, failed: 0 })
    expect((await get(`/v1/campaigns/${id}/recipients?state=cancelled&page_size=1`)).body.count).toBe(600 - sent)
  })
})
