import { env } from 'cloudflare:workers'
import { array, assert, asyncProperty, integer } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Database } from '../../../src/db/database.ts'
import { auditLog } from '../../../src/db/schema/audit-log.ts'
import { webhookEvents } from '../../../src/db/schema/webhooks.ts'
import { insertAll } from '../../../src/db/write.ts'
import { newMeter } from '../../../src/domain/meter.ts'
import { sweepErasures } from '../../../src/modules/personal-data/jobs.ts'
import { get, post } from '../../support/api.ts'
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
import { findCellsWith, finishErasures, givenKnown } from '../../support/personal-data.ts'
import { checkSalesCounts } from '../../support/sales-counts.ts'
import { seedCrowd, seedReady, inRecipientStore } from '../../support/seeding/messaging/campaigns.ts'
import { freshId, write } from '../../support/seeding/rows.ts'

checkSalesCounts()

async function sending(count: number) {
  const crowd = await seedCrowd(count)
  const { campaign } = await seedReady(crowd)
  await post(`/v1/campaigns/${campaign.id}/send-now`, {})
  for (let turn = 0; turn < 50 && (await getCampaignObject(campaign.id).readSnapshot())?.status !== 'sending'; turn++)
    await runAlarm(campaign.id)
  const [person] = await env.DB.prepare('select id, seq, email from users where id = ?')
    .bind(crowd.people[0]?.id)
    .all<{ id: string; seq: number; email: string }>()
    .then(({ results }) => results)
  if (!person) throw new Error('nobody is there')
  return { id: campaign.id, person }
}

describe('a running campaign with an erased recipient', () => {
  it('sends nothing to that person', async () => {
    const { id, person } = await sending(5)
    expect((await post(`/v1/user/${person.id}/erase`, {})).status).toBe(200)
    const row = await runUntil(id, ['sent', 'failed'])
    expect(row).toMatchObject({ status: 'sent', sent_count: 4, skipped_count: 1, total_recipients: 4 })
    expect((await listCaptured(id)).filter(({ recipient }) => recipient.includes(person.email))).toEqual([])
  })

  it('skips the person when the erasure comes before the next chunk, and counts correctly', async () => {
    const { id, person } = await sending(5)
    await post(`/v1/user/${person.id}/erase`, {})
    await sweepErasures(createJob())
    expect(await getCampaignObject(id).findRecipient(person.seq)).toMatchObject({
      state: 'skipped',
      reason: 'inactive',
    })
    expect(await runUntil(id, ['sent', 'failed'])).toMatchObject({
      sent_count: 4,
      skipped_count: 1,
      total_recipients: 4,
    })
    expect(await readStats(id)).toMatchObject({ total_recipients: 4, sent: 4, skipped: 1 })
    expect((await get(`/v1/campaigns/${id}/recipients?state=skipped`)).body.results).toMatchObject([
      { id: person.id, address: '', user: { email: null, full_name: '' } },
    ])
  })

  it.each([
    ['is under way', 'claimed', 0],
    ['has to be repeated as it was', 'ready', 1],
  ])('keeps the data of the person while a call %s, and the erasure is tried again', async (_, state, isRepeat) => {
    const { id, person } = await sending(3)
    await inRecipientStore(id, (store) =>
      store.storage.sql.exec(
        `insert into chunks (run, content_run, members, state, is_repeat, not_before, claim_id, claimed_until)
          values (1, 1, ?, ?, ?, 4102444800000, 'clm_test', 4102444800000)`,
        JSON.stringify([person.seq]),
        state,
        isRepeat,
      ),
    )
    await post(`/v1/user/${person.id}/erase`, {})
    const now = Date.now()
    await sweepErasures(createJob())
    expect(await getCampaignObject(id).findRecipient(person.seq)).toMatchObject({
      address: person.email,
      state: 'pending',
    })
    await inRecipientStore(id, (store) => store.storage.sql.exec("delete from chunks where claim_id = 'clm_test'"))
    await sweepErasures(createJob({ now: () => now + 30_000 }))
    expect(await getCampaignObject(id).findRecipient(person.seq)).toMatchObject({ address: person.email })
    await sweepErasures(createJob({ now: () => now + 90_000 }))
    expect(await getCampaignObject(id).findRecipient(person.seq)).toMatchObject({ address: null })
  })

  it('does not retry the message to that person', async () => {
    const { id, person } = await sending(3)
    await inRecipientStore(id, (store) =>
      store.recordOutcomes(
        new Map([[person.seq, { to: 'failed', reason: 'unreachable', code: 'http_503', detail: person.email }]]),
        false,
      ),
    )
    await runUntil(id, ['sent', 'failed'])
    await post(`/v1/user/${person.id}/erase`, {})
    await sweepErasures(createJob())
    expect(await getCampaignObject(id).findRecipient(person.seq)).toMatchObject({ state: 'failed', detail: '' })
    expect((await post(`/v1/campaigns/${id}/retry-failed`, {})).status).toBe(200)
    for (let turn = 0; turn < 5; turn++) {
      await runAlarm(id)
      await consume(id)
    }
    expect(
      (await listCaptured(id)).map(({ recipient }) => recipient).filter((to) => /erased|guest-\d+-0@/.test(to)),
    ).toEqual([])
    expect(await loadCampaign(id)).toMatchObject({ status: 'sent', sent_count: 2 })
  })
})

