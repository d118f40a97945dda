import guide from './error-guide.json' with { type: 'json' }
import type { ErrorCode } from './errors.ts'
import type { FieldError } from './field-error.ts'

/** The text of the page of a code. `fix` is absent when the cause says it all. */
interface Explanation {
  cause: string
  fix?: string
}

export interface ErrorGuide extends Explanation {
  /** An example of an answer; the page has a default for its `path`. */
  example: {
    path?: string
    detail: string
    errors?: readonly FieldError[]
    extra?: Readonly<Record<string, unknown>>
  }
}

/** `detail` is an example of an answer. */
export interface FieldGuide extends Explanation {
  detail: string
}

export type FieldCode = keyof typeof guide.fields | keyof typeof guide.expressions

/** Every `code` of a problem document. A code without an entry is a type error. */
export const errorGuide: Readonly<Record<ErrorCode, ErrorGuide>> = guide.errors

/** Codes in `errors[]` about the expression of a segment. */
export const expressionFields: Readonly<Record<string, FieldGuide>> = guide.expressions

/** Every code in `errors[]`. */
export const fieldGuide: Readonly<Record<FieldCode, FieldGuide>> = { ...guide.fields, ...guide.expressions }
