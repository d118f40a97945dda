import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { weekdays } from '../../src/domain/campaigns/send-window.ts'
import { selectCampaignWaits } from '../../src/modules/campaigns/index.ts'
import { sweepCampaigns } from '../../src/modules/campaigns/jobs.ts'
import { get, patch, post } from '../support/api.ts'
import { consume, createJob, listCaptured, loadCampaign, readStats, runAlarm, runUntil } from '../support/campaigns.ts'
import { describeRefusal } from '../support/refusals.ts'
import { type Crowd, inRecipientStore, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { db, formatHourFromNow, write } from '../support/seeding/rows.ts'

const hour = 3_600_000

const formatHour = (at: number) => new Date(at).toISOString().slice(11, 16)
/** A window in UTC that begins and ends this many hours from now, on each day. */
const buildWindow = (from: number, to: number) => ({
  days: [...weekdays],
  from: formatHour(Date.now() + from * hour),
  to: formatHour(Date.now() + to * hour),
})

const utc = { timezone: 'UTC' }
let crowd: Crowd
beforeAll(async () => {
  crowd = await seedCrowd(5, utc)
})

const act = (id: string, verb: string) => post(`/v1/campaigns/${id}/${verb}`, {})
const read = async (id: string) => (await get(`/v1/campaigns/${id}`)).body

/** Starts a campaign that has recipients and has sent nothing yet. */
async function startCampaign(people: Crowd, columns = {}): Promise<string> {
  const { campaign } = await seedReady(people, columns)
  expect((await act(campaign.id, 'send-now')).status).toBe(200)
  await runUntil(campaign.id, ['sending'], createJob(), false)
  return campaign.id
}

/** Lets alarms and consumers run, which must send nothing. */
async function runInVain(id: string): Promise<void> {
  for (let turn = 0; turn < 3; turn++) {
    await runAlarm(id)
    await consume(id)
  }
  expect(await listCaptured(id)).toEqual([])
}

const project = async (id: string) => {
  await inRecipientStore(id, (store) => store.changeRecord({ projected_at: 0 }))
  await runAlarm(id)
}

describe('pauseCampaign', () => {
  it('stops a campaign that is sending, which keeps its status and says what it waits for', async () => {
    const id = await startCampaign(crowd)
    const begin = Date.now()
    const paused = await act(id, 'pause')
    expect(paused.body).toMatchObject({
      status: 'sending',
      is_paused: true,
      waiting_reason: 'The campaign is paused.',
      next_attempt_at: null,
    })
    expect(Date.parse(paused.body.waiting_since)).toBeGreaterThanOrEqual(begin)
    expect(paused.body.allowed_actions).toEqual(['resume', 'cancel'])
    await runInVain(id)
    expect(await read(id)).toMatchObject({ is_paused: true, status: 'sending', sent_count: 0 })
    expect(await readStats(id)).toMatchObject({ total_recipients: 5, pending: 5, sent: 0, cancelled: 0 })
    expect(describeRefusal(await act(id, 'retry-failed'))).toBe('409 invalid_transition')
    expect((await act(id, 'pause')).body).toMatchObject({ waiting_since: paused.body.waiting_since })
  })

  it('completes and counts the calls that are under way', async () => {
    const people = await seedCrowd(150, utc)
    const id = await startCampaign(people)
    const job = createJob()
    const { email } = job
    let calls = 0
    const send: typeof email.send = async (messages, key) => {
      if (calls++ === 0) expect((await act(id, 'pause')).status).toBe(200)
      return email.send(messages, key)
    }
    // One sequence alone has a chunk when the campaign is paused.
    await inRecipientStore(id, (store) => store.changeRecord({ concurrency: 1 }))
    await consume(id, { ...job, email: { ...email, send } })
    expect(calls).toBe(1)
    const { sent, pending } = await readStats(id)
    expect([sent, pending]).toEqual([100, 50])
    expect(await listCaptured(id)).toHaveLength(100)
    await consume(id)
    expect(await readStats(id)).toMatchObject({ sent: 100, pending: 50 })
    await act(id, 'resume')
    expect(await runUntil(id, ['sent'])).toMatchObject({ sent_count: 150, paused_at: null })
    expect(new Set((await listCaptured(id)).map(({ reference }) => reference)).size).toBe(150)
  })

  it('lets a campaign that is calculating find its recipients, and then waits', async () => {
    const { campaign } = await seedReady(crowd)
    await act(campaign.id, 'send-now')
    expect((await act(campaign.id, 'pause')).body).toMatchObject({ status: 'calculating', is_paused: true })
    await runUntil(campaign.id, ['sending'], createJob(), false)
    await runInVain(campaign.id)
    expect(await readStats(campaign.id)).toMatchObject({ pending: 5, total_recipients: 5 })
    await act(campaign.id, 'resume')
    expect(await runUntil(campaign.id, ['sent'])).toMatchObject({ sent_count: 5 })
  })

  it('keeps a scheduled campaign from starting at its time, which is no missed schedule', async () => {
    const { campaign } = await seedReady(crowd, { status: 'scheduled', scheduled_at: Date.now() + hour })
    const paused = await act(campaign.id, 'pause')
    expect(paused.body).toMatchObject({ status: 'scheduled', is_paused: true })
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 7 * hour} where id = ${campaign.id}`)
    await sweepCampaigns(createJob())
    await runAlarm(campaign.id)
    expect(await read(campaign.id)).toMatchObject({
      status: 'scheduled',
      is_paused: true,
      waiting_reason: 'The campaign is paused.',
      error_message: '',
    })
    expect(await runAlarm(campaign.id)).toBe(false)
  })

  it('leaves the object and the row alike when its commit is lost', async () => {
    const id = await startCampaign(crowd)
    await write(sql`create trigger lost before update on campaigns when new.id = ${sql.raw(`'${id}'`)}
      begin select raise(abort, 'lost'); end`)
    expect((await act(id, 'pause')).status).toBe(500)
    await write(sql`drop trigger lost`)
    await runInVain(id)
    await project(id)
    expect(await read(id)).toMatchObject({ is_paused: true, status: 'sending' })
  })

  it('is cleared when the campaign is cancelled or sent anew', async () => {
    const id = await startCampaign(crowd)
    await act(id, 'pause')
    expect((await act(id, 'cancel')).body).toMatchObject({
      status: 'cancelled',
      is_paused: false,
      waiting_reason: null,
    })
    expect(await readStats(id)).toMatchObject({ total_recipients: 5, cancelled: 5, pending: 0 })
    const { campaign } = await seedReady(crowd, { status: 'scheduled', scheduled_at: Date.now() + hour })
    await act(campaign.id, 'pause')
    expect((await act(campaign.id, 'send-now')).body).toMatchObject({ status: 'calculating', is_paused: false })
    expect(await runUntil(campaign.id, ['sent'])).toMatchObject({ sent_count: 5 })
    const scheduled = await seedReady(crowd, { status: 'scheduled', scheduled_at: Date.now() + hour })
    await act(scheduled.campaign.id, 'pause')
    expect((await act(scheduled.campaign.id, 'cancel')).body).toMatchObject({ status: 'cancelled', is_paused: false })
  })

  it('is kept by a new time', async () => {
    const { campaign } = await seedReady(crowd, { status: 'scheduled', scheduled_at: Date.now() + hour })
    await act(campaign.id, 'pause')
    const reply = await post(`/v1/campaigns/${campaign.id}/schedule`, { scheduled_at: formatHourFromNow() })
    expect(reply.body).toMatchObject({ status: 'scheduled', is_paused: true })
  })

  it('changes nothing when it is repeated, and answers what stands there', async () => {
    const window = { send_window: buildWindow(2, 3) }
    const id = await startCampaign(crowd, window)
    const path = `/v1/campaigns/${id}`
    const actions = [() => act(id, 'pause'), () => act(id, 'resume'), () => patch(path, window)]
    const countEntries = async () => (await get(`/v1/audit-log?resource_id=${id}`)).body.count
    for (const change of actions) {
      await change()
      const [before, entries] = [await get(path), await countEntries()]
      const repeated = await change()
      expect(repeated.body).toEqual(before.body)
      expect(repeated.headers.get('etag')).toBe(before.headers.get('etag'))
      expect([(await get(path)).text, await countEntries()]).toEqual([before.text, entries])
    }
  })

  it('is a filter of the list', async () => {
    const place = await seedCrowd(1)
    const { campaign } = await seedReady(place, { status: 'scheduled', scheduled_at: Date.now() + hour })
    await seedReady(place)
    await act(campaign.id, 'pause')
    const list = async (value: boolean) =>
      (await get(`/v1/campaigns?edition_id=${place.edition}&is_paused=${value}`)).body.results.map(
        ({ is_paused }: { is_paused: boolean }) => is_paused,
      )
    expect([await list(true), await list(false)]).toEqual([[true], [false]])
  })
})

describe('resumeCampaign', () => {
  it('leaves out who unsubscribed or lost an address meanwhile', async () => {
    const people = await seedCrowd(5, utc)
    const id = await startCampaign(people)
    await act(id, 'pause')
    const [first, second, third] = people.people
    await write(
      sql`insert into suppressions (organization_id, channel, address, reason, created_at)
        values (${people.organization}, 'email', ${first?.email ?? ''}, 'hard_bounce', 1)`,
      sql`update users set is_active = 0 where id = ${second?.id ?? ''}`,
    )
    expect((await post(`/v1/user/${third?.id}/erase`, {})).status).toBeLessThan(300)
    await inRecipientStore(id, (store) => {
      const row = store.storage.sql.exec<{ n: number }>('select n from recipients where user_id = ?', third?.id).one()
      store.erase(row.n)
    })
    expect((await act(id, 'resume')).body).toMatchObject({
      is_paused: false,
      waiting_reason: null,
      waiting_since: null,
    })
    const row = await runUntil(id, ['sent'])
    expect(row).toMatchObject({ total_recipients: 2, sent_count: 2, skipped_count: 3, failed_count: 0 })
    expect(await listCaptured(id)).toHaveLength(2)
  })

  it('starts a scheduled campaign whose time has passed, however late', async () => {
    const { campaign } = await seedReady(crowd, { status: 'scheduled', scheduled_at: Date.now() + hour })
    await act(campaign.id, 'pause')
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 48 * hour} where id = ${campaign.id}`)
    expect((await act(campaign.id, 'resume')).body).toMatchObject({ status: 'calculating', is_paused: false })
    expect(await runUntil(campaign.id, ['sent', 'failed'])).toMatchObject({ status: 'sent', sent_count: 5 })
  })

  it('lists what keeps such a campaign from being sent', async () => {
    const { campaign } = await seedReady(crowd, {
      status: 'scheduled',
      scheduled_at: Date.now() - hour,
      paused_at: Date.now() - 2 * hour,
      email_message_id: null,
    })
    expect(describeRefusal(await act(campaign.id, 'resume'))).toBe(
      '409 campaign_not_ready: required #/email_message_id',
    )
    expect(await loadCampaign(campaign.id)).toMatchObject({ status: 'scheduled', run: 0 })
  })

  it('lets a scheduled campaign start at its time', async () => {
    const at = Date.now() + hour
    const { campaign } = await seedReady(crowd, { status: 'scheduled', scheduled_at: at })
    await act(campaign.id, 'pause')
    const resumed = await act(campaign.id, 'resume')
    expect(resumed.body).toMatchObject({ status: 'scheduled', is_paused: false, waiting_reason: null })
    expect((await act(campaign.id, 'resume')).body.modified).toBe(resumed.body.modified)
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 1} where id = ${campaign.id}`)
    await sweepCampaigns(createJob())
    expect(await runUntil(campaign.id, ['sent'])).toMatchObject({ sent_count: 5 })
  })

  it('is refused in an archived edition and for campaigns that ended', async () => {
    const place = await seedCrowd(2)
    const id = await startCampaign(place)
    await act(id, 'pause')
    await write(sql`update editions set is_archived = 1 where id = ${place.edition}`)
    expect(describeRefusal(await act(id, 'resume'))).toBe('409 edition_archived')
    expect((await read(id)).allowed_actions).toEqual(['cancel'])
    await act(id, 'cancel')
    expect(describeRefusal(await act(id, 'resume'))).toBe('409 invalid_transition')
    expect(describeRefusal(await act(id, 'pause'))).toBe('409 invalid_transition')
  })
})

describe('the send window of a campaign', () => {
  it('keeps messages back until it opens, and says until when', async () => {
    const id = await startCampaign(crowd, { send_window: buildWindow(2, 3) })
    await runInVain(id)
    await project(id)
    const waiting = await read(id)
    expect(waiting).toMatchObject({ status: 'sending', is_paused: false, sent_count: 0 })
    expect(waiting.waiting_reason).toMatch(/^Outside its send window until 2.*\+00:00\.$/)
    const opensAt = Date.parse(waiting.next_attempt_at)
    expect(formatHour(opensAt)).toBe(waiting.send_window.from)
    const alarmAt = await inRecipientStore(id, (store) => store.storage.getAlarm())
    expect(alarmAt).toBe(opensAt)
    // Neither a sweep nor the list of failing services takes the wait for a fault.
    await write(sql`update campaigns set waiting_since = 1, waiting_reason = 'It failed.' where id = ${id}`)
    expect((await db.all(selectCampaignWaits)).filter(({ reason }) => reason === 'It failed.')).toEqual([])
    expect((await loadCampaign(id)).heartbeat_at).toBe(opensAt - 90_000)
  })

  it('can be opened while the campaign waits for it', async () => {
    const id = await startCampaign(crowd, { send_window: buildWindow(2, 3) })
    await runInVain(id)
    expect(describeRefusal(await patch(`/v1/campaigns/${id}`, { name: 'Other', send_window: null }))).toBe(
      '409 invalid_transition',
    )
    const send_window = buildWindow(-2, 2)
    const reply = await patch(`/v1/campaigns/${id}`, { send_window })
    expect([reply.status, reply.body.waiting_reason, reply.body.send_window]).toEqual([200, null, send_window])
    expect(await runUntil(id, ['sent'])).toMatchObject({ sent_count: 5, window_opens_at: null })
    expect(describeRefusal(await patch(`/v1/campaigns/${id}`, { send_window: null }))).toBe('409 invalid_transition')
  })

  it('can be taken away while the campaign is paused, which stays paused', async () => {
    const id = await startCampaign(crowd, { send_window: buildWindow(2, 3) })
    await act(id, 'pause')
    expect((await patch(`/v1/campaigns/${id}`, { send_window: null })).body).toMatchObject({
      is_paused: true,
      send_window: null,
      waiting_reason: 'The campaign is paused.',
    })
    await runInVain(id)
    await act(id, 'resume')
    expect(await runUntil(id, ['sent'])).toMatchObject({ sent_count: 5 })
  })

  it('holds for the next run too', async () => {
    const id = await startCampaign(crowd, { send_window: buildWindow(-2, 2) })
    await inRecipientStore(id, (store) => store.changeRecord({ status: 'failed', error_message: 'It stopped.' }))
    await project(id)
    await write(sql`update campaigns set send_window = ${JSON.stringify(buildWindow(2, 3))} where id = ${id}`)
    expect((await act(id, 'retry-failed')).body).toMatchObject({ status: 'sending' })
    await runInVain(id)
    expect(await readStats(id)).toMatchObject({ pending: 5, total_recipients: 5 })
  })

  it('is given when a campaign is created, and changed or taken away later', async () => {
    const body = {
      organization_id: crowd.organization,
      edition_id: crowd.edition,
      segment_id: (await seedSegment(crowd)).id,
      name: 'News',
      channel: 'email',
      send_window: { days: ['friday', 'monday'], from: '22:00', to: '02:00' },
    }
    const created = await post('/v1/campaigns', body)
    expect([created.status, created.body.send_window]).toEqual([201, body.send_window])
    const path = `/v1/campaigns/${created.body.id}`
    expect((await get(path)).body.send_window).toEqual(body.send_window)
    const changed = { ...body.send_window, to: '24:00' }
    expect((await patch(path, { send_window: changed })).body.send_window).toEqual(changed)
    expect((await patch(path, { name: 'Later' })).body.send_window).toEqual(changed)
    expect((await patch(path, { send_window: null })).body.send_window).toBeNull()
  })

  it.each([
    [{ days: [], from: '09:00', to: '10:00' }, 'min_items #/send_window/days'],
    [{ days: ['monday', 'monday'], from: '09:00', to: '10:00' }, 'repeated #/send_window/days'],
    [{ days: ['someday'], from: '09:00', to: '10:00' }, 'invalid_choice #/send_window/days/0'],
    [{ days: ['monday'], from: '09:00', to: '09:00' }, 'empty_window #/send_window/to'],
    [{ days: ['monday'], from: '24:00', to: '09:00' }, 'invalid #/send_window/from'],
    [{ days: ['monday'], from: '9:00', to: '09:00' }, 'invalid #/send_window/from'],
    [{ days: ['monday'], from: '09:00', to: '24:01' }, 'invalid #/send_window/to'],
    [{ days: ['monday'], from: '09:00' }, 'required #/send_window/to'],
    [{ days: ['monday'], from: '09:00', to: '10:00', timezone: 'UTC' }, 'unknown_field #/send_window/timezone'],
  ])('is refused when nothing could be sent in it: %j', async (send_window, expected) => {
    const { campaign } = await seedReady(crowd)
    expect(describeRefusal(await patch(`/v1/campaigns/${campaign.id}`, { send_window }))).toBe(
      `400 validation_error: ${expected}`,
    )
  })
})
