import { setTimeout as wait } from 'node:timers/promises'

interface Problem {
  status: number
  code: string
  detail: string
  errors: { code: string; detail: string; attr: string | null; pointer: string | null }[]
}

/** An error of the API with its problem document. */
export class ApiError extends Error {
  readonly problem: Problem

  constructor(method: string, path: string, problem: Problem) {
    const fields = problem.errors.map((error) => `\n  ${error.pointer ?? error.attr ?? ''} ${error.detail}`)
    super(`${method} ${path} answered ${problem.status} ${problem.code}: ${problem.detail}${fields.join('')}`)
    this.problem = problem
  }
}

export interface Page<Item> {
  count: number
  next: string | null
  previous: string | null
  results: Item[]
}

export interface Client {
  get: <T>(path: string) => Promise<T>
  /** The key makes the request safe to repeat, because the API stores its answer. */
  post: <T>(path: string, body: unknown, idempotencyKey?: string) => Promise<T>
  patch: <T>(path: string, body: unknown, idempotencyKey?: string) => Promise<T>
  /** Sends a text as the body. */
  upload: <T>(path: string, text: string, headers: Record<string, string>) => Promise<T>
  /** Returns the text of an answer that is not JSON. */
  download: (path: string) => Promise<string>
}

interface Sent {
  method: string
  path: string
  body?: string
  headers?: Record<string, string>
}

/** Longer than the service locks the key of an interrupted request. */
const patienceMs = 90_000

/** Creates a client of the API at `url`. It also accepts absolute addresses such as `next`, and obeys `Retry-After`. */
export function createClient(url: string, token: string): Client {
  async function send({ method, path, body, headers = {} }: Sent): Promise<Response> {
    for (const deadline = Date.now() + patienceMs; ;) {
      const response = await fetch(new URL(path, url), {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body }),
      })
      if (response.ok) return response
      const pause = Number(response.headers.get('retry-after'))
      if (!pause || Date.now() + pause * 1000 > deadline) throw new ApiError(method, path, await readProblem(response))
      await response.body?.cancel()
      await wait(pause * 1000)
    }
  }
  const read = async <T>(sent: Sent): Promise<T> => (await send(sent)).json() as Promise<T>

  async function call<T>(method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<T> {
    const headers = {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    }
    return read({ method, path, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  }
  return {
    get: (path) => call('GET', path),
    post: (path, body, key) => call('POST', path, body, key),
    patch: (path, body, key) => call('PATCH', path, body, key),
    upload: (path, body, headers) => read({ method: 'POST', path, body, headers }),
    download: async (path) => (await send({ method: 'GET', path })).text(),
  }
}

async function readProblem(response: Response): Promise<Problem> {
  const text = await response.text()
  if (response.headers.get('content-type')?.includes('problem+json')) return JSON.parse(text) as Problem
  return { status: response.status, code: 'unexpected_answer', detail: text.slice(0, 500), errors: [] }
}
