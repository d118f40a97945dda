import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BatchWriter } from '../../src/modules/webhooks/delivery/batch-writer.ts'
import { WorkerPool } from '../../src/modules/webhooks/delivery/worker-pool.ts'

const lookEveryMs = 30
/** Posts take this long on a machine that is well; those that hang, until their timeout. */
const quickMs = 20
const timeoutMs = 15_000
/** Five looks, the one under way when the claim came, and the time of a quick post. */
const boundMs = 6 * lookEveryMs + quickMs

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => vi.useRealTimers())

interface Task {
  name: number
  hangs: boolean
}

/** Pools that hand on to one another as objects do, and what each task waited. */
function chain(size: number) {
  const waited = new Map<number, number>()
  const runs = new Map<number, number>()
  let most = 0
  const add = (tasks: readonly Task[]): void => {
    const addedAt = performance.now()
    let running = 0
    const pool = new WorkerPool<Task>({
      size,
      ownerOf: ({ name }) => `owner ${name}`,
      run: async ({ name, hangs }) => {
        most = Math.max(most, ++running)
        runs.set(name, (runs.get(name) ?? 0) + 1)
        waited.set(name, (waited.get(name) ?? 0) + performance.now() - addedAt)
        await new Promise((resolve) => setTimeout(resolve, hangs ? timeoutMs : quickMs))
        running--
      },
      giveAway: (given, heldUpBy) => {
        expect(heldUpBy.length).toBeGreaterThan(0)
        for (const { name } of given) waited.set(name, (waited.get(name) ?? 0) + performance.now() - addedAt)
        add(given)
      },
      lookEveryMs,
    })
    pool.add(tasks)
  }
  return { add, waited, runs, most: () => most }
}

describe('WorkerPool', () => {
  it('runs every task once, never more than its size at a time, and delays quick tasks for a bounded time only', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 80 }), async (hanging) => {
        const { add, waited, runs, most } = chain(5)
        const tasks = hanging.map((hangs, name) => ({ name, hangs }))
        add(tasks)
        await vi.advanceTimersByTimeAsync(2 * timeoutMs)
        expect(runs.size).toBe(tasks.length)
        expect(new Set(runs.values())).toEqual(new Set([1]))
        expect(most()).toBeLessThanOrEqual(5)
        // Each pool in the chain holds at least one task that hangs.
        const pools = 1 + hanging.filter(Boolean).length
        for (const { name, hangs } of tasks) if (!hangs) expect(waited.get(name)).toBeLessThanOrEqual(pools * boundMs)
      }),
      { numRuns: 60 },
    )
  })

  it('hands nothing over while tasks end, for any number of waiting tasks', async () => {
    const given: unknown[] = []
    let ran = 0
    const pool = new WorkerPool<number>({
      size: 5,
      ownerOf: (task) => `owner ${task % 20}`,
      run: async () => {
        await new Promise((resolve) => setTimeout(resolve, quickMs))
        ran++
      },
      giveAway: (tasks) => given.push(...tasks),
      lookEveryMs,
    })
    pool.add(Array.from({ length: 500 }, (_, at) => at))
    await vi.advanceTimersByTimeAsync(100 * quickMs + 1)
    expect(given).toEqual([])
    expect(ran).toBe(500)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('hands the waiting tasks over within three checks when every slot is blocked', async () => {
    const given: number[] = []
    const heldUp: number[] = []
    const pool = new WorkerPool<number>({
      size: 2,
      ownerOf: String,
      run: () => new Promise(() => undefined),
      giveAway: (tasks, heldUpBy) => {
        given.push(...tasks)
        heldUp.push(...heldUpBy)
      },
      lookEveryMs,
    })
    pool.add([1, 2, 3, 4])
    await vi.advanceTimersByTimeAsync(3 * lookEveryMs)
    expect(given).toEqual([3, 4])
    expect(heldUp).toEqual([1, 2])
    expect(pool.waiting).toBe(0)
  })

  it('gives an owner whose tasks hang one slot while tasks of others wait, and keeps the order of each owner', async () => {
    const begun: string[] = []
    const pool = new WorkerPool<string>({
      size: 5,
      ownerOf: (task) => task.slice(0, 1),
      run: async (task) => {
        begun.push(task)
        await new Promise((resolve) => setTimeout(resolve, 'xy'.includes(task.slice(0, 1)) ? timeoutMs : 5))
      },
      giveAway: () => expect.unreachable(),
      lookEveryMs,
    })
    pool.add(['x1', 'x2', 'x3', 'y1', 'y2', 'y3', 'a1', 'b1', 'c1', 'd1', 'a2', 'b2', 'c2', 'a3'])
    await vi.advanceTimersByTimeAsync(lookEveryMs - 1)
    expect(begun.slice(0, 5)).toEqual(['x1', 'y1', 'a1', 'b1', 'c1'])
    for (const owner of 'abcdxy')
      expect(begun.filter((task) => task.startsWith(owner))).toEqual(
        begun.filter((task) => task.startsWith(owner)).toSorted(),
      )
    expect(begun).toEqual(expect.arrayContaining(['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'c2', 'd1']))
  })
})

describe('BatchWriter', () => {
  it('writes one batch at a time, in order, each item once, and later items in the next batch', async () => {
    const item = fc.record({ afterMs: fc.integer({ min: 0, max: 60 }), writeMs: fc.integer({ min: 1, max: 90 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 40 }), fc.boolean(), async (items, isUrgent) => {
        const written: number[] = []
        let writing = 0
        const writer = new BatchWriter<number>({
          write: async (batch) => {
            expect(++writing).toBe(1)
            await new Promise((resolve) => setTimeout(resolve, items[batch[0] ?? 0]?.writeMs))
            written.push(...batch)
            writing--
          },
          gatherMs: () => (isUrgent ? 0 : 80),
        })
        for (const [at, { afterMs }] of items.entries()) {
          await vi.advanceTimersByTimeAsync(afterMs)
          writer.add(at)
        }
        await vi.advanceTimersByTimeAsync(10_000)
        expect(written).toEqual(items.map((_, at) => at))
        expect(writer.isIdle).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('gathers again when a batch has brought new work', async () => {
    const batches: number[][] = []
    let waiting = 0
    const writer = new BatchWriter<number>({
      write: async (batch) => {
        batches.push(batch)
        await new Promise((resolve) => setTimeout(resolve, 10))
        waiting = batches.length === 1 ? 20 : 0
      },
      gatherMs: () => (waiting <= 10 ? 0 : 80),
    })
    writer.add(1)
    writer.add(2)
    await vi.advanceTimersByTimeAsync(10)
    writer.add(3)
    expect(batches).toEqual([[1]])
    expect(writer.isIdle).toBe(false)
    await vi.advanceTimersByTimeAsync(79)
    expect(batches).toEqual([[1]])
    await vi.advanceTimersByTimeAsync(1)
    expect(batches).toEqual([[1], [2, 3]])
    await vi.advanceTimersByTimeAsync(10)
    expect(writer.isIdle).toBe(true)
  })
})
