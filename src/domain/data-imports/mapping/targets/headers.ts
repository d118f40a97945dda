import { fold } from '../../../text/fold.ts'

/** A header as words: folded, without punctuation, `orderId` as two words, `#` as `number`. */
export const headerWords = (header: string): string[] =>
  fold(header.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').replaceAll('#', ' number '))
    .replaceAll(/['’]s\b/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)

/** The key by which headers are compared: `E-Mail`, `e_mail` and `Email` are equal. */
export const headerKey = (header: string): string => headerWords(header).join('')

/** A header without what is in brackets: `Price (DKK)` is `Price`. */
export const withoutBrackets = (header: string): string => header.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, ' ')
