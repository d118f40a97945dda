import { type FakeEvent, FakeRefunds, type FakeStatus, type Refusal, refusal } from './fake-stripe-refunds.ts'

export type { FakeEvent, FakePayment } from './fake-stripe-refunds.ts'

/** The answer to a call that creates a refund. */
export type Conduct =
  | 'accept'
  /** Accepts the call and never answers. */
  | 'accept and hang'
  /** Accepts the call and cuts the connection instead of answering. */
  | 'accept and cut'
  /** Accepts the call and answers 500, also when the key is sent again. */
  | 'accept and fail'
  /** Cuts the connection and accepts nothing. */
  | 'cut'
  /** Accepts the call. The refund begins with this status. */
  | { refund: FakeStatus }
  /** Refuses the call with this answer. */
  | { status: number; code?: string; type?: string; param?: string; message?: string }

interface RefundCallSeen {
  key: string
  payment: string
  account: string | null
  fields: Record<string, string>
}

/** `cut` and `hang` are not answers: the server closes the connection or leaves it open. */
type FakeReply = { status: number; body: unknown } | 'cut' | 'hang'

interface Options {
  now?: () => number
  /** The keys that calls may use. When absent, any key of the right form is accepted. */
  apiKeys?: readonly string[]
}

interface Kept {
  fields: string
  until: number
  /** Null while the call is being handled. */
  reply: { status: number; body: unknown } | null
}

const keyLifeMs = 24 * 3_600_000
const knownFields = /^(payment_intent|charge|amount|reason|metadata\[\w{1,40}\])$/
const reasons = ['duplicate', 'fraudulent', 'requested_by_customer']

const toResponse = ({ status, error }: Refusal) => ({ status, body: { error } })

const isRefusal = (value: object): value is Refusal => 'error' in value

export interface FakeStripe {
  /** Handles one call of the API. */
  respond: (request: Request) => Promise<FakeReply>
  /** Payments, refunds, events and refunded amounts. */
  readonly store: FakeRefunds
  /** Decides how calls that create refunds are answered. `nth` counts calls with the same key from 1. */
  respondWith: (conduct: Conduct | ((call: RefundCallSeen, nth: number) => Conduct)) => void
  /** The delay of every answer. */
  delay: (ms: number) => void
  /** Takes the permission to read payments from the key, or gives it back. */
  allowReading: (isAllowed: boolean) => void
  /** Every call to create a refund. */
  calls: () => readonly RefundCallSeen[]
}

function findFieldFault(fields: Record<string, string>): Refusal | null {
  const unknown = Object.keys(fields).find((name) => !knownFields.test(name))
  if (unknown)
    return refusal(400, `Received unknown parameter: ${unknown}`, { code: 'parameter_unknown', param: unknown })
  const { payment_intent, charge, reason } = fields
  if ((payment_intent === undefined) === (charge === undefined))
    return refusal(400, 'One of the following params should be provided for this request: payment_intent or charge.')
  if (reason !== undefined && !reasons.includes(reason))
    return refusal(400, `Invalid reason: must be one of ${reasons.join(', ')}`, { param: 'reason' })
  return null
}

const readMetadata = (fields: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const key = /^metadata\[(\w+)\]$/.exec(name)?.[1]
      return key === undefined ? [] : [[key, value]]
    }),
  )

const buildMissingPayment = (reference: string, param: string): Refusal =>
  refusal(404, `No such ${param}: '${reference}'`, { code: 'resource_missing', param })

/**
 * Creates a fake of the refund API of Stripe that misbehaves on demand. It honours idempotency keys for 24 hours, refuses
 * to refund more than was paid, keeps connected accounts apart, and records the amounts that were really refunded.
 */
