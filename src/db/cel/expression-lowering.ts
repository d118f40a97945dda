import type { SQL } from 'drizzle-orm'
import type { Expression } from '../../domain/cel/index.ts'
import type { BoundScope } from './columns.ts'
import type { Json } from './json.ts'
import type { ElementSql } from './rows.ts'
import type { Value } from './values.ts'

/** What the lowering of lists needs from the lowering of the whole expression. */
export interface ExpressionLowering {
  readonly bound: BoundScope
  /** `positive`: an error in this position counts as false. */
  value: (expression: Expression, positive?: boolean) => Value
  json: (expression: Expression) => Json
  /** The row of a variable. */
  row: (name: string) => SQL
  /** The purchase of which the expression is the name of the product; null for others, and where written values are packed. */
  purchaseNamed: (expression: Expression) => SQL | null
  /** Runs `inside` with the variable of a macro. */
  with: <T>(name: string, element: ElementSql, inside: () => T) => T
}
