import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { invalid, parameterError } from '../../../domain/errors.ts'
import { dayMs, hourMs, minuteMs, toIso } from '../../../domain/time/instants.ts'
import { listOffsets } from '../../../domain/time/time-zones.ts'
import type { EditionDetailRow } from '../queries.ts'
import { maxStatsGroups, type StatsGroup, type StatsQuery } from './stats-contract.ts'

const quarterMs = 15 * minuteMs

const sumColumns = ['items', 'amount_minor', 'deposit_minor', 'handling_fee_minor', 'refunded_minor'] as const

/** No day is before or after these. */
const [minDay, maxDay] = [-800_000, 3_000_000]

/** Sums of the rows of one kind that have the same day, product, status and currency. */
export interface StatsRow {
  kind: 'order' | 'purchase' | 'use' | 'refund'
  day: string | null
  product_id: string | null
  product_name: string | null
  status: string | null
  currency: string
  items: number
  amount_minor: number
  deposit_minor: number
  handling_fee_minor: number
  refunded_minor: number
}

export interface LoadedStats {
  edition: Pick<EditionDetailRow, 'id' | 'timezone'>
  from: string | null
  to: string | null
  rows: StatsRow[]
}

type Edition = LoadedStats['edition']

const toMidnight = (day: string): number => Date.parse(`${day}T00:00:00Z`)
const toDayNumber = (day: string): number => toMidnight(day) / dayMs
const toDay = (dayNumber: number): string => toIso(dayNumber * dayMs).slice(0, 10)

/** No zone is further away from UTC. */
const maxOffset = 15 * hourMs
/** Clocks are asked for no earlier time, because they showed the time of the sun. */
const earliest = Date.UTC(1900, 0, 1)
/** Clocks are asked for no time further ahead. What is dated later has a wrong date, and reading clocks is slow. */
const maxAheadMs = 2 * 366 * dayMs

/** Finds the time in which the edition has anything. Returns null when it has nothing. */
async function findLimits(ctx: Ctx, { id }: Edition): Promise<{ from: number; to: number } | null> {
  const row = await ctx.db.first(sql<{ first: number | null; last: number | null }>`
    select min((select min(quarter) from sales_counts where series_id = sales_series.id)) as first,
      max((select max(quarter) from sales_counts where series_id = sales_series.id)) as last
    from sales_series where edition_id = ${id}`)
  if (!row || row.first === null || row.last === null) return null
  return { from: row.first * quarterMs, to: (row.last + 1) * quarterMs }
}

/** Lists quarters of the period with the offset, in quarters, that the edition's zone has in them. */
function listSpans(
  { timezone }: Edition,
  limits: { from: number; to: number },
  period: StatsQuery,
  now: number,
): number[][] {
  const from = period.from === undefined ? limits.from : Math.max(limits.from, toMidnight(period.from) - maxOffset)
  const to = period.to === undefined ? limits.to : Math.min(limits.to, toMidnight(period.to) + dayMs + maxOffset)
  if (from >= to) return []
  const limit = (at: number): number => Math.min(Math.max(at, earliest), now + maxAheadMs)
  const spans = listOffsets(timezone, limit(from), limit(to))
  return spans.map((span, index) =>
    [index === 0 ? from : span.from, index === spans.length - 1 ? to : span.to, span.offset].map((ms) =>
      Math.ceil(ms / quarterMs),
    ),
  )
}

/** The added days make the division round down before 1970, too. */
const localDay = sql`((quarter + span_offset + 76800000) / 96 - 800000)`

const buildSums = (table: string): SQL =>
  sql.raw(sumColumns.map((name) => `sum(${table}.${name}) as ${name}`).join(', '))

/**
 * Sums up each series by itself, because grouping all of them would sort wide rows. A merged product counts as the one
 * that it was merged into.
 */
function selectStats(edition: Edition, spans: readonly number[][], { from, to, group_by }: StatsQuery) {
  const group = (name: StatsGroup, column: SQL): SQL => (group_by.includes(name) ? column : sql`null`)
  const isInPeriod = sql`${localDay} between ${from === undefined ? minDay : toDayNumber(from)}
    and ${to === undefined ? maxDay : toDayNumber(to)}`
  return sql<Omit<StatsRow, 'day'> & { day: number | null }>`
    with spans as materialized (
      select value ->> 0 as first_quarter, value ->> 1 as next_quarter, value ->> 2 as span_offset
      from json_each(${JSON.stringify(spans)})
    ), daily as materialized (
      select sales_series.id as series_id, ${group('day', localDay)} as day, ${buildSums('sales_counts')}
      from spans cross join sales_series cross join sales_counts on series_id = sales_series.id
        and quarter >= first_quarter and quarter < next_quarter
      where edition_id = ${edition.id} and ${isInPeriod}
      group by sales_series.id, 2
    ), grouped as (
      select kind, day, ${group('product', sql`coalesce(products.merged_into_id, products.id)`)} as product_id,
        ${group('status', sql`nullif(sales_series.status, '')`)} as status, sales_series.currency, ${buildSums('daily')}
      from daily cross join sales_series on sales_series.id = series_id
        left join products on products.id = sales_series.product_id
      group by 1, 2, 3, 4, 5
      limit ${maxStatsGroups + 1}
    )
    select grouped.*, products.name as product_name
    from grouped left join products on products.id = grouped.product_id
    order by day, products.name_key, grouped.product_id, status, currency`
}

/** Adds up what the edition has sold, as it is now. */
export async function loadEditionStats(ctx: Ctx, { id, timezone }: Edition, query: StatsQuery): Promise<LoadedStats> {
  const edition = { id, timezone }
  const limits = await findLimits(ctx, edition)
  const spans = limits ? listSpans(edition, limits, query, ctx.now()) : []
  const rows = spans.length > 0 ? await ctx.db.all(selectStats(edition, spans, query)) : []
  if (rows.length > maxStatsGroups)
    throw invalid(
      parameterError(
        'group_by',
        'too_many_groups',
        `The statistics have more than ${maxStatsGroups} groups. Ask for fewer days, or leave day or product out of group_by.`,
      ),
    )
  const days = rows.map((row) => ({ ...row, day: row.day === null ? null : toDay(row.day) }))
  return { edition, from: query.from ?? null, to: query.to ?? null, rows: days }
}
