import { checkExpression } from '../../domain/cel/index.ts'
import { fieldError, invalid } from '../../domain/errors.ts'

/** What the table keeps of an expression. Throws with the place of each error inside the text. */
export function expressionColumns(source: string): { expression: string; is_time_dependent: number } {
  const checked = checkExpression(source)
  if (checked.ok) return { expression: source, is_time_dependent: Number(checked.isTimeDependent) }
  throw invalid(
    ...checked.errors.map(({ code, message, line, column, start, end }) => ({
      ...fieldError(['expression'], code, message),
      line,
      column,
      start,
      end,
    })),
  )
}
