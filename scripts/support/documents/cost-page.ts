import { type Act, acts } from '../../../test/support/costs/acts.ts'
import { dollarsAMillion, prices, type Units, unitNames } from '../../../test/support/costs/prices.ts'

const formatDollars = (amount: number): string => `$${amount.toFixed(amount < 0.01 ? 3 : 2)}`
/** The number of cron triggers in a month. */
const minutes = 43_800

const formatUnits = (units: Partial<Units>): string =>
  unitNames
    .flatMap((name) => {
      const title = name.replaceAll('_', ' ')
      return units[name] === undefined ? [] : [`${units[name]} ${units[name] === 1 ? title.replace(/s$/, '') : title}`]
    })
    .join(', ')

const formatAct = ({ label, units, goal, how }: Act): string => {
  const target = goal === undefined ? '' : `, goal ${formatDollars(goal)}`
  return `- **${label}**: ${formatDollars(dollarsAMillion(units))} a million${target}. ${formatUnits(units)}. Measured: ${how}.`
}

/** Builds the prices of units, and the cost of each act in units and dollars. */
export const buildCostSections = {
  prices: [
    ['Unit', 'What it is', 'A million'],
    ['---', '---', '---'],
    ...unitNames.map((name) => [
      name.replaceAll('_', ' '),
      prices[name].label,
      formatDollars(prices[name].price / 1000),
    ]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n'),
  acts: Object.values<Act>(acts).map(formatAct).join('\n'),
  idle: `A month in which nothing happens has ${minutes} such minutes and costs ${formatDollars((dollarsAMillion(acts.idle_minute.units) * minutes) / 1_000_000)}.`,
}
