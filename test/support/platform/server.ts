import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type Call, Listing, RawAnswer, Refusal } from './answers.ts'
import { routes } from './routes.ts'
import { answerAsService } from './service.ts'
import { createState, type PlatformState } from './state.ts'

export type Break = 'before' | 'cut' | 'after' | 'cut after' | 429

export interface Platform {
  state: PlatformState
  url: string
  /** All calls so far, such as `POST /accounts/…/queues webhooks`. */
  calls: string[]
  /** The calls that changed something. */
  changes: string[]
  /**
   * Decides for each change whether it breaks. After a break nothing is answered until `heal` is called, as when the
   * network of the machine is gone.
   */
  chooseBreak: (change: string) => Break | null
  heal: () => void
  stop: () => Promise<void>
}

/** Paths of the calls by which a deployed service is reached. */
const servicePrefix = '/services/'

const maskIds = (path: string): string =>
  path.replace(/\/accounts\/[^/]+/, '').replaceAll(/\/(?:[0-9a-f]{32}|[0-9a-f-]{36})(?=\/|$)/g, '/…')

/** Names what a call makes, so that the calls of all queues differ. */
function nameSubject({ body, headers }: Call): string {
  if (!headers.get('content-type')?.includes('json')) return ''
  const fields = JSON.parse(body.toString('utf8') || '{}') as Record<string, string | undefined>
  return fields['queue_name'] ?? fields['hostname'] ?? fields['email'] ?? fields['name'] ?? ''
}

/** Reads of D1 and the plan of an upload are sent by POST too. */
function isChange({ method, path, body }: Call): boolean {
  if (method === 'GET') return false
  return !(path.endsWith('/query') && /^\{"sql":"\s*select/i.test(body.toString('utf8')))
}

const readCall = async (request: IncomingMessage): Promise<Call> => {
  const url = new URL(request.url ?? '/', 'http://platform')
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers,
    body: await buffer(request),
  }
}

async function handle(state: PlatformState, call: Call): Promise<unknown> {
  if (call.path.startsWith(servicePrefix)) {
    const [, , host = '', ...parts] = call.path.split('/')
    return answerAsService(state, host, `/${parts.join('/')}`, call)
  }
  const isAssetUpload = call.path.endsWith('/workers/assets/upload')
  if (!isAssetUpload && call.headers.get('authorization') !== `Bearer ${state.token}`)
    throw new Refusal(403, 10_000, 'Authentication error')
  for (const [method, pattern, answer] of routes) {
    const match = method === call.method ? pattern.exec(call.path) : null
    if (match) return answer(state, call, match.slice(1))
  }
  throw new Refusal(404, 7003, `The stand-in of the platform does not know ${call.method} ${call.path}.`)
}

function send(response: ServerResponse, answer: unknown): void {
  const write = (status: number, body: unknown, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  if (answer instanceof RawAnswer) return write(answer.status, answer.body)
  if (answer instanceof Refusal)
    return write(answer.status, {
      success: false,
      errors: [{ code: answer.code, message: answer.message }],
      messages: [],
      result: null,
    })
  const result = answer instanceof Listing ? answer.rows : (answer ?? null)
  const count = Array.isArray(result) ? result.length : 0
  const info = { page: 1, per_page: 100, count, total_count: count, total_pages: 1 }
  write(200, {
    success: true,
    errors: [],
    messages: [],
    result,
    ...(answer instanceof Listing ? { result_info: info } : {}),
  })
}

/** Starts a stand-in of the platform's API, with one account. It plays the deployed services too. */
export async function startPlatform(): Promise<Platform> {
  let isDown = false
  const server = createServer((request, response) => void answer(request, response))
  const platform: Platform = {
    state: createState(),
    url: '',
    calls: [],
    changes: [],
    chooseBreak: () => null,
    heal: () => {
      isDown = false
    },
    stop: () => new Promise((resolve) => server.close(() => resolve()) && server.closeAllConnections()),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = await readCall(request)
    if (isDown) return send(response, new Refusal(403, 10_000, 'The network is gone.'))
    const name = `${call.method} ${maskIds(call.path)} ${nameSubject(call)}`.trim()
    const fault = isChange(call) ? platform.chooseBreak(name) : null
    if (fault !== null) isDown = true
    platform.calls.push(name)
    if (fault === 'before') return send(response, new Refusal(400, 10_001, 'It breaks.'))
    if (fault === 429) return send(response, new Refusal(429, 10_429, 'Too many requests.'))
    if (fault === 'cut') return void request.socket.destroy()
    try {
      const result = await handle(platform.state, call)
      if (isChange(call)) platform.changes.push(name)
      if (fault === 'cut after') return void request.socket.destroy()
      send(response, fault === 'after' ? new Refusal(400, 10_001, 'It breaks after its effect.') : result)
    } catch (error) {
      if (error instanceof Refusal) return send(response, error)
      send(response, new Refusal(500, 1, String(error)))
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  platform.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return platform
}
