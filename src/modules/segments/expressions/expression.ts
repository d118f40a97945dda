import type { Ctx } from '../../../context.ts'
import { findListSizes } from '../../../db/cel/list-sizes.ts'
import { type CelError, checkExpression, costError, hasNestedLists } from '../../../domain/cel/index.ts'
import { fieldError, invalid } from '../../../domain/errors.ts'

const invalidAt = (errors: readonly CelError[]) =>
  invalid(
    ...errors.map(({ code, message, line, column, start, end }) => ({
      ...fieldError(['expression'], code, message),
      line,
      column,
      start,
      end,
    })),
  )

/** What the table keeps of an expression. Throws with the place of each error inside the text. */
export async function expressionColumns(
  ctx: Pick<Ctx, 'db'>,
  organizationId: string,
  source: string,
): Promise<{ expression: string; is_time_dependent: boolean }> {
  const checked = checkExpression(source)
  if (!checked.ok) throw invalidAt(checked.errors)
  const { expression, isTimeDependent } = checked
  if (hasNestedLists(expression)) {
    const error = costError(expression, source, (await findListSizes(ctx.db, organizationId)).most)
    if (error) throw invalidAt([error])
  }
  return { expression: source, is_time_dependent: isTimeDependent }
}
