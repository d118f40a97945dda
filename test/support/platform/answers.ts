/** An error in the form of the platform's API. */
export class Refusal extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface Call {
  method: string
  path: string
  query: URLSearchParams
  headers: Headers
  body: Buffer
}

export const readJson = ({ body }: Call): unknown => JSON.parse(body.toString('utf8'))

export const readForm = ({ headers, body }: Call): Promise<FormData> =>
  new Response(new Uint8Array(body), { headers: { 'content-type': headers.get('content-type') ?? '' } }).formData()

/** An answer with what a list says about its pages. */
export class Listing {
  readonly rows: readonly unknown[]

  constructor(rows: readonly unknown[]) {
    this.rows = rows
  }
}

/** An answer that is no envelope of the platform's API. */
export class RawAnswer {
  readonly status: number
  readonly body: unknown

  constructor(status: number, body: unknown) {
    this.status = status
    this.body = body
  }
}

export type Handler<State> = (state: State, call: Call, ids: readonly string[]) => unknown
