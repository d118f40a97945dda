import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { lostAfterMs, quietAfterMs } from '../../../src/domain/segments.ts'
import worker from '../../../src/index.ts'
import { findCalculation, calculateStep } from '../../../src/modules/segments/calculation/calculation.ts'
import { leftoverAfterMs } from '../../../src/modules/segments/calculation/members.ts'
import { recalculateSegment } from '../../../src/modules/segments/calculation/start-and-reset.ts'
import { listSegmentMembers } from '../../../src/modules/segments/index.ts'
import { sweepCalculations, sweepLeftovers } from '../../../src/modules/segments/jobs.ts'
import { findSegment } from '../../../src/modules/segments/queries.ts'
import { get, patch, post, remove } from '../../support/api.ts'
import { dump } from '../../support/dump.ts'
import { seedPeople } from '../../support/seeding/customers.ts'
import { givenSegment } from '../../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { db } from '../../support/seeding/rows.ts'
import { createCalculator, type Death, listMembers, buildMessage, loadSegment } from '../../support/segments.ts'

const size = 2
const minute = 60_000

/** Makes a segment of five people whose calculation has just begun, in three steps of two. */
async function seedCalculation(fields: Record<string, unknown> = {}) {
  const organisation = await givenOrganization()
  const people = await seedPeople({ organization: organisation.id }, [{}, {}, {}, {}, {}])
  const segment = await givenSegment({ organization_id: organisation.id, ...fields })
  const machine = createCalculator()
  const begin = async () => {
    const reply = await post(`/v1/segments/${segment.id}/recalculate`, undefined)
    expect(reply.status, reply.text).toBe(200)
    return buildMessage(await loadSegment(segment.id))
  }
  return { organisation, people, id: segment.id as string, machine, begin, message: await begin() }
}

const loadCalculation = async (
  machine: ReturnType<typeof createCalculator>,
  message: { segment_id: string; epoch: number },
) => {
  const calculation = await findCalculation(machine.job, message.segment_id, message.epoch)
  if (!calculation) throw new Error('it is not calculating')
  return calculation
}

const setsOf = (seq: number) =>
  db.all(sql<{ epoch: number; n: number }>`select epoch, count(*) as n from segment_members
    where segment_seq = ${seq} group by epoch order by epoch`)

describe('a calculation', () => {
  it('shows no result before its end', async () => {
    const { machine, message, id, people } = await seedCalculation()
    let step = await calculateStep(machine.job, await loadCalculation(machine, message), size)
    expect(await loadSegment(id)).toMatchObject({
      status: 'calculating',
      user_count: 0,
      members_epoch: 0,
      population_count: 5,
    })
    expect((await get(`/v1/segments/${id}`)).body).toMatchObject({ progress: 0.4, user_count: 0 })
    for (const ending of ['calculating', 'ready']) {
      if (step.state !== 'calculating') throw new Error('ended too early')
      step = await calculateStep(machine.job, step.calculation, size)
      expect(step.state).toBe(ending)
    }
    expect(await loadSegment(id)).toMatchObject({
      status: 'ready',
      user_count: 5,
      members_epoch: 1,
      heartbeat_at: null,
    })
    expect(await listMembers(id)).toEqual(people.map((person) => person.id))
  })

  it('takes one round trip for a small segment, after reading it', async () => {
    const { machine, message, id } = await seedCalculation()
    await machine.take([message], undefined, { roundTrip: 3, when: 'before' })
    expect((await loadSegment(id)).status).toBe('ready')
  })

  it('ends at once in an empty organisation', async () => {
    const organisation = await givenOrganization()
    const { id } = await givenSegment({ organization_id: organisation.id })
    await post(`/v1/segments/${id}/recalculate`, undefined)
    await createCalculator().take([buildMessage(await loadSegment(id))])
    expect(await loadSegment(id)).toMatchObject({ status: 'ready', user_count: 0, members_epoch: 1 })
  })

  it('uses the time of its start until its end', async () => {
    const { machine, message, id } = await seedCalculation({ expression: 'now > timestamp("2026-01-01T00:00:00Z")' })
    await db.batch([sql`update segments set calculation_started_at = ${Date.UTC(2025, 0, 1)} where id = ${id}`])
    await machine.take([message], size)
    expect((await loadSegment(id)).user_count).toBe(0)
  })

  it('ignores people who are added while it runs', async () => {
    const { machine, message, id, organisation } = await seedCalculation()
    await seedPeople({ organization: organisation.id }, [{}])
    await machine.take([message], size)
    expect((await loadSegment(id)).user_count).toBe(5)
  })

  it('shows the old members until all new ones are stored, and to running exports for an hour more', async () => {
    const { machine, message, id, begin, people } = await seedCalculation()
    await machine.take([message], size)
    const old = await loadSegment(id)
    await db.batch([sql`update users set email = null where id = ${people[0]?.id ?? ''}`])
    const second = await begin()
    await machine.takeDying([second], size, { roundTrip: 3, when: 'after' })
    expect(await loadSegment(id)).toMatchObject({ status: 'calculating', user_count: 5, members_epoch: 1 })
    expect(await listMembers(id)).toHaveLength(5)
    await machine.take([second], size)
    expect(await loadSegment(id)).toMatchObject({
      status: 'ready',
      user_count: 4,
      members_epoch: 2,
      excluded: { no_address: 1 },
    })
    expect(await listMembers(id)).toHaveLength(4)
    const read = () => listSegmentMembers(machine.job.db, { segmentSeq: old.seq, epoch: 1 }, 0, 10)
    await sweepLeftovers(machine.job)
    expect(await read()).toHaveLength(5)
    machine.advance(leftoverAfterMs + minute)
    await sweepLeftovers(machine.job)
    expect(await read()).toHaveLength(0)
    expect(await setsOf(old.seq)).toEqual([{ epoch: 2, n: 5 }])
  })
})

