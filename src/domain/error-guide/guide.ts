import type { FieldError } from '../field-error.ts'

/** The text of the page of an error code. */
export interface ErrorGuide {
  cause: string
  mend: string
  example: {
    /** The path of the example; the usual one by default. */
    path?: string
    detail: string
    errors?: readonly FieldError[]
    extra?: Readonly<Record<string, unknown>>
  }
}

/** The text of the page of a code in `errors[]`; `detail` is an example of an answer. */
export interface FieldGuide {
  cause: string
  mend: string
  detail: string
}
