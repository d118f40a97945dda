import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { buildConditions, equals, type FilterTable } from '../../db/filters.ts'
import { buildOrderBy, paginate } from '../../db/paginate.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { signupForms } from '../../db/schema/signup-forms.ts'
import { isVisibleIn } from '../../db/visibility.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import type { SignupFormQuery } from './contract.ts'
import { formColumns, formVisibility, type SignupFormRow } from './queries.ts'

const filters: FilterTable<SignupFormQuery> = {
  organization_id: equals(signupForms.organization_id),
  edition_id: equals(signupForms.edition_id),
  is_active: equals(signupForms.is_active),
}

const sortColumns = {
  created: sql`${signupForms.created_at}`,
  modified: sql`${signupForms.modified_at}`,
  name: sql`${signupForms.name_key}`,
}

export const listSignupForms = (ctx: Ctx, page: PageRequest, query: SignupFormQuery): Promise<Page<SignupFormRow>> =>
  paginate(ctx.db, page, {
    from: sql`${signupForms}`,
    where: [isVisibleIn(ctx.caller, formVisibility, query), ...buildConditions(filters, query)],
    orderBy: buildOrderBy(query.ordering, '-created', sortColumns),
    id: sql`${signupForms.id}`,
    columns: formColumns,
    joins: sql`join ${signupForms} on ${signupForms.id} = page.id
      join ${organizations} on ${organizations.id} = ${signupForms.organization_id}
      left join ${editions} on ${editions.id} = ${signupForms.edition_id}`,
  })