describe('a crash of the consumer of calculations', () => {
  const deaths = [1, 2, 3, 4].flatMap((roundTrip): Death[] => [
    { roundTrip, when: 'before' },
    { roundTrip, when: 'after' },
  ])

  it.each(deaths)('is followed by another consumer that continues: %j', async (death) => {
    const { machine, message, id, people } = await seedCalculation()
    await machine.takeDying([message], size, death)
    const half = await loadSegment(id)
    if (half.status === 'calculating') expect([half.user_count, half.members_epoch]).toEqual([0, 0])
    await machine.take([message], size)
    expect(await loadSegment(id)).toMatchObject({ status: 'ready', user_count: 5 })
    expect(await listMembers(id)).toEqual(people.map((person) => person.id))
  })

  it('does not stop the calculation, even when its message is lost', async () => {
    const { machine, message, id } = await seedCalculation()
    await machine.takeDying([message], size, { roundTrip: 2, when: 'after' })
    await sweepCalculations(machine.job)
    expect(machine.enqueued).toEqual([])
    machine.advance(quietAfterMs + 1000)
    await sweepCalculations(machine.job)
    expect(machine.enqueued).toEqual([message])
    await machine.take(machine.enqueued, size)
    expect((await loadSegment(id)).status).toBe('ready')
  })

  it('makes the calculation fail after a quarter of an hour', async () => {
    const { machine, message, id } = await seedCalculation()
    await machine.takeDying([message], size, { roundTrip: 2, when: 'after' })
    machine.advance(lostAfterMs + 1000)
    await sweepCalculations(machine.job)
    expect((await get(`/v1/segments/${id}`)).body).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining('stopped'),
    })
    const lateCalculation = await findCalculation(machine.job, id, message.epoch)
    expect(lateCalculation).toBeNull()
    machine.advance(leftoverAfterMs + minute)
    await sweepLeftovers(machine.job)
    expect(await setsOf((await loadSegment(id)).seq)).toEqual([])
  })
})

describe('the messages of calculations', () => {
  it('run one calculation when they arrive several times', async () => {
    const { machine, message, id } = await seedCalculation()
    await Promise.all([machine.take([message], size), machine.take([message, message], size)])
    const ready = await loadSegment(id)
    expect(ready).toMatchObject({ status: 'ready', user_count: 5 })
    await machine.take([message], size)
    expect(await loadSegment(id)).toEqual(ready)
    expect(await setsOf(ready.seq)).toEqual([{ epoch: 1, n: 5 }])
  })

  it('are read from the queue, and unknown messages are acknowledged', async () => {
    const { message, id } = await seedCalculation()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const bodies = [message, { type: 'segment.calculate', segment_id: 7 }]
    const batch = createMessageBatch(
      'segments',
      bodies.map((body) => ({ id: crypto.randomUUID(), timestamp: new Date(), attempts: 1, body })),
    )
    await worker.queue(batch, env)
    const result = await getQueueResult(batch, createExecutionContext())
    expect(result.explicitAcks.toSorted()).toEqual(batch.messages.map((sent) => sent.id).toSorted())
    expect((await loadSegment(id)).status).toBe('ready')
    logged.mockRestore()
  })

  it('are enqueued by the request', async () => {
    const { machine, id } = await seedCalculation()
    await db.batch([sql`update segments set status = 'failed' where id = ${id}`])
    const { ctx, after } = machine.ctx()
    await recalculateSegment(ctx, await findSegment(ctx, id))
    expect(machine.enqueued).toEqual([])
    await after()
    expect(machine.enqueued).toEqual([{ type: 'segment.calculate', segment_id: id, epoch: 2 }])
  })
})

