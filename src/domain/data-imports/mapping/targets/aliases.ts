import { fold } from '../../../text/fold.ts'
import { dropInvisible } from '../../../text/invisible.ts'
import { readCurrencyMark } from '../values/words.ts'
import data from './aliases.json' with { type: 'json' }

/**
 * A rank says how directly a header names its target. `specific`: the header has only this meaning. `usual`: it almost
 * always has it. `plain`: it has it unless the file has a more specific column. `indirect`: the column replaces one of
 * the target. `vague`: the values of the column have to fit.
 */
export type AliasRank = 'specific' | 'usual' | 'plain' | 'indirect' | 'vague'

interface AliasMeaning {
  target: string
  rank: AliasRank
  /** `time` for the second column of a date: the time of the day. */
  part?: 'time'
  /** The kind of values that the column needs: names of people, yes and no, words without spaces, or such words that are
   * no phone numbers. */
  values?: 'people' | 'paid' | 'codes' | 'numbers'
}

export interface Alias extends AliasMeaning {
  text: string
}

/** Names by language; `any` for those that several languages share. */
type LocalizedNames = Readonly<Record<string, readonly string[]>>

type NamedMeaning = AliasMeaning & { names: LocalizedNames }

interface AliasData {
  targets: readonly NamedMeaning[]
  /** Each name stands behind or before each word, as in `order date` and `date of order`. */
  phrases: readonly { words: LocalizedNames; targets: readonly NamedMeaning[] }[]
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
  /** Words that a header may have beside its name, as in `Price incl. VAT`. */
  added_words: readonly string[]
  /** Articles and the like, as in `Name of the buyer`. */
  fillers: readonly string[]
  /** Words in brackets that give a header another meaning, as in `Name (delivery)`. */
  elsewhere: readonly string[]
}

const { targets, phrases, people, marketing, other, added_words, fillers, elsewhere }: AliasData =
  data as unknown as AliasData

/** Splits a folded header at punctuation, `orderId` into two words, and reads `#` and `%` as words. */
export const splitHeader = (header: string): string[] =>
  fold(
    dropInvisible(header)
      .replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
      .replaceAll('#', ' number ')
      .replaceAll('%', ' percent '),
  )
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

const elsewhereWords: ReadonlySet<string> = new Set(elsewhere.map((word) => fold(word)))

/** `Price (DKK)` becomes `Price`, but `Name (delivery)` stays. */
export const removeBrackets = (header: string): string =>
  header.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, (bracket) =>
    splitHeader(bracket).some((word) => elsewhereWords.has(word)) ? bracket : ' ',
  )

const addedKeys: ReadonlySet<string> = new Set(added_words.map(buildHeaderKey))
const fillerWords: ReadonlySet<string> = new Set(fillers.map((word) => fold(word)))
const maxAddedWords = 3

/** `Price incl. VAT` and `The price in EUR` become `price`. */
export function removeAddedWords(header: string): string {
  const words = splitHeader(header).filter((word) => !fillerWords.has(word))
  for (let count = maxAddedWords; count > 0; count--) {
    const [head, tail] = [words.slice(0, -count), words.slice(-count).join('')]
    if (head.length > 0 && (addedKeys.has(tail) || readCurrencyMark(tail) !== null)) return head.join(' ')
    const [start, rest] = [words.slice(0, count).join(''), words.slice(count)]
    if (rest.length > 0 && addedKeys.has(start)) return rest.join(' ')
  }
  return words.join(' ')
}

const listNames = (names: LocalizedNames): string[] => Object.values(names).flat()

const buildAliases = (texts: readonly string[], meaning: AliasMeaning): Alias[] =>
  texts.map((text) => ({ text, ...meaning }))

/** The separator between two words of a compound: nothing in these languages, a space in others. */
const compoundLinks: Readonly<Record<string, string>> = { da: '', de: '', sv: '', nl: '' }

/**
 * A word can stand before the name, as in `Buyer email`, or behind it, as in `Email (buyer)`. Names of its own language
 * and English ones belong to it.
 */
