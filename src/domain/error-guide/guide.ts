import type { FieldError } from '../field-error.ts'

/** What the page of an error code says. */
export interface ErrorGuide {
  cause: string
  mend: string
  example: {
    /** The path that was asked; the usual one without it. */
    path?: string
    detail: string
    errors?: readonly FieldError[]
    extra?: Readonly<Record<string, unknown>>
  }
}

/** What the page of a code in `errors[]` says; `detail` is an example of what is answered. */
export interface FieldGuide {
  cause: string
  mend: string
  detail: string
}