describe('a superseded calculation', () => {
  const fences: Record<string, (id: string) => Promise<unknown>> = {
    'by a reset': async (id) => {
      await db.batch([sql`update segments set heartbeat_at = 1 where id = ${id}`])
      expect((await post(`/v1/segments/${id}/reset-to-draft`, undefined)).status).toBe(200)
    },
    'by a reset and another calculation': async (id) => {
      await db.batch([sql`update segments set heartbeat_at = 1 where id = ${id}`])
      await post(`/v1/segments/${id}/reset-to-draft`, undefined)
      expect((await post(`/v1/segments/${id}/recalculate`, undefined)).status).toBe(200)
    },
    'by an edit after a reset': async (id) => {
      await db.batch([sql`update segments set heartbeat_at = 1 where id = ${id}`])
      await post(`/v1/segments/${id}/reset-to-draft`, undefined)
      expect((await patch(`/v1/segments/${id}`, { expression: 'user.is_verified' })).status).toBe(200)
    },
    'by the deletion': async (id) => expect((await remove(`/v1/segments/${id}`)).status).toBe(204),
    'by another machine that was faster': async (id) => {
      const segment = await loadSegment(id)
      await createCalculator().takeDying([buildMessage(segment)], size, { roundTrip: 2, when: 'after' })
    },
    'by the end': async (id) => createCalculator().take([buildMessage(await loadSegment(id))], size),
  }

  const cases = Object.keys(fences).flatMap((name) => [
    [name, 'before its first step'],
    [name, 'in the middle'],
  ])

  it.each(cases)('changes nothing: %s, %s', async (name = '', moment = '') => {
    const { machine, message, id } = await seedCalculation()
    let asleep = await loadCalculation(machine, message)
    if (moment === 'in the middle') {
      const first = await calculateStep(machine.job, asleep, size)
      if (first.state !== 'calculating') throw new Error('ended too early')
      asleep = first.calculation
    }
    await fences[name]?.(id)
    const before = await dump()
    expect((await calculateStep(machine.job, asleep, size)).state).toBe('overtaken')
    expect(await dump()).toEqual(before)
  })
})

describe('the expression of a segment', () => {
  it('makes the calculation fail with a message when the database cannot run it, and members stay', async () => {
    const { machine, message, id, begin } = await seedCalculation()
    await machine.take([message], size)
    const second = await begin()
    const calculation = await loadCalculation(machine, second)
    const { job: healthy } = createCalculator()
    let hasRefused = false
    const refuseOnce: typeof healthy.db.batch = async (statements) => {
      if (hasRefused) return healthy.db.batch(statements)
      hasRefused = true
      throw new Error('D1_ERROR: Expression tree is too large: SQLITE_ERROR')
    }
    const job = { ...machine.job, db: Object.assign(machine.job.db, { batch: refuseOnce }) }
    expect((await calculateStep(job, calculation, size)).state).toBe('failed')
    expect(await loadSegment(id)).toMatchObject({ status: 'failed', user_count: 5, members_epoch: 1 })
    expect((await get(`/v1/segments/${id}`)).body.error_message).toContain('could not evaluate')
    expect((await get(`/v1/segments/${id}/export`)).body.code).toBe('segment_not_ready')
    expect((await post(`/v1/segments/${id}/recalculate`, undefined)).body.error_message).toBe('')
  })

  it('makes the calculation fail when it is no longer valid', async () => {
    const { machine, message, id } = await seedCalculation()
    await db.batch([sql`update segments set expression = 'user.gone' where id = ${id}`])
    await machine.take([message], size)
    expect(await loadSegment(id)).toMatchObject({ status: 'failed' })
    expect((await loadSegment(id)).error_message).toContain('gone')
  })

  it('excludes only the people for whom it is an error', async () => {
    const { machine, message, id, people } = await seedCalculation({ expression: 'user.metadata.age > 18.0' })
    await db.batch([
      sql`update users set metadata = '{"age": 20}' where id = ${people[1]?.id ?? ''}`,
      sql`update users set metadata = '{"age": "old"}' where id = ${people[2]?.id ?? ''}`,
    ])
    await machine.take([message], size)
    expect(await listMembers(id)).toEqual([people[1]?.id])
  })
})
