import { type SQL, sql } from 'drizzle-orm'

interface TakenSlug {
  slug: string
}

/** The slugs of an organisation that begin with `base`, among them all that `freeSlug` could come upon. */
export const slugsFrom = (
  organizationId: string,
  base: string,
): SQL<TakenSlug> => sql<TakenSlug>`select slug from editions
  where organization_id = ${organizationId} and slug >= ${base} and slug < ${`${base}.`}`

export const slugIs = (organizationId: string, slug: string): SQL<TakenSlug> => sql<TakenSlug>`select slug from editions
  where organization_id = ${organizationId} and slug = ${slug}`

/** The uniqueness that an insert violates when another edition took the slug. */
export const slugOnce = 'editions.organization_id, editions.slug'
