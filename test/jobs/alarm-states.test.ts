import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { endsAfterMs } from '../../src/domain/alarms.ts'
import { minuteMs } from '../../src/domain/time/instants.ts'
import { openJob } from '../../src/entry/job.ts'
import { sweepAlarms } from '../../src/modules/system/jobs.ts'
import { alertBindings, setMachineTime, startAlertReceiver } from '../support/alarms.ts'
import { crashAt } from '../support/crashes.ts'
import { dearRuns } from '../support/property-runs.ts'
import { seedDeadMessages } from '../support/seeding/dead-messages.ts'
import { db, write } from '../support/seeding/rows.ts'

afterEach(() => void vi.restoreAllMocks())

const queues = ['emails', 'refunds'] as const
type Queue = (typeof queues)[number]

/** A step happens before the sweep of a minute, or in it. */
const step = fc.oneof(
  fc.record({ act: fc.constantFrom('fail' as const, 'mend' as const), queue: fc.constantFrom(...queues) }),
  fc.record({ act: fc.constant('wait' as const), minutes: fc.constantFrom<number>(1, 1, 2, 3, 5, 9, 10, 12) }),
  fc.record({ act: fc.constant('answer' as const), status: fc.constantFrom(200, 200, 500, 302) }),
  fc.record({ act: fc.constant('crash' as const), at: fc.integer({ min: 1, max: 12 }) }),
)

const fails = { act: 'fail', queue: 'emails' } as const
const works = { act: 'mend', queue: 'emails' } as const
const waits = (minutes: number) => ({ act: 'wait', minutes }) as const
/** The cause comes back before the alarm ends, and is absent for a moment after the ten minutes. */
const flapping = [fails, waits(1), works, waits(5), fails, waits(9), works, waits(1), fails, waits(1)]

/** Says how often an alarm of one queue should begin and end. */
class Model {
  isFailing = false
  absentSince: number | null = null
  begun = 0
  ended = 0

  get stands(): boolean {
    return this.begun > this.ended
  }

  sweep(now: number): void {
    const { stands } = this
    if (this.isFailing) {
      this.absentSince = null
      if (!stands) this.begun++
    } else if (stands && this.absentSince === null) {
      this.absentSince = now
    } else if (stands && now - (this.absentSince ?? now) >= endsAfterMs) {
      this.ended++
      this.absentSince = null
    }
  }
}

it('whatever fails and whenever the Worker crashes, each alarm is posted when it begins and when it ends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      await write(sql`delete from alarms`, sql`delete from dead_messages`)
      vi.spyOn(console, 'warn').mockImplementation(() => {})
      const answers = { status: 200 }
      const accepted: { id: string; type: string; queue: string }[] = []
      startAlertReceiver(({ id, type, data }) => {
        if (answers.status === 200) accepted.push({ id, type, queue: data.subject ?? '' })
        return new Response(null, { status: answers.status })
      })
      const models = new Map<Queue, Model>(queues.map((queue) => [queue, new Model()]))
      let now = Math.ceil(Date.now() / minuteMs) * minuteMs
      let crashes = 0
      const sweep = async (bindings: object = {}) => {
        setMachineTime(now)
        const job = openJob({ ...env, ...alertBindings, ...bindings })
        await sweepAlarms({ ...job, now: () => now })
      }
      const compare = async () => {
        for (const model of models.values()) model.sweep(now)
        const rows = await db.all(sql<{ subject: Queue }>`select subject from alarms where ended_at is null`)
        const standing = queues.filter((queue) => models.get(queue)?.stands)
        expect(rows.map(({ subject }) => subject).toSorted()).toEqual(standing)
      }
      const pass = async (minutes: number) => {
        for (let minute = 0; minute < minutes; minute++) {
          now += minuteMs
          await sweep()
          await compare()
        }
      }
      for (const one of steps) {
        if (one.act === 'wait') await pass(one.minutes)
        if (one.act === 'answer') answers.status = one.status
        if (one.act === 'fail') {
          await seedDeadMessages(1, { queue: one.queue })
          ;(models.get(one.queue) as Model).isFailing = true
        }
        if (one.act === 'mend') {
          await write(sql`update dead_messages set retried_at = 1 where queue = ${one.queue}`)
          ;(models.get(one.queue) as Model).isFailing = false
        }
        if (one.act === 'crash') {
          // The sweep of the same minute runs again, so that the model need not know where the crash was.
          now += minuteMs
          const crash = crashAt(one.at)
          await sweep(crash.bindings).catch(() => undefined)
          if (crash.hasCrashed()) crashes++
          await sweep()
          await compare()
        }
      }
      answers.status = 200
      await write(sql`update dead_messages set retried_at = 1`)
      for (const model of models.values()) model.isFailing = false
      await pass(20)
      for (const [queue, model] of models) {
        const posts = accepted.filter((post) => post.queue === queue)
        const ids = new Map(posts.map(({ id, type }) => [id, type]))
        const types = [...ids.values()]
        expect([types.filter((type) => type === 'alarm.began').length, types.length - model.begun]).toEqual([
          model.begun,
          model.ended,
        ])
        expect(model.begun).toBe(model.ended)
        for (const [index, { id, type }] of posts.entries())
          if (type === 'alarm.ended')
            expect(posts.findIndex((post) => post.id === id.replace('ended', 'began'))).toBeLessThan(index)
      }
      expect(accepted.length - new Set(accepted.map(({ id }) => id)).size).toBeLessThanOrEqual(crashes)
      expect(await db.all(sql`select * from alarms`)).toEqual([])
      vi.restoreAllMocks()
    }),
    { numRuns: dearRuns(40, 4), examples: [[flapping]] },
  )
})
