import type { Operation } from '../../../src/http/operations/operation.ts'
import { type Act, acts } from '../../../test/support/costs/acts.ts'
import { withAuditEntry } from '../../../test/support/costs/operations.ts'
import { dollarsAMillion, prices, type Units, unitNames } from '../../../test/support/costs/prices.ts'

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const dollars = (amount: number): string => `$${amount.toFixed(2)}`
/** Of a month. */
const minutes = 43_800

const goalOf = ({ goal }: Act): string => (goal === undefined ? '' : dollars(goal))
const unitsOf = (units: Partial<Units>): string[] => unitNames.map((name) => String(units[name] ?? ''))
const labels = unitNames.map((name) => name.replaceAll('_', ' '))

/** What each unit costs, what each act costs in units and in dollars, and what each operation costs. */
export const costTables = (operations: readonly Operation[]) => ({
  prices: tableOf(
    ['Unit', 'What it is', 'A million'],
    unitNames.map((name) => [name.replaceAll('_', ' '), prices[name].label, dollars(prices[name].price / 1000)]),
  ),
  acts: tableOf(
    ['Act', ...labels, 'A million', 'Goal', 'How it is measured'],
    Object.values<Act>(acts).map((act) => [
      act.label,
      ...unitsOf(act.units),
      dollars(dollarsAMillion(act.units)),
      goalOf(act),
      act.how,
    ]),
  ),
  idle: `A month in which nothing happens has ${minutes} such minutes and costs ${dollars((dollarsAMillion(acts.idle_minute.units) * minutes) / 1_000_000)}.`,
  operations: tableOf(
    ['Operation', 'queries', 'rows read', 'rows written', 'A million'],
    operations.map((operation) => {
      const { queries, rows_read, rows_written } = withAuditEntry(operation)
      const price = dollarsAMillion({ invocations: 1, rows_read, rows_written })
      return [`\`${operation.id}\``, String(queries), String(rows_read), String(rows_written), dollars(price)]
    }),
  ),
})
