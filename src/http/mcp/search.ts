import type { Operation } from '../operations/operation.ts'

/** Words that people use for the words of the API. Each of them is already reduced by `reduceWord`. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  add: ['create'],
  am: ['info'],
  arrive: ['delivery'],
  audience: ['segment'],
  attendee: ['user', 'customer'],
  block: ['suppression'],
  bounce: ['suppression'],
  buyer: ['user', 'customer'],
  change: ['update', 'audit'],
  check: ['use', 'verify', 'validate'],
  clicked: ['click', 'link'],
  colleague: ['member'],
  contact: ['user', 'customer'],
  copy: ['duplicate'],
  csv: ['file', 'data'],

  customer: ['user'],
  download: ['export'],
  edit: ['update'],
  employee: ['member'],
  festival: ['edition', 'event'],
  forget: ['erase'],
  gdpr: ['erase', 'export', 'consent'],
  group: ['segment'],
  guest: ['user', 'customer'],
  history: ['activity', 'audit'],
  invite: ['add', 'member'],
  key: ['token'],
  mail: ['email'],
  mailing: ['campaign'],
  make: ['create'],
  money: ['refund', 'payment'],
  new: ['create'],
  newsletter: ['campaign'],
  pay: ['refund', 'payment'],
  people: ['user', 'customer', 'recipient'],
  person: ['user', 'customer'],
  reimburse: ['refund'],
  remove: ['delete', 'erase', 'revoke'],
  revenue: ['stat'],
  sale: ['order', 'stat'],
  scan: ['use'],
  search: ['list'],
  show: ['get', 'list'],
  see: ['get', 'list'],
  sold: ['stat', 'order'],
  spreadsheet: ['data', 'file'],
  staff: ['member'],
  statistic: ['stat'],
  stop: ['pause', 'cancel'],
  subscriber: ['user', 'consent'],
  team: ['member'],
  text: ['sms', 'message'],
  ticket: ['purchase'],
  unsubscribe: ['suppression', 'withdraw'],
  upload: ['import', 'file'],
  whole: ['all'],
  who: ['recipient'],
}

const ignoredWords = new Set(
  'a all an and are at be by can do does for from has have how i if in into is it its me my of on or our than that the their them they this to was we were what when where which with you your'.split(
    ' ',
  ),
)

const minStemLength = 4

/** Makes one form of singular and plural, and of a verb and its endings. It need not be a word. */
function reduceWord(word: string): string {
  for (const ending of ['ing', 'ied', 'ies', 'ed', 'es', 's', 'e'])
    if (word.endsWith(ending) && !word.endsWith('ss') && word.length - ending.length >= minStemLength - 1)
      return word.slice(0, -ending.length) + (ending.startsWith('i') && ending !== 'ing' ? 'y' : '')
  return word
}

/** Splits camel case, snake case and prose. `e-mail` is `email`, and `organisation` is `organization`. */
const splitWords = (text: string): string[] =>
  text
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll('e-mail', 'email')
    .replaceAll('organisation', 'organization')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

const reducedSynonyms = new Map(
  Object.entries(synonyms).map(([word, others]) => [reduceWord(word), others.map(reduceWord)]),
)

/** The points for a word of the question in each place of an operation. */
const weights = { id: 6, summary: 4, path: 3, parameters: 2, description: 1 } as const
const synonymShare = 0.7
const prefixShare = 0.6

interface IndexEntry {
  operation: Operation
  idWords: ReadonlySet<string>
  /** The weight of each word. */
  words: ReadonlyMap<string, number>
}

const listNames = (schema: unknown): string[] =>
  typeof schema === 'object' && schema !== null && 'shape' in schema ? Object.keys(schema.shape as object) : []

function buildEntry(operation: Operation): IndexEntry {
  const { id, summary, path, tag, params, query, body, route } = operation
  const texts: Record<keyof typeof weights, string> = {
    id,
    summary,
    path: `${tag} ${path.replaceAll(/\{\w+\}/g, '')}`,
    parameters: [params, query, body].flatMap(listNames).join(' '),
    description: route.description ?? '',
  }
  const words = new Map<string, number>()
  for (const [place, weight] of Object.entries(weights))
    for (const word of splitWords(texts[place as keyof typeof weights]).map(reduceWord))
      words.set(word, Math.max(words.get(word) ?? 0, weight))
  return { operation, idWords: new Set(splitWords(id).map(reduceWord)), words }
}

/** The weight of the best word of the operation for a word of the question. */
function weighWord(words: ReadonlyMap<string, number>, word: string): number {
  const exact = words.get(word)
  if (exact !== undefined) return exact
  if (word.length < minStemLength) return 0
  let best = 0
  for (const [other, weight] of words) if (other.startsWith(word)) best = Math.max(best, weight * prefixShare)
  return best
}

const maxWords = 24
/** The points for an operation of which all words of the id are in the question, so that `getOrder` is before `getOrderX`. */
const wholeIdGain = 8

/** The share of the words of an id that the question means. */
const computeShare = (idWords: ReadonlySet<string>, meanings: ReadonlySet<string>): number =>
  idWords.intersection(meanings).size / idWords.size

/** Searches operations by the words of a question. Rare words count more than those that many operations have. */
export class OperationSearch {
  readonly #entries: readonly IndexEntry[]
  readonly #frequencies = new Map<string, number>()

  constructor(operations: readonly Operation[]) {
    this.#entries = operations.map(buildEntry)
    for (const { words } of this.#entries)
      for (const word of words.keys()) this.#frequencies.set(word, (this.#frequencies.get(word) ?? 0) + 1)
  }

  /** The best operations, best first. Operations with the same score keep their order. */
  find(question: string, limit: number): Operation[] {
    const words = splitWords(question)
    const usefulWords = words.filter((word) => !ignoredWords.has(word))
    const reducedWords = [...new Set((usefulWords.length ? usefulWords : words).map(reduceWord))].slice(0, maxWords)
    const meanings = new Set(reducedWords.flatMap((word) => [word, ...(reducedSynonyms.get(word) ?? [])]))
    return this.#entries
      .map((entry) => ({
        entry,
        score: reducedWords.reduce((score, word) => score + this.#scoreWord(entry, word), 0),
      }))
      .filter(({ score }) => score > 0)
      .map(({ entry, score }) => ({
        operation: entry.operation,
        score:
          entry.operation.id === question.trim()
            ? Infinity
            : score + wholeIdGain * computeShare(entry.idWords, meanings),
      }))
      .toSorted((one, other) => other.score - one.score)
      .slice(0, limit)
      .map(({ operation }) => operation)
  }

  #scoreWord({ words }: IndexEntry, word: string): number {
    const scores = (reducedSynonyms.get(word) ?? []).map(
      (synonym) => synonymShare * weighWord(words, synonym) * this.#computeRarity(synonym),
    )
    return Math.max(weighWord(words, word) * this.#computeRarity(word), ...scores)
  }

  #computeRarity(word: string): number {
    return Math.log(1 + this.#entries.length / (1 + (this.#frequencies.get(word) ?? 0)))
  }
}
