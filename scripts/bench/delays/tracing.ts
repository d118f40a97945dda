import type { Bindings } from '../../../src/app.ts'
import type { JobCtx } from '../../../src/context.ts'
import type { DeliveryClaim } from '../../../src/domain/webhooks/webhook-sender.ts'
import { meteredJob } from '../metered.ts'

/** What happened to the delivery of an event to an address. All times are milliseconds of the clock. */
export interface Step {
  at: number
  what: 'claimed' | 'handed over' | 'posted' | 'answered'
  /** The invocation or the object. */
  by: string
  event: string
  url: string
  /** When the round trip of a claim began. */
  asked?: number
}

/** What an invocation or an object did meanwhile. */
interface Work {
  from: number
  to: number
  what: string
}

export interface Trace {
  steps: Step[]
  works: Work[]
}

let trace: Trace | null = null
let jobs = 0

export const isTracing = (): boolean => trace !== null

/** Notes everything for so long. */
export async function traceFor(ms: number): Promise<Trace> {
  const taken: Trace = { steps: [], works: [] }
  trace = taken
  await new Promise((resolve) => setTimeout(resolve, ms))
  trace = null
  return taken
}

interface ClaimRow {
  event_id: string
  endpoint: string
}

/** A row of a claim has the address inside the JSON of its endpoint. */
function noteResults(by: string, asked: number, results: readonly D1Result[]): void {
  const at = Date.now()
  const rows = results.flatMap((result) => (result.results ?? []) as Partial<ClaimRow>[])
  const claims = rows.flatMap(({ event_id, endpoint }) =>
    event_id && endpoint ? [{ event: event_id, url: (JSON.parse(endpoint) as { url: string }).url }] : [],
  )
  trace?.steps.push(...claims.map((claim) => ({ at, what: 'claimed' as const, by, asked, ...claim })))
  trace?.works.push({ from: asked, to: at, what: `${by}: ${results.length} statements, ${claims.length} claims` })
}

function tracedSession(session: D1DatabaseSession, by: string): D1DatabaseSession {
  const noted = async <Row, R extends D1Result<Row>[]>(ask: () => Promise<R>): Promise<R> => {
    const asked = Date.now()
    const results = await ask()
    noteResults(by, asked, results)
    return results
  }
  const bind = (text: string, values: unknown[]): D1PreparedStatement => {
    const statement = session.prepare(text).bind(...values)
    const all = statement.all.bind(statement)
    return Object.assign(statement, {
      all: async <Row>() => (await noted<Row, [D1Result<Row>]>(async () => [await all<Row>()]))[0],
    })
  }
  // The service prepares no statement without binding its values.
  const prepare = (text: string) => ({ bind: (...values: unknown[]) => bind(text, values) }) as D1PreparedStatement
  const batch = <Row>(statements: D1PreparedStatement[]) =>
    noted<Row, D1Result<Row>[]>(() => session.batch<Row>(statements))
  return { prepare, batch, getBookmark: () => session.getBookmark() }
}

/** A job whose claims, posts, hand-overs and round trips are noted. */
export function tracedJob(env: Bindings, kind: string): JobCtx {
  const by = `${kind} ${++jobs}`
  const DB = { withSession: (begin?: string) => tracedSession(env.DB.withSession(begin), by) } as Bindings['DB']
  const job = meteredJob({ ...env, DB })
  const note = (what: Step['what'], delivery: { event: string; url: string }) =>
    trace?.steps.push({ at: Date.now(), what, by, ...delivery })
  const webhookPost: JobCtx['webhookPost'] = {
    post: async (request) => {
      const delivery = { event: request.headers['webhook-id'] ?? '', url: request.url }
      note('posted', delivery)
      const result = await job.webhookPost.post(request)
      note('answered', delivery)
      return result
    },
  }
  const deliver = async (claims: readonly DeliveryClaim[]) => {
    for (const { event_id, endpoint } of claims) note('handed over', { event: event_id, url: endpoint.url })
    await job.webhookSenders.create().deliver(claims)
  }
  return { ...job, webhookPost, webhookSenders: { create: () => ({ deliver }) } }
}

/** Notes how long a batch of messages kept its queue's consumer. */
export async function traceBatch(batch: MessageBatch, take: () => Promise<void>): Promise<void> {
  const from = Date.now()
  await take()
  trace?.works.push({ from, to: Date.now(), what: `queue ${batch.queue}: ${batch.messages.length} messages` })
}
