export interface CallInit {
  params?: { path?: Record<string, unknown>; query?: Record<string, unknown> }
  body?: unknown
  headers?: Record<string, string>
}

export interface Call {
  id: number
  method: string
  path: string
  init: CallInit
  /** Null until the answer has arrived. */
  status: number | null
  requestId: string | null
  durationMs: number | null
}

const maxCalls = 40

let calls: readonly Call[] = []
let nextId = 1
const listeners = new Set<() => void>()

function replace(changed: readonly Call[]): void {
  calls = changed
  listeners.forEach((listener) => listener())
}

type Outcome = Response | { status: number; requestId: string | null }

const isSame = (one: Call, other: Call): boolean =>
  one.method === 'GET' &&
  one.path === other.path &&
  JSON.stringify(one.init.params) === JSON.stringify(other.init.params)

/** Lists a call of the page, and returns the function that adds its answer. A repeated read takes the place of the earlier. */
export function recordCall(
  method: string,
  path: string,
  { params, body, headers }: CallInit,
): (outcome: Outcome) => void {
  const started = performance.now()
  const call: Call = {
    id: nextId++,
    method,
    path,
    init: { params, body, headers },
    status: null,
    requestId: null,
    durationMs: null,
  }
  replace([call, ...calls.filter((other) => !isSame(other, call))].slice(0, maxCalls))
  return (outcome) => {
    const requestId = outcome instanceof Response ? outcome.headers.get('x-request-id') : outcome.requestId
    const durationMs = Math.round(performance.now() - started)
    const answered = { ...call, status: outcome.status, requestId, durationMs }
    replace(calls.map((other) => (other.id === call.id ? answered : other)))
  }
}

export const forgetCalls = (): void => replace([])
export const readCalls = (): readonly Call[] => calls
export function onCallsChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
