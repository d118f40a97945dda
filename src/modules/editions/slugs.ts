import { and, eq, gte, lt } from 'drizzle-orm'
import { editions } from '../../db/schema/editions.ts'
import { select } from '../../db/select.ts'

const { slug: column, organization_id } = editions

const slugs = () => select({ slug: column }).from(editions)

/** The slugs of an organisation that begin with `base`, among them all that `freeSlug` could come upon. */
export const slugsFrom = (organizationId: string, base: string) =>
  slugs().where(and(eq(organization_id, organizationId), gte(column, base), lt(column, `${base}.`)))

export const slugIs = (organizationId: string, slug: string) =>
  slugs().where(and(eq(organization_id, organizationId), eq(column, slug)))

/** The uniqueness that an insert violates when another edition took the slug. */
export const slugOnce = 'editions.organization_id, editions.slug'
