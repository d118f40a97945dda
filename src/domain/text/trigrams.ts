/** The search index holds sequences of three code points, so shorter texts are not in it. */
export const gramLength = 3

/** A search looks for at most this many sequences, because results are compared with the text anyway. */
const maxGrams = 24

/**
 * A mark is an id's last three characters, shifted to code points that folded text never has, so that a search can
 * require the tenant together with the text. The migrations repeat these shifts.
 */
export const markShifts = { edition: 0x300 - 0x20, organization: 0xe0100 - 0x20 }

/** Quotes a text as a phrase of FTS5. */
export const quotePhrase = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** Two tenants may share a mark, so queries also compare the id. */
export const encodeMark = (kind: keyof typeof markShifts, id: string): string =>
  String.fromCodePoint(...Array.from(id.slice(-gramLength), (letter) => letter.charCodeAt(0) + markShifts[kind]))

const isIndexed = (text: string): boolean => Array.from(text).length >= gramLength

/** The distinct sequences of a text. */
function listGrams(text: string): string[] {
  const letters = Array.from(text)
  return [...new Set(letters.slice(gramLength - 1).map((_, at) => letters.slice(at, at + gramLength).join('')))]
}

/** At most `maxGrams` sequences, spread evenly over the text. */
function sampleGrams(text: string): string[] {
  const grams = listGrams(text)
  const step = Math.max(1, grams.length / maxGrams)
  return grams.filter((_, at) => Math.floor(at / step) > Math.floor((at - 1) / step))
}

/** The spellings of one word or number in a search. A row contains the term if it contains one of them. */
export type SearchTerm = readonly string[]

/** The terms that the index can find: every spelling has three letters or more. */
export const listIndexedTerms = (terms: readonly SearchTerm[]): SearchTerm[] =>
  terms.filter((spellings) => spellings.every(isIndexed))

const buildTermExpression = (spellings: SearchTerm): string =>
  spellings.map((text) => `(${sampleGrams(text).map(quotePhrase).join(' AND ')})`).join(' OR ')

/** An FTS5 expression that finds all rows that contain each term, and some others. Each term must be indexed. */
export const buildMatchExpression = (terms: readonly SearchTerm[]): string =>
  terms.map((term) => `(${buildTermExpression(term)})`).join(' AND ')
