import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { JobCtx } from '../../src/context.ts'
import { runSweeps, type Sweeps } from '../../src/entry/run-sweeps.ts'
import { realJob } from '../support/campaigns.ts'

const minuteMs = 60_000

/** Sweeps by their names that each make so many calls of the database, and note that they ran. */
const sweepsOf = (calls: Readonly<Record<string, number>>, ran: string[]): Sweeps =>
  Object.fromEntries(
    Object.entries(calls).map(([name, count]) => [
      name,
      async ({ db }: JobCtx) => {
        ran.push(name)
        for (let call = 0; call < count; call++) await db.first(sql`select 1`)
      },
    ]),
  )

/** The names of the sweeps that ran in a minute, and the calls that they made. */
async function minuteOf(due: Record<string, number>, ofLists: Record<string, number>, minute: number) {
  const ran: string[] = []
  const job = realJob({ now: () => minute * minuteMs + 700 })
  await runSweeps(job, sweepsOf(due, ran), sweepsOf(ofLists, ran), 10)
  return { ran, calls: job.db.meter.round_trips }
}

it('sweeps of lists run after all others, and leave the calls that others need', async () => {
  const calls = fc.integer({ min: 0, max: 6 })
  const lists = fc.array(calls, { minLength: 1, maxLength: 5 })
  const named = (prefix: string, counts: readonly number[]) =>
    Object.fromEntries(counts.map((count, index) => [`${prefix} ${index}`, count]))
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { maxLength: 4 }), lists, fc.nat(1000), async (dueCalls, listCalls, first) => {
      const [due, ofLists] = [named('due', dueCalls), named('list', listCalls)]
      const dueTotal = dueCalls.reduce((sum, count) => sum + count, 0)
      const hadTheirTurn = new Set<string>()
      for (let minute = first; minute < first + listCalls.length; minute++) {
        const { ran, calls: made } = await minuteOf(due, ofLists, minute)
        const listed = ran.slice(dueCalls.length)
        expect(ran.slice(0, dueCalls.length)).toEqual(Object.keys(due))
        expect(listed.length).toBeGreaterThan(0)
        expect(new Set(listed).size).toBe(listed.length)
        // One sweep more than the calls allow at the most.
        expect(made).toBeLessThan(Math.max(dueTotal, 9) + Math.max(...listCalls) + 1)
        if (made < 10) expect(listed.length).toBe(listCalls.length)
        for (const name of listed) hadTheirTurn.add(name)
      }
      expect([...hadTheirTurn].toSorted()).toEqual(Object.keys(ofLists))
    }),
    { numRuns: 40 },
  )
})

it('a sweep that fails keeps no other from its turn', async () => {
  const ran: string[] = []
  const failing: Sweeps = { failing: () => Promise.reject(new Error('It fails.')) }
  await runSweeps(
    realJob(),
    { ...failing, ...sweepsOf({ refunds: 1 }, ran) },
    { ...failing, ...sweepsOf({ counts: 1 }, ran) },
  )
  expect(ran).toEqual(['refunds', 'counts'])
})

it('a minute without sweeps of lists runs the others', async () => {
  const { ran } = await minuteOf({ refunds: 1 }, {}, 5)
  expect(ran).toEqual(['refunds'])
})
