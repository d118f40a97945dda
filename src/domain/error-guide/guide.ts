/** One thing wrong with a request, as an example shows it. */
interface ExampleError {
  code: string
  detail: string
  attr: string | null
  pointer: string | null
  line?: number
  column?: number
  start?: number
  end?: number
}

/** What the page of an error code says. */
export interface ErrorGuide {
  cause: string
  mend: string
  example: {
    /** The path that was asked; the usual one without it. */
    path?: string
    detail: string
    errors?: readonly ExampleError[]
    extra?: Readonly<Record<string, unknown>>
  }
}

/** What the page of a code in `errors[]` says; `detail` is an example of what is answered. */
export interface FieldGuide {
  cause: string
  mend: string
  detail: string
}
