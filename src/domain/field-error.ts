import type guide from './error-guide.json'

/** The codes of errors about one field or parameter. */
export type FieldCode = keyof typeof guide.fields | keyof typeof guide.expressions

/** An error about one field or parameter of a request. */
export interface FieldError {
  code: string
  detail: string
  attr: string | null
  /** A JSON pointer into the body. Null: the error is about a parameter. */
  pointer: string | null
  /** A JSON pointer into the e-mail message that a campaign sends. */
  email_message_pointer?: string
  /** The position in an expression or a template: lines and columns count from 1, `start` and `end` from 0. */
  line?: number
  column?: number
  start?: number
  end?: number
}