describe('an erasure', () => {
  it('finds the person in stored events, with any number of other events between', async () => {
    const person = await givenKnown()
    const created_at = Date.now()
    const { organization_id } = person
    const event = (payload: string) => ({
      id: freshId('webhook_event'),
      organization_id,
      kind: 'purchase.action' as const,
      payload,
      created_at,
    })
    const [mark = ''] = person.marks
    await write(
      ...insertAll(
        webhookEvents,
        Array.from({ length: 4100 }, () => event('{}')),
      ),
    )
    const user = { api_id: person.id, email: person.email }
    const last = event(
      JSON.stringify({ data: { user, order: { id: 'ord_1', order_number: `kept-${organization_id}` } } }),
    )
    await write(...insertAll(webhookEvents, [last]))
    await post(`/v1/user/${person.id}/erase`, {})
    await finishErasures()
    const row = await env.DB.prepare('select payload from webhook_events where id = ?')
      .bind(last.id)
      .first<{ payload: string }>()
    expect(JSON.parse(row?.payload ?? '')).toEqual({
      data: {
        user: { api_id: person.id, email: null },
        order: { id: 'ord_1', order_number: `kept-${organization_id}` },
      },
    })
    expect(await findCellsWith({ ...person, marks: [mark] })).toEqual({})
  })

  it('hides the addresses in the audit log, with any number of entries between', async () => {
    const person = await givenKnown()
    const entry = (text: string) => ({
      id: freshId('audit_entry'),
      organization_id: person.organization_id,
      action: 'updateCampaign',
      actor_id: 'root',
      resource_type: 'campaign',
      resource_id: 'cmp_1',
      changes: [{ field: 'name', before: null, after: text }],
      request_id: 'req_1',
      created_at: Date.now(),
    })
    const entries = [
      person.email,
      `x${person.email}`,
      ...Array.from({ length: 4100 }, () => 'nobody'),
      person.phone,
    ].map(entry)
    await write(...insertAll(auditLog, entries))
    await post(`/v1/user/${person.id}/erase`, {})
    await finishErasures()
    const { results } = await env.DB.prepare(
      `select changes ->> '$[0].after' as name, changes ->> '$[0].is_hidden' as is_hidden, count(*) as n from audit_log
        where organization_id = ? and resource_id = 'cmp_1' group by 1, 2 order by n`,
    )
      .bind(person.organization_id)
      .all()
    expect(results).toEqual([
      { name: `x${person.email}`, is_hidden: null, n: 1 },
      { name: null, is_hidden: 1, n: 2 },
      { name: 'nobody', is_hidden: null, n: 4100 },
    ])
  })

  it('waits for a campaign that cannot be reached, and completes in the end', async () => {
    const person = await givenKnown()
    await post(`/v1/user/${person.id}/erase`, {})
    const job = createJob()
    const unreachable = { get: () => ({ erase: () => Promise.reject(new Error('the object was not reached')) }) }
    await expect(sweepErasures({ ...job, senders: unreachable as unknown as typeof job.senders })).rejects.toThrow(
      'erasures could not be finished',
    )
    expect(Object.keys(await findCellsWith(person))).toContain('campaign/recipients.address')
    await finishErasures()
    expect(await findCellsWith(person)).toEqual({})
    expect((await post(`/v1/user/${person.id}/erase`, {})).body.status).toBe('completed')
  })

  it('completes after a crash at any statement, and leaves no trace', async () => {
    await assert(
      asyncProperty(array(integer({ min: 1, max: 9 }), { maxLength: 4 }), async (deaths) => {
        const person = await givenKnown()
        await post(`/v1/user/${person.id}/erase`, {})
        let minutes = 0
        for (const calls of deaths) {
          let remainingCalls = calls
          const dying = {
            prepare: (text: string) => env.DB.prepare(text),
            batch: async <T>(statements: D1PreparedStatement[]) => {
              if (remainingCalls-- <= 0) throw new Error('it died here')
              return env.DB.batch<T>(statements)
            },
          }
          const at = Date.now() + 60_000 * minutes
          minutes += 2
          const job = createJob({ now: () => at, db: new Database(dying, newMeter()) })
          await sweepErasures(job).catch(() => undefined)
        }
        for (let turn = 0; turn < 5; turn++) {
          const at = Date.now() + 60_000 * (minutes += 3)
          await sweepErasures(createJob({ now: () => at }))
        }
        expect(await findCellsWith(person)).toEqual({})
        expect((await post(`/v1/user/${person.id}/erase`, {})).body.status).toBe('completed')
      }),
      { numRuns: 8 },
    )
  })
})
