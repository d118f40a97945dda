import guide from './error-guide.json' with { type: 'json' }
import type { FieldCode, FieldError } from './field-error.ts'

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

/** Every `code` of a problem document. */
export const errorGuide: Readonly<Record<keyof typeof guide.errors, ErrorGuide>> = guide.errors

/** Codes in `errors[]` about the expression of a segment. */
export const expressionFields: Readonly<Record<string, FieldGuide>> = guide.expressions

/** Every code in `errors[]`. */
export const fieldGuide: Readonly<Record<FieldCode, FieldGuide>> = { ...guide.fields, ...guide.expressions }
