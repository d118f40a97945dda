import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { CalculateMessage } from '../../../src/context.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { segmentLifecycle } from '../../../src/domain/segments.ts'
import {
  type Calculation,
  findCalculation,
  calculateStep,
} from '../../../src/modules/segments/calculation/calculation.ts'
import { recalculateSegment } from '../../../src/modules/segments/calculation/start-and-reset.ts'
import { resetSegmentToDraft } from '../../../src/modules/segments/calculation/start-and-reset.ts'
import { sweepCalculations, sweepLeftovers } from '../../../src/modules/segments/jobs.ts'
import { findSegment } from '../../../src/modules/segments/queries.ts'
import { updateSegment } from '../../../src/modules/segments/update.ts'
import { seedPeople } from '../../support/seeding/customers.ts'
import { givenSegment } from '../../support/seeding/messaging/segments.ts'
import { givenOrganization } from '../../support/seeding/organizations.ts'
import { db } from '../../support/seeding/rows.ts'
import { createCalculator, type Death, loadSegment } from '../../support/segments.ts'

const minute = 60_000
const size = 2

/** A machine may stop at any round trip, messages may be lost, late or doubled, and workers may pause. */
type Move =
  | { do: 'recalculate' | 'reset' | 'edit' | 'rename' | 'sweep' | 'join' | 'lose' }
  | { do: 'switch'; person: number }
  | { do: 'wait'; minutes: number }
  | { do: 'deliver'; message: number; death: Death | null }
  | { do: 'wake'; message: number }
  | { do: 'step'; worker: number }

const death = fc.option(
  fc.record({ roundTrip: fc.integer({ min: 1, max: 4 }), when: fc.constantFrom('before' as const, 'after' as const) }),
)
const any = fc.nat({ max: 20 })

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('recalculate' as const) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('deliver' as const), message: any, death }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wake' as const), message: any }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('step' as const), worker: any }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(1, 3, 20, 70) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('reset', 'edit', 'rename', 'sweep', 'join', 'lose' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('switch' as const), person: any }) },
)

async function seedWorld() {
  const organization = (await givenOrganization()).id
  const people = await seedPeople({ organization }, [{}, {}, {}, {}, {}])
  const { id } = (await givenSegment({ organization_id: organization })) as { id: string }
  return {
    id,
    organization,
    people: people.map((person) => person.id),
    machine: createCalculator(),
    /** All messages that were ever enqueued, each of which the queue may deliver again. */
    messages: [] as CalculateMessage[],
    workers: [] as Calculation[],
    edits: 0,
  }
}

type World = Awaited<ReturnType<typeof seedWorld>>

const refusals = new Set(['segment_calculating', 'segment_not_stuck'])

async function callVerb(world: World, verb: (ctx: ReturnType<World['machine']['ctx']>['ctx']) => Promise<unknown>) {
  const { ctx, after } = world.machine.ctx()
  try {
    await verb(ctx)
    await after()
  } catch (error) {
    if (!(error instanceof AppError && refusals.has(error.code))) throw error
  }
  world.messages.push(...world.machine.enqueued.splice(0))
}

const pickAt = <Item>(items: readonly Item[], index: number): Item | undefined =>
  items[index % Math.max(1, items.length)]

async function make(world: World, one: Move): Promise<void> {
  const { id, machine, messages, workers, organization } = world
  switch (one.do) {
    case 'recalculate':
      return callVerb(world, async (ctx) => recalculateSegment(ctx, await findSegment(ctx, id)))
    case 'reset':
      return callVerb(world, async (ctx) => resetSegmentToDraft(ctx, await findSegment(ctx, id)))
    case 'edit': {
      const expression = `size(user.id) > ${++world.edits}`
      return callVerb(world, async (ctx) => updateSegment(ctx, await findSegment(ctx, id), { expression }))
    }
    case 'rename':
      return callVerb(world, async (ctx) => updateSegment(ctx, await findSegment(ctx, id), { name: 'Renamed' }))
    case 'sweep':
      await sweepCalculations(machine.job)
      await sweepLeftovers(machine.job)
      return void messages.push(...machine.enqueued.splice(0))
    case 'join':
      return void world.people.push(...(await seedPeople({ organization }, [{}])).map((person) => person.id))
    case 'switch':
      return void (await db.batch([
        sql`update users set is_active = 1 - is_active where id = ${pickAt(world.people, one.person) ?? ''}`,
      ]))
    case 'lose':
      return void messages.splice(0)
    case 'wait':
      return void machine.advance(one.minutes * minute)
    case 'deliver': {
      const message = pickAt(messages, one.message)
      if (!message) return
      if (one.death) await machine.takeDying([message], size, one.death)
      else await machine.take([message], size)
      return
    }
    case 'wake': {
      const message = pickAt(messages, one.message)
      const calculation = message && (await findCalculation(machine.job, id, message.epoch))
      if (calculation) workers.push(calculation)
      return
    }
    case 'step': {
      const worker = pickAt(workers, one.worker)
      if (!worker) return
      const before = await look(world)
      const isFenced =
        before.row.status !== 'calculating' ||
        before.row.epoch !== worker.epoch ||
        before.row.cursor_id !== worker.cursor_id
      const step = await calculateStep(machine.job, worker, size)
      expect(step.state === 'overtaken').toBe(isFenced)
      if (isFenced) expect(await look(world)).toEqual(before)
      if (step.state === 'calculating' && one.worker % 2) workers.push(step.calculation)
    }
  }
}