export function createFakeStripe({ now = Date.now, apiKeys }: Options = {}): FakeStripe {
  const store = new FakeRefunds(now)
  const keys = new Map<string, Kept>()
  const nths = new Map<string, number>()
  const calls: RefundCallSeen[] = []
  let conductOf: (call: RefundCallSeen, nth: number) => Conduct = () => 'accept'
  let delayMs = 0
  let mayRead = true

  function note(call: RefundCallSeen): Conduct {
    calls.push(call)
    const nth = (nths.get(call.key) ?? 0) + 1
    nths.set(call.key, nth)
    return conductOf(call, nth)
  }

  function make(call: RefundCallSeen, status: FakeStatus): { status: number; body: unknown } {
    const payment = store.find(call.payment, call.account)
    if (!payment)
      return toResponse(buildMissingPayment(call.payment, 'charge' in call.fields ? 'charge' : 'payment_intent'))
    const { amount, reason } = call.fields
    const made = store.refund(payment, {
      status,
      metadata: readMetadata(call.fields),
      ...(amount === undefined ? {} : { amount: Number(amount) }),
      ...(reason === undefined ? {} : { reason }),
    })
    return isRefusal(made) ? toResponse(made) : { status: 200, body: { ...made } }
  }

  /** Accepts or refuses the call, as the test decides. */
  function conclude(conduct: Conduct, call: RefundCallSeen, storedCall: Kept): FakeReply {
    if (conduct === 'cut') return 'cut'
    if (typeof conduct === 'object' && 'status' in conduct) {
      const { status, message = 'The fake says so.', ...more } = conduct
      return toResponse(
        refusal(status, message, { type: status >= 500 ? 'api_error' : 'invalid_request_error', ...more }),
      )
    }
    const reply = make(call, typeof conduct === 'object' ? conduct.refund : 'succeeded')
    storedCall.reply =
      conduct === 'accept and fail' ? toResponse(refusal(500, 'Something failed.', { type: 'api_error' })) : reply
    if (conduct === 'accept and cut') return 'cut'
    return conduct === 'accept and hang' ? 'hang' : storedCall.reply
  }

  async function refund(request: Request, account: string | null): Promise<FakeReply> {
    const type = request.headers.get('content-type') ?? ''
    if (!type.startsWith('application/x-www-form-urlencoded'))
      return toResponse(refusal(400, 'The body of a request is form-encoded.'))
    const fields = Object.fromEntries(new URLSearchParams(new TextDecoder().decode(await request.arrayBuffer())))
    const fault = findFieldFault(fields)
    if (fault) return toResponse(fault)
    const key = request.headers.get('idempotency-key') ?? ''
    const call = { key, payment: fields['payment_intent'] ?? fields['charge'] ?? '', account, fields }
    const conduct = note(call)
    const place = `${account ?? ''} ${key}`
    const known = key === '' ? undefined : keys.get(place)
    const text = JSON.stringify(fields)
    if (known && known.until > now()) {
      if (known.fields !== text)
        return toResponse(
          refusal(
            400,
            'Keys for idempotent requests can only be used with the same parameters they were first used with.',
            {
              type: 'idempotency_error',
            },
          ),
        )
      if (!known.reply)
        return toResponse(
          refusal(409, 'The key is in use.', { code: 'idempotency_key_in_use', type: 'idempotency_error' }),
        )
      if (conduct === 'cut' || conduct === 'accept and cut') return 'cut'
      if (conduct === 'accept and hang') return 'hang'
      return known.reply
    }
    const storedCall: Kept = { fields: text, until: now() + keyLifeMs, reply: null }
    keys.set(place, storedCall)
    await wait()
    const reply = conclude(conduct, call, storedCall)
    // Only an accepted call uses up its key.
    if (!storedCall.reply) keys.delete(place)
    return reply
  }

  const wait = () => (delayMs > 0 ? new Promise((resolve) => setTimeout(resolve, delayMs)) : Promise.resolve())

  function list(query: URLSearchParams, account: string | null): FakeReply {
    const param = query.has('charge') ? 'charge' : 'payment_intent'
    const reference = query.get(param) ?? ''
    const payment = store.find(reference, account)
    if (!payment) return toResponse(buildMissingPayment(reference, param))
    const newestFirst = store.of(payment).toReversed()
    const after = query.get('starting_after')
    const start = after === null ? 0 : newestFirst.findIndex(({ id }) => id === after) + 1
    const limit = Number(query.get('limit') ?? '10')
    const data = newestFirst.slice(start, start + limit)
    return { status: 200, body: { object: 'list', data, has_more: start + limit < newestFirst.length } }
  }

  function get(id: string, account: string | null): FakeReply {
    const found = store.refunds.find((one) => one.id === id)
    const payment = store.payments.find((one) => one.id === found?.payment_intent)
    return found && payment?.account === account
      ? { status: 200, body: { ...found } }
      : toResponse(buildMissingPayment(id, 'refund'))
  }

  /** Finds a payment by its intent or its charge. */
  function showPayment(object: 'payment_intent' | 'charge', id: string, account: string | null): FakeReply {
    const found = store.find(id, account)
    if (!found) return toResponse(buildMissingPayment(id, object))
    const { charge, id: payment_intent, amount, currency } = found
    const name = object === 'charge' ? { id: charge, payment_intent } : { id: payment_intent, latest_charge: charge }
    return { status: 200, body: { ...name, object, amount, currency } }
  }

  function isKnownKey(authorization: string): boolean {
    const key = /^Bearer ((?:rk|sk)_(?:test|live)_\w+)$/.exec(authorization)?.[1]
    return key !== undefined && (apiKeys === undefined || apiKeys.includes(key))
  }

  return {
    store,
    calls: () => calls,
    respondWith: (conduct) => {
      conductOf = typeof conduct === 'function' ? conduct : () => conduct
    },
    allowReading: (isAllowed) => {
      mayRead = isAllowed
    },
    delay: (ms) => {
      delayMs = ms
    },
    respond: async (request) => {
      const { pathname, searchParams } = new URL(request.url)
      const account = request.headers.get('stripe-account')
      if (!isKnownKey(request.headers.get('authorization') ?? ''))
        return toResponse(refusal(401, 'Invalid API Key provided: rk_test_****'))
      if (!/^\d{4}-\d\d-\d\d/.test(request.headers.get('stripe-version') ?? ''))
        return toResponse(refusal(400, 'Calls name the version that they are written for.'))
      if (request.method === 'POST' && pathname === '/v1/refunds') return refund(request, account)
      await wait()
      if (request.method === 'GET' && pathname === '/v1/refunds') return list(searchParams, account)
      const id = /^\/v1\/refunds\/(\w+)$/.exec(pathname)?.[1]
      if (request.method === 'GET' && id !== undefined) return get(id, account)
      const named = /^\/v1\/(payment_intent|charge)s\/(\w+)$/.exec(pathname)
      if (request.method === 'GET' && named && !mayRead)
        return toResponse(refusal(403, `The key 'rk_test_****' does not have the permission 'rak_${named[1]}_read'.`))
      if (request.method === 'GET' && named)
        return showPayment(named[1] === 'charge' ? 'charge' : 'payment_intent', named[2] ?? '', account)
      return toResponse(refusal(404, `Unrecognized request URL (${request.method}: ${pathname}).`))
    },
  }
}

const hex = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Signs the post of an event as Stripe does. */
export async function signPost(
  secret: string,
  event: Pick<FakeEvent, 'body'>,
  at = Date.now(),
): Promise<{ headers: Record<string, string>; body: string }> {
  const timestamp = Math.floor(at / 1000)
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const encoder = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const mac = await crypto.subtle.sign('HMAC', key, encoder.encode(`${timestamp}.${event.body}`))
  return {
    headers: { 'content-type': 'application/json', 'stripe-signature': `t=${timestamp},v1=${hex(mac)}` },
    body: event.body,
  }
}

/** Loses some events, repeats others and shuffles them. `random` returns numbers from 0 to below 1. */
export function disorderEvents<Event>(events: readonly Event[], random: () => number): Event[] {
  const sent = events.flatMap((event) => {
    const luck = random()
    return luck < 0.2 ? [] : luck < 0.5 ? [event, event] : [event]
  })
  return sent
    .map((event) => ({ event, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ event }) => event)
}
