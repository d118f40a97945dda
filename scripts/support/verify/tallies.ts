import {
  addFaults,
  createFinding,
  type Finding,
  type PagedTable,
  type Query,
  quote,
  shownFaults,
  splitIntoRanges,
  type Value,
} from './query.ts'

/** Rows that are counted by groups. All expressions may use the columns of `joins`. */
interface Grouping extends PagedTable {
  joins?: string
  where?: string
  groups: readonly string[]
  sums: readonly string[]
}

/** Compares a table of counts with the rows that it counts. */
interface Tally {
  title: string
  unit: string
  stored: Grouping
  /** The rows whose groups are added up. */
  counted: readonly Grouping[]
}

const quarter = (time: string): string => `(${time} + 63000000000000) / 900000 - 70000000`

/** Tables of counts, with the rows that they count. */
export const tallies: readonly Tally[] = [
  {
    title: 'Counts of orders by status and type',
    unit: 'orders',
    stored: {
      table: 'order_counts',
      keys: ['edition_id', 'status', 'type'],
      groups: ['edition_id', 'status', 'type'],
      sums: ['orders_count'],
    },
    counted: [{ table: 'orders', keys: ['seq'], groups: ['edition_id', 'status', 'type'], sums: ['1'] }],
  },
  {
    title: 'Counts of sales in the statistics of editions',
    unit: 'orders, purchases, uses and refunds',
    stored: {
      table: 'sales_counts',
      keys: ['series_id', 'quarter'],
      joins: 'left join sales_series on sales_series.id = series_id',
      groups: ['edition_id', 'kind', 'product_id', 'status', 'currency', 'quarter'],
      sums: ['items', 'amount_minor', 'deposit_minor', 'handling_fee_minor', 'refunded_minor'],
    },
    counted: [
      {
        table: 'orders',
        keys: ['seq'],
        groups: ['edition_id', "'order'", "''", 'status', 'currency', quarter('created_at')],
        sums: ['1', 'amount_minor', '0', '0', '0'],
      },
      {
        table: 'purchases',
        keys: ['id'],
        joins: 'join orders on orders.id = order_id',
        groups: [
          'purchases.edition_id',
          "'purchase'",
          'product_id',
          'purchases.status',
          'currency',
          quarter('purchases.created_at'),
        ],
        sums: ['1', 'price_minor', 'deposit_minor', 'handling_fee_minor', '0'],
      },
      {
        table: 'purchase_uses',
        keys: ['id'],
        joins: 'join purchases on purchases.id = purchase_id',
        where: 'reverted_at is null',
        groups: ['edition_id', "'use'", 'product_id', "''", "''", quarter('used_at')],
        sums: ['quantity', '0', '0', '0', '0'],
      },
      {
        table: 'refund_requests',
        keys: ['id'],
        groups: ['edition_id', "'refund'", "''", 'status', 'currency', quarter('created_at')],
        sums: ['1', 'requested_minor', '0', '0', 'refunded_minor'],
      },
    ],
  },
  {
    title: 'Counts of consents',
    unit: 'answers',
    stored: {
      table: 'consent_stats',
      keys: ['consent_id'],
      groups: ['consent_id'],
      sums: ['records', 'given', 'skipped', 'withdrawn', 'expired'],
    },
    counted: [
      {
        table: 'consent_records',
        keys: ['user_id', 'consent_id', 'number'],
        joins: `left join consent_records as later on later.user_id = consent_records.user_id
          and later.consent_id = consent_records.consent_id and later.number = consent_records.number + 1`,
        groups: ['consent_records.consent_id'],
        sums: [
          '1',
          ...['given', 'skipped', 'withdrawn', 'expired'].map(
            (status) => `(later.id is null and consent_records.status = '${status}')`,
          ),
        ],
      },
    ],
  },
  {
    title: 'Totals of refund batches',
    unit: 'refund requests',
    stored: {
      table: 'refund_batch_totals',
      keys: ['batch_id', 'currency', 'status', 'needs_attention'],
      groups: ['batch_id', 'currency', 'status', 'needs_attention'],
      sums: ['requests', 'amount_minor'],
    },
    counted: [
      {
        table: 'refund_requests',
        keys: ['id'],
        where: 'batch_id is not null',
        groups: ['batch_id', 'currency', 'status', 'needs_attention'],
        sums: ['1', 'coalesce(approved_minor, requested_minor)'],
      },
    ],
  },
]

type Totals = Map<string, number[]>

const buildSelect = ({ table, joins = '', where = '1', groups, sums }: Grouping, condition: string): string => `
  select json_array(${groups.join(', ')}) as "group", count(*) as "rows",
    json_array(${sums.map((sum) => `sum(${sum})`).join(', ')}) as sums
  from "${table}" ${joins} where (${condition}) and (${where}) group by 1`

interface GroupedRow {
  group: string
  rows: number
  sums: string
}

/** Adds up the sums of each group, range by range. Returns the number of rows. */
async function addUp(query: Query, grouping: Grouping, totals: Totals, size: number): Promise<number> {
  let rowCount = 0
  for await (const range of splitIntoRanges(query, grouping, size))
    for (const { group, rows, sums } of await query<GroupedRow>(buildSelect(grouping, range))) {
      rowCount += rows
      const total = totals.get(group) ?? []
      for (const [place, sum] of (JSON.parse(sums) as number[]).entries()) total[place] = (total[place] ?? 0) + sum
      totals.set(group, total)
    }
  return rowCount
}

/** Counts one group again, in one statement, because rows may have changed between two ranges. */
async function recount(query: Query, tally: Tally, group: string): Promise<{ stored: string; counted: string }> {
  const values = JSON.parse(group) as Value[]
  const isOfGroup = ({ groups }: Grouping) =>
    groups.map((expression, place) => `${expression} is ${quote(values[place] ?? null)}`).join(' and ')
  const selectSums = (groupings: readonly Grouping[]) =>
    groupings.map((grouping) => buildSelect(grouping, isOfGroup(grouping))).join(' union all ')
  const [row] = await query<{ stored: string; counted: string }>(
    `select (select json_group_array(json(sums)) from (${selectSums([tally.stored])})) as stored,
      (select json_group_array(json(sums)) from (${selectSums(tally.counted)})) as counted`,
  )
  return row ?? { stored: '[]', counted: '[]' }
}

const isZero = (sums: readonly number[]): boolean => sums.every((sum) => sum === 0)

/** Compares a table of counts with the rows that it counts. */
export async function compareTally(query: Query, tally: Tally, size: number): Promise<Finding> {
  const finding = createFinding(tally.title, tally.unit)
  const stored: Totals = new Map()
  const counted: Totals = new Map()
  await addUp(query, tally.stored, stored, size)
  for (const grouping of tally.counted) finding.compared += await addUp(query, grouping, counted, size)
  const groups = new Set([...stored.keys(), ...counted.keys()])
  const differences = [...groups].filter((group) => {
    const [a, b] = [stored.get(group) ?? [], counted.get(group) ?? []]
    return JSON.stringify(a) !== JSON.stringify(b) && !(isZero(a) && isZero(b))
  })
  const faults: string[] = []
  let stale = 0
  for (const group of differences.slice(0, shownFaults * 2)) {
    const sums = await recount(query, tally, group)
    const isEmpty = [sums.stored, sums.counted].every((json) => (JSON.parse(json) as number[][]).every(isZero))
    if (sums.stored === sums.counted || isEmpty) stale++
    else faults.push(`${group} stores ${sums.stored}, and its rows say ${sums.counted}.`)
  }
  addFaults(finding, faults, differences.length - stale)
  return finding
}