async function look({ id }: Pick<World, 'id'>) {
  const row = await loadSegment(id)
  const [members, leftovers] = await db.batch([
    sql<{ epoch: number; excluded_for: string | null; is_reached: number }>`select epoch, excluded_for,
        coalesce((created_at, users.seq) <= (${row.cursor_id || '[]'} ->> 0, ${row.cursor_id || '[]'} ->> 1), 0) as is_reached
      from segment_members join users on users.seq = user_seq where segment_seq = ${row.seq} order by epoch, user_seq`,
    sql<{ epoch: number }>`select epoch from segment_leftovers where segment_seq = ${row.seq}`,
  ])
  return { row, members, leftovers: leftovers.map(({ epoch }) => epoch) }
}

/** Checks what must hold at every moment. */
async function check(world: World): Promise<void> {
  const { row, members, leftovers } = await look(world)
  const { status } = row
  expect(segmentLifecycle.states).toContain(status)
  // Readers see the complete set of one calculation, with the size that the segment shows.
  const currentMembers = members.filter(({ epoch }) => epoch === row.members_epoch)
  expect(currentMembers.filter(({ excluded_for }) => excluded_for === null)).toHaveLength(row.user_count)
  expect(Object.values(row.excluded).reduce((sum, count) => sum + count, row.user_count)).toBe(currentMembers.length)
  expect(row.calculated_at === null).toBe(row.members_epoch === 0)
  if (row.members_epoch > 0) expect(currentMembers.length).toBeGreaterThanOrEqual(5)
  expect(row.members_epoch).toBeLessThanOrEqual(row.epoch)
  if (status === 'ready') expect([row.members_epoch, row.error_message]).toEqual([row.epoch, ''])
  if (status === 'draft') expect([row.members_epoch, row.user_count]).toEqual([0, 0])
  expect(row.heartbeat_at === null).toBe(status !== 'calculating')
  // Sets that are not shown belong to a running calculation, up to its cursor, or to the sweep.
  for (const { epoch, is_reached } of members) {
    if (epoch === row.members_epoch) continue
    const isUnderWay = status === 'calculating' && epoch === row.epoch && is_reached === 1
    expect(isUnderWay || leftovers.includes(epoch), `set ${epoch} of ${status} ${row.epoch}`).toBe(true)
  }
  expect(leftovers).not.toContain(row.members_epoch)
  if (status === 'calculating') expect(leftovers).not.toContain(row.epoch)
}

/** After any events, sweeps and their messages end every calculation, and no other set is left. */
async function runToEnd(world: World): Promise<void> {
  const { machine } = world
  for (let turn = 0; turn < 4; turn++) {
    machine.advance(3 * minute)
    await sweepCalculations(machine.job)
    for (const message of machine.enqueued.splice(0)) await machine.take([message], size)
  }
  expect((await loadSegment(world.id)).status).not.toBe('calculating')
  machine.advance(70 * minute)
  await sweepLeftovers(machine.job)
  await sweepLeftovers(machine.job)
  const { row, members, leftovers } = await look(world)
  expect(leftovers).toEqual([])
  expect(members.filter(({ epoch }) => epoch !== row.members_epoch)).toEqual([])
  await check(world)
}

it('calculations stay correct in any order of edits, resets, crashes, sweeps and late messages', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 6, maxLength: 25 }), async (moves) => {
      const world = await seedWorld()
      for (const nextMove of moves) {
        await make(world, nextMove)
        await check(world)
      }
      await runToEnd(world)
    }),
    { numRuns: 30, endOnFailure: true },
  )
})
