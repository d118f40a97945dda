import { sql } from 'drizzle-orm'
import * as fc from 'fast-check'
import { expect } from 'vitest'
import { dayMs } from '../../src/domain/time/instants.ts'
import { db } from './seeding/rows.ts'

export const minute = 60_000
export const begin = Date.UTC(2026, 0, 1)

const letters = ['a', 'b', undefined] as const
export const batch = fc.record({
  act: fc.constant('add' as const),
  many: fc.constantFrom(1, 40, 260),
  kind: fc.constantFrom(...letters),
})
export const wait = fc.record({
  act: fc.constant('wait' as const),
  ms: fc.constantFrom(minute, 9 * minute, 20 * minute, dayMs, 6 * dayMs, 95 * dayMs),
})
export const settle = fc.record({ act: fc.constant('settle' as const) })

/** Rows that are counted before anything else happens. */
export const settled = [
  { act: 'add', many: 260, kind: 'a' },
  { act: 'wait', ms: 20 * minute },
  { act: 'settle' },
] as const

export const queryOf = (filter: object): string =>
  new URLSearchParams(Object.entries(filter).filter((entry) => entry[1] !== undefined)).toString()

interface StoredSpan {
  bits: number
  span: number
  counts: Record<string, number>
  total: number
}

const storedSpans = async (list: string, scope: string): Promise<StoredSpan[]> => {
  const rows = await db.all(
    sql<Omit<StoredSpan, 'counts'> & { counts: string }>`select 28 as bits, span, counts, total from list_spans
        where list = ${list} and scope = ${scope}
      union all select bits, span, counts, total from list_span_parts where list = ${list} and scope = ${scope}`,
  )
  return rows.map((row) => ({ ...row, counts: JSON.parse(row.counts) as Record<string, number> }))
}

const hasSums = (list: string): boolean => list !== 'webhook_deliveries'

/**
 * The parts of each span that has parts hold together what it holds, and the spans of each sum what it has. Answers how many
 * parts there are.
 */
export async function expectPartsToAddUp(list: string, scope: string): Promise<number> {
  const spans = await storedSpans(list, scope)
  const wholes = new Map(spans.map((one) => [`${one.bits} ${one.span}`, one]))
  const parts = spans.filter(({ bits }) => bits < 28)
  const inSums = spans.filter(({ bits }) => (bits === 28 || bits === 31) && hasSums(list))
  const bitsAbove = (bits: number) => (bits === 24 ? 28 : bits + 3)
  const sums = new Map<string, { counts: Record<string, number>; total: number }>()
  for (const { bits, span, counts, total } of [...parts, ...inSums]) {
    const key = `${bitsAbove(bits)} ${Math.floor(span / 2 ** (bitsAbove(bits) - bits))}`
    const sum = sums.get(key) ?? { counts: {}, total: 0 }
    for (const [name, n] of Object.entries(counts)) sum.counts[name] = (sum.counts[name] ?? 0) + n
    sums.set(key, { ...sum, total: sum.total + total })
  }
  const withoutZeros = (counts: Record<string, number>) =>
    Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== 0))
  for (const { bits, span } of spans) if (bits > 28) expect(sums.has(`${bits} ${span}`)).toBe(true)
  for (const [key, { counts, total }] of sums)
    expect([key, total, withoutZeros(counts)]).toEqual([
      key,
      wholes.get(key)?.total,
      withoutZeros(wholes.get(key)?.counts ?? {}),
    ])
  return parts.length
}
