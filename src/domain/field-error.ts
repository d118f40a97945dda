/** One thing wrong with the request: `pointer` leads to it inside the body; it is null for parameters. */
export interface FieldError {
  code: string
  detail: string
  attr: string | null
  pointer: string | null
  /** Where in the text of an expression or a template, from 1; `start` and `end` count characters from 0. */
  line?: number
  column?: number
  start?: number
  end?: number
}
