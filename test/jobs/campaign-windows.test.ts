import { describe, expect, it } from 'vitest'
import type { SendWindow } from '../../src/domain/campaigns/send-window.ts'
import { listUnattended } from '../../src/modules/campaigns/delivery/due.ts'
import { pauseCampaign, resumeCampaign } from '../../src/modules/campaigns/pause/pause.ts'
import { findCampaign } from '../../src/modules/campaigns/queries.ts'
import { sendCampaignNow } from '../../src/modules/campaigns/transitions.ts'
import { type Conduct, type Engine, withEngine } from '../support/campaign-engine.ts'
import { loadCampaign } from '../support/campaigns.ts'
import { seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'

const second = 1000
const hour = 3_600_000
const people = 80

interface Setup {
  now: string
  window?: SendWindow
  script?: Conduct[]
}

/** Starts a campaign to eighty people and has its recipients listed. It goes out in two chunks, one at a time. */
async function withCampaign({ now, window, script = [] }: Setup, work: (engine: Engine) => Promise<void>) {
  const { campaign } = await seedReady(await seedCrowd(people), { send_window: window ?? null })
  await withEngine(campaign.id, { deduplicates: true, now: Date.parse(now) }, async (engine) => {
    await act(engine, sendCampaignNow)
    await engine.alarm()
    engine.store.changeRecord({ concurrency: 1 })
    engine.provider.script = script
    await work(engine)
  })
}

async function act(engine: Engine, verb: typeof pauseCampaign): Promise<void> {
  await verb(engine.ctx, await findCampaign(engine.ctx, engine.campaignId))
  await engine.afterCommits()
}

const readCounts = ({ store }: Engine) => {
  const { status = '', total = 0, sent = 0, failed = 0, unknown = 0 } = store.readRecord() ?? {}
  return { status, sent, unknown, pending: total - sent - failed }
}

/** Lets the campaign work with its own alarms until it ends or waits for somebody. */
async function runToEnd(engine: Engine): Promise<void> {
  for (let turn = 0; turn < 40 && engine.alarmAt !== null; turn++) {
    engine.now = Math.max(engine.now, engine.alarmAt)
    await engine.alarm()
    await engine.consume(1)
  }
}

const night: SendWindow = { days: ['saturday', 'sunday'], from: '22:00', to: '02:30' }

describe('a campaign with a send window', () => {
  it.each([
    ['2027-03-27T20:59:00Z', '2027-03-27T21:00:00.000Z', 'spring', '2027-03-28T01:00:00.000Z'],
    ['2027-10-30T19:59:00Z', '2027-10-30T20:00:00.000Z', 'autumn', '2027-10-31T00:30:00.000Z'],
  ])('that begins at %s goes on by itself at %s (%s), and closes at %s', async (now, opening, _, closing) => {
    await withCampaign({ now, window: night }, async (engine) => {
      engine.now += 3 * second
      await engine.alarm()
      await engine.consume(2)
      expect([readCounts(engine).sent, engine.alarmAt]).toEqual([0, Date.parse(opening)])
      engine.now = Date.parse(opening) - 1
      await engine.consume(2)
      expect(engine.provider.calls).toBe(0)

      // The first chunk is handed out in the last millisecond of the window.
      engine.now = Date.parse(closing) - 1
      engine.provider.script = ['overtaken']
      engine.provider.overtake = async () => void (engine.now += 30 * second)
      await engine.consume(1)
      expect(readCounts(engine)).toMatchObject({ status: 'sending', sent: 50 })
      await engine.alarm()
      await engine.consume(2)
      expect(readCounts(engine)).toMatchObject({ status: 'sending', sent: 50 })
      expect(engine.store.readRecord()).toMatchObject({ window_waiting_since: engine.now })
      await runToEnd(engine)
      expect(readCounts(engine)).toMatchObject({ status: 'sent', sent: people })
      expect([...engine.provider.reached.values()].every((times) => times === 1)).toBe(true)
    })
  })

  it('is left alone by sweeps until its window opens', async () => {
    const now = '2027-03-24T10:00:00Z'
    await withCampaign({ now, window: night }, async (engine) => {
      await engine.alarm()
      const isUnattended = async (at: number) =>
        (await listUnattended({ ...engine.job, now: () => at }, 1000)).some(({ id }) => id === engine.campaignId)
      const opening = Date.parse('2027-03-27T21:00:00Z')
      expect(await loadCampaign(engine.campaignId)).toMatchObject({ status: 'sending', window_opens_at: opening })
      expect([await isUnattended(opening - 1), await isUnattended(opening)]).toEqual([false, true])
    })
  })

  it('keeps its wait when its object is evicted', async () => {
    await withCampaign({ now: '2027-03-24T10:00:00Z', window: night }, async (engine) => {
      await engine.alarm()
      engine.evict()
      await engine.consume(2)
      expect(engine.provider.calls).toBe(0)
      await runToEnd(engine)
      expect(readCounts(engine)).toMatchObject({ status: 'sent', sent: people })
    })
  })
})

describe('a campaign that is paused', () => {
  it('does not count the pause as time in which the provider limits sending', async () => {
    const script: Conduct[] = ['rate limited', 'rate limited']
    await withCampaign({ now: '2027-03-24T10:00:00Z', script }, async (engine) => {
      await engine.consume(1)
      await act(engine, pauseCampaign)
      engine.now += 48 * hour
      await runToEnd(engine)
      expect(readCounts(engine)).toMatchObject({ status: 'sending', sent: 0, pending: people })
      await act(engine, resumeCampaign)
      await engine.alarm()
      // The provider limits sending once more, which would be the end after a day of trying.
      await engine.consume(1)
      expect(readCounts(engine)).toMatchObject({ status: 'sending', pending: people })
      await runToEnd(engine)
      expect(readCounts(engine)).toMatchObject({ status: 'sent', sent: people })
    })
  })

  it('gives up calls that it cannot repeat any more, so that an erasure need not wait for the end of the pause', async () => {
    await withCampaign(
      { now: '2027-03-24T10:00:00Z', script: ['taken, and no answer', 'overtaken'] },
      async (engine) => {
        engine.provider.overtake = () => act(engine, pauseCampaign)
        await engine.consume(1)
        const { n } = engine.storage.sql.exec<{ n: number }>('select min(n) as n from recipients').one()
        expect((await engine.object.erase(n)).is_done).toBe(false)
        await runToEnd(engine)
        expect(engine.alarmAt).toBeNull()
        expect(readCounts(engine)).toEqual({ status: 'sending', sent: 40, unknown: 10, pending: 30 })
        expect((await engine.object.erase(n)).is_done).toBe(true)
        await act(engine, resumeCampaign)
        await runToEnd(engine)
        expect(readCounts(engine)).toEqual({ status: 'sent', sent: 70, unknown: 10, pending: 0 })
        expect([...engine.provider.reached.values()].every((times) => times === 1)).toBe(true)
      },
    )
  })

  it('repeats a call without an answer unchanged when the pause is short', async () => {
    await withCampaign({ now: '2027-03-24T10:00:00Z', script: ['taken, and no answer'] }, async (engine) => {
      await engine.consume(1)
      await act(engine, pauseCampaign)
      engine.now += 10 * hour
      await act(engine, resumeCampaign)
      await runToEnd(engine)
      expect(readCounts(engine)).toEqual({ status: 'sent', sent: people, unknown: 0, pending: 0 })
      expect([...engine.provider.reached.values()].every((times) => times === 1)).toBe(true)
    })
  })

  it('ends when the calls that were under way were the last ones', async () => {
    await withCampaign({ now: '2027-03-24T10:00:00Z' }, async (engine) => {
      engine.provider.script = [...Array<Conduct>(5).fill('ok'), 'overtaken']
      engine.provider.overtake = () => act(engine, pauseCampaign)
      await engine.consume(1)
      expect(readCounts(engine)).toEqual({ status: 'sent', sent: people, unknown: 0, pending: 0 })
      await engine.alarm()
      expect(await loadCampaign(engine.campaignId)).toMatchObject({ status: 'sent', paused_at: null })
    })
  })
})