const qualifyNames = (names: LocalizedNames, words: LocalizedNames, links: typeof compoundLinks = {}): string[] =>
  Object.entries(words).flatMap(([language, ofLanguage]) => {
    const usedNames = new Set([language, 'en', 'any'].flatMap((one) => names[one] ?? []))
    const link = links[language] ?? ' '
    return ofLanguage.flatMap((word) => [...usedNames].flatMap((name) => [`${word}${link}${name}`, `${name} ${word}`]))
  })

function buildFieldAliases(field: string, names: LocalizedNames): Alias[] {
  const qualifiable = field === 'full_name' ? { ...names, any: people.bare_names } : names
  const customer = `customer.${field}`
  const aliases = [
    ...buildAliases(listNames(names), { target: customer, rank: 'plain' }),
    ...buildAliases(qualifyNames(qualifiable, people.buyers), { target: customer, rank: 'specific' }),
    ...buildAliases(qualifyNames(qualifiable, people.billing), { target: customer, rank: 'indirect' }),
  ]
  // A ticket has no telephone number.
  if (field === 'phone_number') return aliases
  const holders = qualifyNames(qualifiable, people.holders)
  return [...aliases, ...buildAliases(holders, { target: `item.user.${field}`, rank: 'specific' })]
}

const buildAllAliases = (): Alias[] => [
  ...targets.flatMap(({ names, ...meaning }) => buildAliases(listNames(names), meaning)),
  ...phrases.flatMap(({ words, targets: ofWords }) =>
    ofWords.flatMap(({ names, ...meaning }) => buildAliases(qualifyNames(names, words, compoundLinks), meaning)),
  ),
  ...Object.entries(people.fields).flatMap(([field, names]) => buildFieldAliases(field, names)),
  ...buildAliases(people.bare_names, { target: 'customer.full_name', rank: 'vague' }),
  ...buildAliases(people.buyers_alone, { target: 'customer.full_name', rank: 'indirect', values: 'people' }),
  ...buildAliases(people.holders_alone, { target: 'item.user.full_name', rank: 'indirect', values: 'people' }),
]

const wordsByPart = new Map<string, readonly string[]>()

/** Splits the name of an alias like a header. Its parts occur in many names and are split once. */
export const splitName = (text: string): string[] =>
  text.split(' ').flatMap((part) => {
    const words = wordsByPart.get(part) ?? splitHeader(part)
    wordsByPart.set(part, words)
    return words
  })

interface Aliases {
  all: readonly Alias[]
  /** By header key. Of several aliases with one key, the first wins. */
  byKey: ReadonlyMap<string, Alias>
}

let aliasIndex: Aliases | undefined

/** Builds the aliases when they are first needed: that takes as long as all else of a Worker's start together. */
export function loadAliases(): Aliases {
  if (aliasIndex) return aliasIndex
  const all = buildAllAliases()
  const byKey = new Map(all.toReversed().map((alias) => [splitName(alias.text).join(''), alias]))
  aliasIndex = { all, byKey }
  return aliasIndex
}

/** Words for people who hold tickets. A ticket may also be counted in a column of an order. */
const holderWords: ReadonlySet<string> = new Set(
  listNames(people.holders)
    .filter((name) => name !== 'ticket')
    .map((name) => fold(name)),
)

/** True if a header is about ticket holders, such as `Registrant type`. */
export const namesHolders = (header: string): boolean => splitHeader(header).some((word) => holderWords.has(word))

/** True if a header names the total of an order, such as `Total (DKK)`. */
export const isTotalHeader = (header: string): boolean =>
  [header, removeBrackets(header)].some(
    (text) => loadAliases().byKey.get(buildHeaderKey(text))?.target === 'order.amount',
  )

export const otherKeys: ReadonlySet<string> = new Set(other.map(buildHeaderKey))

export const marketingKeys: ReadonlySet<string> = new Set(marketing.map(buildHeaderKey))

/** Lists the aliases of a target as people write them, without those that only differ in punctuation. */
export function listAliasTexts(target: string): string[] {
  const ofTarget = loadAliases().all.filter((alias) => alias.target === target)
  return [...new Map(ofTarget.toReversed().map(({ text }) => [buildHeaderKey(text), text])).values()].toReversed()
}

/** True if the header with this key names a column of order ids. */
export const isIdKey = (headerKey: string): boolean =>
  loadAliases().byKey.get(headerKey)?.target === 'order.external_id'
