import { type SQL, sql } from 'drizzle-orm'
import type { Expression } from '../../domain/cel/index.ts'
import { inEditions } from '../customers.ts'
import type { ExpressionScope } from './columns.ts'
import { buildPredicate } from './predicate.ts'

/**
 * Selects those of the people for whom an expression holds: the people, by `users.seq`, who would be members of a segment
 * with this expression and scope.
 */
export function selectMatchingPeople(
  expression: Expression,
  scope: ExpressionScope,
  seqs: readonly number[],
): SQL<{ seq: number }> {
  const isCustomer =
    scope.editions === null
      ? sql`1`
      : sql`exists (select 1 from edition_customers
          where edition_customers.user_seq = u.seq and ${inEditions(sql`edition_customers.edition_id`, scope.editions)})`
  return sql`select u.seq from json_each(${JSON.stringify(seqs)}) as person cross join users u on u.seq = person.value
    where u.organization_id = ${scope.organizationId} and ${isCustomer} and ${buildPredicate(expression, scope)}`
}
