import { fold } from '../../../text/fold.ts'
import data from './aliases.json' with { type: 'json' }

/**
 * How directly a header names its target. `specific` headers can mean nothing else. `plain` ones mean it unless a more
 * specific column is there. `indirect` ones replace it. `vague` ones need values that support them.
 */
export type AliasRank = 'specific' | 'plain' | 'indirect' | 'vague'

interface AliasMeaning {
  target: string
  rank: AliasRank
  /** `time` for the second column of a date: the time of the day. */
  part?: 'time'
  /** The kind of values that the column needs: names of people, or yes and no. */
  values?: 'people' | 'paid'
}

export interface Alias extends AliasMeaning {
  text: string
}

/** Names by language; `any` for those that several languages share. */
type LocalizedNames = Readonly<Record<string, readonly string[]>>

interface AliasData {
  targets: readonly (AliasMeaning & { names: LocalizedNames })[]
  people: {
    fields: Readonly<Record<string, LocalizedNames>>
    /** Words that say whose field it is. */
    buyers: LocalizedNames
    holders: LocalizedNames
    billing: LocalizedNames
    /** The word for a name alone. Values and other columns show whose it is and which part. */
    bare_names: readonly string[]
    /** Words for people that mean their names if the values are names. */
    buyers_alone: readonly string[]
    holders_alone: readonly string[]
  }
  /** Headers that ask for consent to marketing. */
  marketing: readonly string[]
  /** Headers that look like targets but are not. */
  other: readonly string[]
}

const { targets, people, marketing, other }: AliasData = data as unknown as AliasData

/** Splits a folded header at punctuation, `orderId` into two words, and reads `#` as `number`. */
export const splitHeader = (header: string): string[] =>
  fold(header.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').replaceAll('#', ' number '))
    .replaceAll(/['’]s\b/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)

/** Builds the key by which headers are compared: `E-Mail`, `e_mail` and `Email` have the same. */
export const buildHeaderKey = (header: string): string => splitHeader(header).join('')

/** The keys of all headers of a file. The second header with a key gets the key `price 2`. */
export function buildHeaderKeys(headers: readonly string[]): string[] {
  const counts = new Map<string, number>()
  return headers.map((header) => {
    const key = buildHeaderKey(header)
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    return count === 1 ? key : `${key} ${count}`
  })
}

/** `Price (DKK)` becomes `Price`. */
export const removeBrackets = (header: string): string => header.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, ' ')

const listNames = (names: LocalizedNames): string[] => Object.values(names).flat()

const buildAliases = (texts: readonly string[], meaning: AliasMeaning): Alias[] =>
  texts.map((text) => ({ text, ...meaning }))

/** A word for a person can stand before the field, as in `Buyer email`, or behind it, as in `Email (buyer)`. */
const qualifyNames = (names: readonly string[], words: LocalizedNames): string[] =>
  listNames(words).flatMap((word) => names.flatMap((name) => [`${word} ${name}`, `${name} ${word}`]))

function buildFieldAliases(field: string, names: readonly string[]): Alias[] {
  const qualifiable = field === 'full_name' ? [...names, ...people.bare_names] : names
  const customer = `customer.${field}`
  const aliases = [
    ...buildAliases(names, { target: customer, rank: 'plain' }),
    ...buildAliases(qualifyNames(qualifiable, people.buyers), { target: customer, rank: 'specific' }),
    ...buildAliases(qualifyNames(qualifiable, people.billing), { target: customer, rank: 'indirect' }),
  ]
  // A ticket has no telephone number.
  if (field === 'phone_number') return aliases
  const holders = qualifyNames(qualifiable, people.holders)
  return [...aliases, ...buildAliases(holders, { target: `item.user.${field}`, rank: 'specific' })]
}

const allAliases: readonly Alias[] = [
  ...targets.flatMap(({ names, ...meaning }) => buildAliases(listNames(names), meaning)),
  ...Object.entries(people.fields).flatMap(([field, names]) => buildFieldAliases(field, listNames(names))),
  ...buildAliases(people.bare_names, { target: 'customer.full_name', rank: 'vague' }),
  ...buildAliases(people.buyers_alone, { target: 'customer.full_name', rank: 'indirect', values: 'people' }),
  ...buildAliases(people.holders_alone, { target: 'item.user.full_name', rank: 'indirect', values: 'people' }),
]

/** Aliases by header key. Of several aliases with one key, the first wins. */
export const aliasesByKey: ReadonlyMap<string, Alias> = new Map(
  allAliases.toReversed().map((alias) => [buildHeaderKey(alias.text), alias]),
)

/** Whether a header names the total of an order, such as `Total (DKK)`. */
export const isTotalHeader = (header: string): boolean =>
  [header, removeBrackets(header)].some((text) => aliasesByKey.get(buildHeaderKey(text))?.target === 'order.amount')

export const otherKeys: ReadonlySet<string> = new Set(other.map(buildHeaderKey))

export const marketingKeys: ReadonlySet<string> = new Set(marketing.map(buildHeaderKey))

/** Lists the aliases of a target as people write them, without those that only differ in punctuation. */
export function listAliasTexts(target: string): string[] {
  const aliases = allAliases.filter((alias) => alias.target === target).toReversed()
  return [...new Map(aliases.map(({ text }) => [buildHeaderKey(text), text])).values()].toReversed()
}
