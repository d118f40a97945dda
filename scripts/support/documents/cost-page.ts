import { type Act, acts } from '../../../test/support/costs/acts.ts'
import { dollarsAMillion, prices, type Units, unitNames } from '../../../test/support/costs/prices.ts'

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const dollars = (amount: number): string => `$${amount.toFixed(2)}`
/** Of a month. */
const minutes = 43_800

const goalOf = ({ goal }: Act): string => (goal === undefined ? '' : dollars(goal))
const unitsOf = (units: Partial<Units>): string[] => unitNames.map((name) => String(units[name] ?? ''))
const labels = unitNames.map((name) => name.replaceAll('_', ' '))

/** Tables of what each unit costs, and of what each act costs in units and in dollars. */
export const costTables = {
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
}
