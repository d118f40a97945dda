import { fold } from './fold.ts'

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
