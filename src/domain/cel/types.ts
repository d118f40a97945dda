/** A place in the source: UTF-16 offsets from 0, `end` exclusive. */
export interface SourceRange {
  start: number
  end: number
}

/** A fault of an expression with its place; `line` and `column` count from 1. */
export interface CelError extends SourceRange {
  code: string
  message: string
  line: number
  column: number
}

export type Scalar = 'bool' | 'int' | 'double' | 'string' | 'timestamp' | 'duration'
export type ObjectName = 'user' | 'order' | 'purchase' | 'consents' | 'consent' | 'stats' | 'campaigns' | 'edition'
export interface ListType {
  list: Type
  /** The elements may be null. */
  nullable: boolean
}
/** `json` is a value of metadata, whose type shows only when it is read; `never` is the element of `[]`. */
export type Type = Scalar | 'null' | 'json' | 'never' | ObjectName | ListType

/** The known values that a field takes: `dynamic_values` of the context. */
export type ValuesFrom =
  | 'products'
  | 'variants'
  | 'locations'
  | 'options'
  | 'consents'
  | 'locales'
  | 'editions'
  | 'order_statuses'
  | 'order_types'
  | 'purchase_statuses'
  | 'consent_statuses'
  | 'currencies'
  | 'campaigns'

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%'
export type ComparisonOperator = '<' | '<=' | '>' | '>=' | '==' | '!='
export type MacroName = 'exists' | 'exists_one' | 'all' | 'filter' | 'map'
export type Constant = string | bigint | number | boolean | null

/** Where the known values of a field are; `by` says whether it is compared with their ids and keys or their names. */
interface KnownFrom {
  from: ValuesFrom
  field: string
  by: 'value' | 'label'
}

interface Base extends SourceRange {
  type: Type
  nullable: boolean
  values?: KnownFrom | undefined
}

export type LiteralExpression = Base & { node: 'literal'; value: Constant }
export type MacroExpression = Base & {
  node: 'macro'
  macro: MacroName
  range: Expression
  variable: string
  predicate: Expression | null
  /** The result of `map` for an element. */
  result: Expression | null
}

/** A checked expression: every node has its type, and metadata is converted where a type is needed. */
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
  /** A value of metadata that has to be of `type`, or it is an error. */
  | (Base & { node: 'as'; operand: Expression })
  | (Base & { node: 'and' | 'or'; operands: Expression[] })
  | (Base & { node: 'not'; operand: Expression })
  | (Base & { node: 'minus'; operand: Expression })
  | (Base & { node: 'arithmetic'; operator: ArithmeticOperator; left: Expression; right: Expression })
  | (Base & { node: 'compare'; operator: ComparisonOperator; left: Expression; right: Expression })
  | (Base & { node: 'in'; element: Expression; list: Expression })
  | (Base & { node: 'choice'; condition: Expression; chosen: Expression; otherwise: Expression })
  | (Base & { node: 'call'; name: string; args: Expression[] })
  | (Base & { node: 'list'; items: LiteralExpression[] })
  | MacroExpression

export type ExpressionOf<Node extends Expression['node']> = Extract<Expression, { node: Node }>

const scalars: readonly Type[] = ['bool', 'int', 'double', 'string', 'timestamp', 'duration']
export const isScalar = (type: Type): type is Scalar => scalars.includes(type)

export const isList = (type: Type): type is ListType => typeof type === 'object'

export const nameOf = (type: Type): string => {
  if (isList(type)) return `list<${nameOf(type.list)}>`
  return type === 'json' ? 'a value of metadata' : type
}

/** Thrown inside the checker and answered as an error of the expression. */
export class Refusal extends Error {
  readonly code: string
  readonly range: SourceRange

  constructor(code: string, message: string, range: SourceRange) {
    super(message)
    this.code = code
    this.range = range
  }
}

export function errorAt(source: string, code: string, message: string, range: SourceRange): CelError {
  const start = Math.min(Math.max(range.start, 0), source.length)
  const end = Math.min(Math.max(range.end, start), source.length)
  const before = source.slice(0, start)
  const line = before.split('\n').length
  return { code, message, line, column: start - before.lastIndexOf('\n'), start, end }
}
