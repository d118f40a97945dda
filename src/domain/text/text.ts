import { fold } from './fold.ts'

/** False for texts with NUL characters or half surrogate pairs, which D1 does not store unchanged. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** The text as a word of the list, or null. */
export const findWord = <Word extends string>(words: readonly Word[], text: string | null): Word | null =>
  words.find((word) => word === text) ?? null

/** True for an absolute http or https URL. */
export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && URL.canParse(text) && new URL(text).hostname !== ''

const lineBreaksAndTabs = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu

/** Decodes the first `maxBytes` bytes of UTF-8 to one line of visible text, which is no longer than that. */
export function toPlainText(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length === 0) return ''
  // With `stream`, the decoder drops a character that the cut divides.
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
  const visibleText = text.replaceAll(lineBreaksAndTabs, ' ').replaceAll(invisibleCharacters, '').trim()
  // Replacement characters take more bytes than those that they replace.
  const encodedText = new TextEncoder().encode(visibleText)
  return encodedText.length <= maxBytes
    ? visibleText
    : new TextDecoder().decode(encodedText.subarray(0, maxBytes), { stream: true }).trimEnd()
}

export const slugPattern = /^[-a-zA-Z0-9_]*$/
export const maxSlugLength = 200

/** A slug for a name, or `fallback` if no character of the name fits into a slug. */
export function slugify(name: string, fallback: string): string {
  const slug = fold(name)
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxSlugLength - 10)
    .replaceAll(/^-|-$/g, '')
  return slug || fallback
}

/** The first of `base`, `base-2`, `base-3` and so on that is not taken. */
export function pickFreeSlug(base: string, usedSlugs: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const slug = number === 1 ? base : `${base}-${number}`
    if (!usedSlugs.has(slug)) return slug
  }
}
