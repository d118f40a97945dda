import { type ListRead, type ListSizes, noLists, type Site, sitesOf, work } from './survey.ts'
import { type CelError, errorAt, type Expression } from './types.ts'

/** Combinations of elements that lists inside lists may look at for one person have to stay below this. */
export const maxCombinations = 100_000
/** Work for each element of the lists of a person, in tenths of a microsecond: 5,000 elements stay below 300 ms. */
const maxWorkAnElement = 500

/** Work in the body of the innermost list that one combination includes; what takes longer counts several times. */
const workACombination = 20

const combinationsOf = (lists: readonly ListRead[]): number =>
  lists.reduce((product, { size }) => product * Math.max(1, size), 1)

const number = (value: number): string => Math.ceil(value).toLocaleString('en-US')

const names: Record<ListRead['kind'], string> = {
  orders: 'orders',
  purchases: 'purchases',
  campaigns: 'campaigns',
  options: 'options',
  user_metadata: 'values of metadata',
  order_metadata: 'values of metadata',
  written: 'values that are written out',
}

function reasonFor({ lists, node, work: ownWork }: Site, combinations: number, all: number): string {
  const factors = lists.map(({ kind, size }) => `${number(Math.max(1, size))} ${names[kind]}`).join(' × ')
  const times =
    combinationsOf(lists) < combinations
      ? `, each counted ${number(ownWork / workACombination)} times for its long condition`
      : ''
  const before = all > combinations ? ` With the lists before it that makes ${number(all)}.` : ''
  const advice =
    node.node === 'field'
      ? 'compare stats outside of it'
      : 'ask for one list at a time, and join the answers with && or ||'
  return `For one person this looks at up to ${number(combinations)} combinations (${factors}${times}).${before} They have to stay below ${number(maxCombinations)}: ${advice}.`
}

/**
 * The reason why an expression takes too long for lists of these lengths, or null. Only nested lists are refused:
 * one list after the other is always accepted.
 */
export function costError(expression: Expression, source: string, sizes: ListSizes): CelError | null {
  let all = 0
  for (const site of sitesOf(expression, sizes)) {
    if (site.lists.length < 2) continue
    const combinations = combinationsOf(site.lists) * Math.max(1, site.work / workACombination)
    all += combinations
    if (all >= maxCombinations) return errorAt(source, 'cost_exceeded', reasonFor(site, combinations, all), site.node)
  }
  return null
}

/** Whether the expression has nested lists, so that their lengths decide. */
export const hasNestedLists = (expression: Expression): boolean =>
  sitesOf(expression, noLists).some(({ lists }) => lists.length > 1)

export const hasLists = (expression: Expression): boolean => sitesOf(expression, noLists).length > 1

/** The list with more conditions than may be tested for each element, or null. */
export function heavyList(expression: Expression): Expression | null {
  let all = 0
  for (const { lists, node, work: amount } of sitesOf(expression, noLists)) {
    if (lists.length !== 1 || lists[0]?.kind === 'written') continue
    all += amount
    if (all > maxWorkAnElement) return node
  }
  return null
}

/** Mean lengths of the lists of which people have many. */
export type MeanSizes = Pick<ListSizes, 'orders' | 'purchases'>

/** Work for a mean person, in tenths of a microsecond: the outermost list has its mean length, those inside the most. */
export function meanWork(expression: Expression, sizes: ListSizes, means: MeanSizes): number {
  const lengthOf = ({ kind, size }: ListRead): number =>
    kind === 'orders' || kind === 'purchases' ? means[kind] : size
  return sitesOf(expression, sizes).reduce((sum, { lists, work: amount }) => {
    const [outer, ...inner] = lists
    if (!outer) return sum + amount
    return sum + lengthOf(outer) * combinationsOf(inner) * amount + work.list
  }, 0)
}

const maxPeople = 20_000
const minPeople = 100
/** What a person costs besides the expression, and a statement may take, in tenths of a microsecond. */
const workAPerson = 60
const workAStatement = 1_200_000

/** The people that one statement can test in a fraction of a second. */
export const peopleAStatement = (workOfExpression: number): number =>
  Math.min(maxPeople, Math.max(minPeople, Math.floor(workAStatement / (workAPerson + workOfExpression))))
