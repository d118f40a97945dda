/** Code points of one entry of the search index. A shorter text is not in it. */
const gramLength = 3

/** So many entries are enough to find a text: what they find is compared with the text itself. */
const mostGrams = 24

/** Where the migrations move the last characters of an id: to code points that folded text never has. */
export const markShifts = { edition: 0x300 - 0x20, organization: 0xe0100 - 0x20 }

/** A text as FTS5 takes it. */
export const quotePhrase = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** What the texts of an edition or organisation are marked with. Few share a mark, so rows are compared too. */
export const encodeMark = (kind: keyof typeof markShifts, id: string): string =>
  String.fromCodePoint(...Array.from(id.slice(-gramLength), (letter) => letter.charCodeAt(0) + markShifts[kind]))

export const isIndexed = (text: string): boolean => Array.from(text).length >= gramLength

/** All entries of a text, each once. */
function gramsOf(text: string): string[] {
  const letters = Array.from(text)
  return [...new Set(letters.slice(gramLength - 1).map((_, at) => letters.slice(at, at + gramLength).join('')))]
}

/** Entries that are spread over the text. */
function someGramsOf(text: string): string[] {
  const grams = gramsOf(text)
  const step = Math.max(1, grams.length / mostGrams)
  return grams.filter((_, at) => Math.floor(at / step) > Math.floor((at - 1) / step))
}

/**
 * The expression of FTS5 for rows that may contain one of the texts. All rows that do are among those that it finds.
 * Each text is one that the index has.
 */
export const buildMatchExpression = (texts: readonly string[]): string =>
  texts.map((text) => `(${someGramsOf(text).map(quotePhrase).join(' AND ')})`).join(' OR ')
