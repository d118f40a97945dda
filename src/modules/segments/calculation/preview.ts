import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { buildPredicate } from '../../../db/cel/index.ts'
import { isStatementFailure } from '../../../db/failures.ts'
import { checkExpression } from '../../../domain/cel/index.ts'
import { type Audience, buildExclusion, buildScope, countPeople, type ExpressionPlace } from './audience.ts'
import { takeSteps } from './calculation.ts'
import type { SegmentMember } from './members.ts'

/** A preview tests at most this many people, and stops after this time. */
const maxPeople = 50_000
const maxMs = 2000

/** Selects the numbers of the people of an edition or an organisation, or of every third of them when `every` is 3. */
const selectNumbers = ({ organization_id, edition_id }: Audience, every: number): SQL<{ seq: number }> =>
  edition_id === null
    ? sql`select seq from users where organization_id = ${organization_id} and seq % ${every} = 0
        order by seq limit ${maxPeople}`
    : sql`select user_seq as seq from edition_customers where edition_id = ${edition_id} and user_seq % ${every} = 0
        order by user_seq limit ${maxPeople}`

export interface Preview {
  /** True if everybody was tested. */
  isComplete: boolean
  /** The number of all people, divided by the number of those who were tested. */
  factor: number
}

/**
 * Finds the members whom a calculation would find now, and those whom it would exclude, without storing them. `handle`
 * gets them in the order of their numbers. Returns null when the expression cannot be evaluated.
 */
export async function previewMembers(
  ctx: Pick<JobCtx, 'db' | 'now'>,
  segment: Audience & ExpressionPlace & { expression: string },
  handle: (members: readonly SegmentMember[]) => Promise<void>,
): Promise<Preview | null> {
  const checkResult = checkExpression(segment.expression)
  if (!checkResult.ok) return null
  const { total = 0 } = (await ctx.db.first(sql<{ total: number }>`select ${countPeople(segment)} as total`)) ?? {}
  const every = Math.max(1, Math.ceil(total / maxPeople))
  const numbers = (await ctx.db.all(selectNumbers(segment, every))).map(({ seq }) => seq)
  const now = ctx.now()
  const predicate = buildPredicate(checkResult.expression, buildScope(segment, now))
  let tested = 0
  for (const step of takeSteps(ctx, numbers, maxMs)) {
    const members = await ctx.db
      .all(
        sql<SegmentMember>`select u.seq as user_seq, u.id, u.email, u.phone_number, u.first_name, u.last_name, u.locale,
            ${buildExclusion(segment, now)} as excluded_for
          from json_each(${JSON.stringify(step)}) as person cross join users u on u.seq = person.value
          where u.organization_id = ${segment.organization_id} and ${predicate}`,
      )
      .catch((error: unknown) => {
        if (isStatementFailure(error)) return null
        throw error
      })
    if (members === null) return null
    await handle(members)
    tested += step.length
  }
  const isComplete = every === 1 && tested === numbers.length
  return { isComplete, factor: isComplete ? 1 : total / Math.max(1, tested) }
}
