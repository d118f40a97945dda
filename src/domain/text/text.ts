import { fold } from './fold.ts'

/** False for texts that the database cannot store unchanged: NUL characters and half surrogate pairs. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** The word of the list that the text is; null for another text. */
export const findWord = <Word extends string>(words: readonly Word[], text: string | null): Word | null =>
  words.find((word) => word === text) ?? null

/** Whether the text is an absolute web address, as links need. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && URL.canParse(text) && new URL(text).hostname !== ''

/** Line breaks and tabs part words; other control characters and marks that are not seen have no place in plain text. */
const breaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu

/** The first bytes of UTF-8 as one line of plain text, of at most as many bytes, cut between characters. */
export function toPlainText(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length === 0) return ''
  // A character that the cut divides stays out: the decoder waits for the rest of it.
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
  const plain = text.replaceAll(breaks, ' ').replaceAll(unseen, '').trim()
  // Replacement characters are longer than the bytes that they replace.
  const again = new TextEncoder().encode(plain)
  return again.length <= maxBytes
    ? plain
    : new TextDecoder().decode(again.subarray(0, maxBytes), { stream: true }).trimEnd()
}

export const slugPattern = /^[-a-zA-Z0-9_]*$/
export const maxSlugLength = 200

/** A slug from a name; `fallback` where the name has no character for a slug. */
export function slugify(name: string, fallback: string): string {
  const slug = fold(name)
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength - 10)
    .replaceAll(/^-|-$/g, '')
  return slug || fallback
}

/** The first of `base`, `base-2`, `base-3` … that is not taken. */
export function pickFreeSlug(base: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`
    if (!taken.has(slug)) return slug
  }
}
