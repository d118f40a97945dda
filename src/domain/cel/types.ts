/** UTF-16 offsets from 0; `end` is exclusive. */
export interface SourceRange {
  start: number
  end: number
}

/** An error in an expression. `line` and `column` count from 1. */
export interface CelError extends SourceRange {
  code: string
  message: string
  line: number
  column: number
}

export type Scalar = 'bool' | 'int' | 'double' | 'string' | 'timestamp' | 'duration'
export type ObjectName =
  | 'user'
  | 'order'
  | 'purchase'
  | 'use'
  | 'consents'
  | 'consent'
  | 'stats'
  | 'campaigns'
  | 'campaign_message'
  | 'edition'
export interface ListType {
  list: Type
  /** Elements can be null. */
  nullable: boolean
}
/** `json` is a metadata value, whose type is only known when it is read. `never` is the element type of `[]`. */
export type Type = Scalar | 'null' | 'json' | 'never' | ObjectName | ListType

/** The lists of `dynamic_values` in the CEL context. */
export const valueKinds = [
  'products',
  'variants',
  'locations',
  'options',
  'consents',
  'locales',
  'editions',
  'order_statuses',
  'order_types',
  'purchase_statuses',
  'consent_statuses',
  'currencies',
  'campaigns',
  'campaign_links',
  'message_states',
  'message_reasons',
] as const
export type ValueKind = (typeof valueKinds)[number]

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%'
export type ComparisonOperator = '<' | '<=' | '>' | '>=' | '==' | '!='
export type MacroName = 'exists' | 'exists_one' | 'all' | 'filter' | 'map'
export type Constant = string | bigint | number | boolean | null

/** `by` is `value` for a field that holds ids or keys, and `label` for one that holds names. */
interface ValueSource {
  from: ValueKind
  field: string
  by: 'value' | 'label'
}

interface Base extends SourceRange {
  type: Type
  nullable: boolean
  values?: ValueSource | undefined
}

export type LiteralExpression = Base & { node: 'literal'; value: Constant }
type MacroExpression = Base & {
  node: 'macro'
  macro: MacroName
  range: Expression
  variable: string
  predicate: Expression | null
  /** The value that `map` makes of each element; null for other macros. */
  result: Expression | null
}

/** A checked expression: each node has a type, and an `as` node converts metadata where a type is needed. */
export type Expression =
  /** Timestamps and durations are milliseconds. */
  | LiteralExpression
  | (Base & { node: 'now' })
  | (Base & { node: 'variable'; name: string })
  | (Base & { node: 'field'; object: Expression; name: string })
  | (Base & { node: 'consent'; key: string })
  | (Base & { node: 'member'; object: Expression; key: string })
  | (Base & { node: 'has_member'; object: Expression; key: string })
  | (Base & { node: 'has_consent'; key: string })
  /** Reads a metadata value as `type`. Another type is an error when the expression runs. */
  | (Base & { node: 'as'; operand: Expression })
  | (Base & { node: 'and' | 'or'; operands: Expression[] })
  | (Base & { node: 'not'; operand: Expression })
  | (Base & { node: 'minus'; operand: Expression })
  | (Base & { node: 'arithmetic'; operator: ArithmeticOperator; left: Expression; right: Expression })
  | (Base & { node: 'compare'; operator: ComparisonOperator; left: Expression; right: Expression })
  | (Base & { node: 'in'; element: Expression; list: Expression })
  | (Base & { node: 'choice'; condition: Expression; consequence: Expression; otherwise: Expression })
  | (Base & { node: 'call'; name: string; args: Expression[] })
  | (Base & { node: 'list'; items: LiteralExpression[] })
  | MacroExpression

export type ExpressionOf<Node extends Expression['node']> = Extract<Expression, { node: Node }>

const scalars: readonly Type[] = ['bool', 'int', 'double', 'string', 'timestamp', 'duration']
export const isScalar = (type: Type): type is Scalar => scalars.includes(type)

export const isListType = (type: Type): type is ListType => typeof type === 'object'

export const formatType = (type: Type): string => {
  if (isListType(type)) return `list<${formatType(type.list)}>`
  return type === 'json' ? 'a value of metadata' : type
}

/** Thrown by the parser and the checker; clients get it as an error of the expression. */
export class Refusal extends Error {
  readonly code: string
  readonly range: SourceRange

  constructor(code: string, message: string, range: SourceRange) {
    super(message)
    this.code = code
    this.range = range
  }
}

export function buildError(source: string, code: string, message: string, range: SourceRange): CelError {
  const start = Math.min(Math.max(range.start, 0), source.length)
  const end = Math.min(Math.max(range.end, start), source.length)
  const before = source.slice(0, start)
  const line = before.split('\n').length
  return { code, message, line, column: start - before.lastIndexOf('\n'), start, end }
}
