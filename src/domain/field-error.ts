/** One fault of the request: `pointer` is its place in the body; it is null for parameters. */
export interface FieldError {
  code: string
  detail: string
  attr: string | null
  pointer: string | null
  /** The line and column in an expression or a template, from 1; `start` and `end` count characters from 0. */
  line?: number
  column?: number
  start?: number
  end?: number
}
