import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

/** The result of one call. */
export type Conduct =
  | 'accept'
  /** Accepts the call and never answers. */
  | 'accept and hang'
  /** Accepts the call and cuts the connection instead of answering. */
  | 'accept and cut'
  /** Cuts the connection and accepts nothing. */
  | 'cut'
  /** Refuses the call with this answer. */
  | { status: number; name?: string; headers?: Record<string, string> }

interface Call {
  channel: 'email' | 'sms'
  /** The Idempotency-Key of an e-mail call; SMS have none. */
  key: string
  /** The references of its messages. */
  references: string[]
}

/** A message that was accepted, as it was sent. */
export interface Accepted {
  channel: 'email' | 'sms'
  id: string
  reference: string
  to: string
  body: Record<string, unknown>
}

export interface FakeProvider {
  /** The value of EMAIL_API_BASE and SMS_API_BASE. */
  url: string
  /** Decides how calls are answered. `nth` counts calls with the same key, or SMS with the same reference, from 1. */
  respondWith: (conduct: Conduct | ((call: Call, nth: number) => Conduct)) => void
  /** The delay of every answer. */
  delay: (ms: number) => void
  calls: () => readonly Call[]
  accepted: () => readonly Accepted[]
  /** The number of accepted messages for each reference. More than 1 is a duplicate. */
  counts: () => Map<string, number>
  forget: () => void
  stop: () => Promise<void>
}

interface Kept {
  digest: string
  /** Undefined while the call is being handled. */
  reply: Reply | null
}

interface Reply {
  status: number
  body: unknown
  headers?: Record<string, string>
}

type Fields = Record<string, unknown>

const buildRefusal = (status: number, name: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: { statusCode: status, name, message: `The provider of the tests says ${name}.`, code: name },
})

const readReference = (mail: Fields): string => {
  const tags = Array.isArray(mail['tags']) ? (mail['tags'] as { name: string; value: string }[]) : []
  return tags.find(({ name }) => name === 'reference')?.value ?? ''
}

const findFault = (mail: Fields): string | null => {
  const [to] = Array.isArray(mail['to']) ? (mail['to'] as string[]) : []
  if (!to || !/@[^@\s]+\.[^@\s]+$/.test(to.replace(/>$/, '')) || to.includes('@invalid.')) return 'Invalid `to` field.'
  return typeof mail['from'] === 'string' && typeof mail['subject'] === 'string' ? null : 'Missing field.'
}

/**
 * A provider of e-mail and of SMS on this machine that speaks as Resend and GatewayAPI do, and misbehaves on demand. It
 * honours idempotency keys as Resend does, and counts what was really accepted.
 */
export async function startFakeProvider(): Promise<FakeProvider> {
  let conductOf: (call: Call, nth: number) => Conduct = () => 'accept'
  let delayMs = 0
  const calls: Call[] = []
  const accepted: Accepted[] = []
  const keys = new Map<string, Kept>()
  const nths = new Map<string, number>()

  const keep = (channel: Accepted['channel'], reference: string, to: unknown, body: Fields): string => {
    const id = randomUUID()
    accepted.push({ channel, id, reference, to: String(to), body })
    return id
  }

  function acceptMails(mails: Fields[]): Reply {
    const data: { id: string }[] = []
    const errors: { index: number; message: string }[] = []
    for (const [index, mail] of mails.entries()) {
      const message = findFault(mail)
      if (message) errors.push({ index, message })
      else data.push({ id: keep('email', readReference(mail), (mail['to'] as string[])[0], mail) })
    }
    return { status: 200, body: { data, errors } }
  }

  const note = (call: Call): Conduct => {
    calls.push(call)
    const mark = `${call.channel} ${call.key || call.references.join()}`
    const nth = (nths.get(mark) ?? 0) + 1
    nths.set(mark, nth)
    return conductOf(call, nth)
  }

  /** Accepts or refuses the call, as the test decides. Null cuts the connection, and undefined leaves it hanging. */
  function conclude(conduct: Conduct, accept: () => Reply): Reply | null | undefined {
    if (conduct === 'cut') return null
    if (typeof conduct === 'object')
      return buildRefusal(conduct.status, conduct.name ?? `http_${conduct.status}`, conduct.headers)
    const reply = accept()
    if (conduct === 'accept and cut') return null
    return conduct === 'accept and hang' ? undefined : reply
  }

  async function takeMails(request: IncomingMessage, raw: string): Promise<Reply | null | undefined> {
    const { authorization, 'user-agent': agent, 'idempotency-key': given } = request.headers
    if (!agent) return buildRefusal(403, 'forbidden')
    if (!authorization) return buildRefusal(401, 'missing_api_key')
    const mails = JSON.parse(raw) as Fields[]
    if (!Array.isArray(mails) || mails.length === 0 || mails.length > 100) return buildRefusal(422, 'validation_error')
    const key = String(given ?? '')
    const conduct = note({ channel: 'email', key, references: mails.map(readReference) })
    const digest = createHash('sha256').update(raw).digest('hex')
    const known = keys.get(key)
    if (known && known.digest !== digest) return buildRefusal(409, 'invalid_idempotent_request')
    if (known && !known.reply) return buildRefusal(409, 'concurrent_idempotent_requests')
    if (known) return conclude(conduct, () => known.reply as Reply)
    if (key) keys.set(key, { digest, reply: null })
    await wait(delayMs)
    let acceptedReply: Reply | null = null
    const reply = conclude(conduct, () => (acceptedReply = acceptMails(mails)))
    // Only an accepted call uses up its key.
    if (acceptedReply && key) keys.set(key, { digest, reply: acceptedReply })
    else keys.delete(key)
    return reply
  }

  async function takeSms(request: IncomingMessage, raw: string): Promise<Reply | null | undefined> {
    if (!/^Token \S+$/.test(request.headers.authorization ?? '')) return buildRefusal(401, 'unauthorized')
    const sms = JSON.parse(raw) as Fields
    const { recipient, reference } = sms
    const known = typeof reference === 'string' ? reference : ''
    const conduct = note({ channel: 'sms', key: '', references: [known] })
    await wait(delayMs)
    return conclude(conduct, () => {
      if (typeof recipient !== 'number' || String(recipient).length < 8) return buildRefusal(422, 'invalid_recipient')
      return { status: 200, body: { msg_id: keep('sms', known, recipient, sms), recipient, reference } }
    })
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request)
    const taken = { '/emails/batch': takeMails, '/mobile/single': takeSms }[request.url ?? '']
    const reply = taken ? await taken(request, raw) : buildRefusal(404, 'not_found')
    if (reply === undefined) return
    if (reply === null) return void response.destroy()
    const { status, headers, body } = reply
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }

  const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    respondWith: (conduct) => {
      conductOf = typeof conduct === 'function' ? conduct : () => conduct
    },
    delay: (ms) => {
      delayMs = ms
    },
    calls: () => calls,
    accepted: () => accepted,
    counts: () => {
      const counts = new Map<string, number>()
      for (const { reference } of accepted) counts.set(reference, (counts.get(reference) ?? 0) + 1)
      return counts
    },
    forget: () => {
      calls.length = 0
      accepted.length = 0
      keys.clear()
      nths.clear()
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Signs the post of an event as Resend does, with a `whsec_…` secret. */
export function signResendEvent(
  secret: string,
  event: unknown,
  at = Date.now(),
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify(event)
  const id = `msg_${randomUUID()}`
  const timestamp = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    headers: {
      'content-type': 'application/json',
      'svix-id': id,
      'svix-timestamp': timestamp,
      'svix-signature': `v1,${mac}`,
    },
    body,
  }
}

/** Builds Resend's event about an accepted e-mail. `more` is merged into `data`. */
export const buildResendEvent = (type: string, message: Accepted, more: object = {}, at = Date.now()): object => ({
  type,
  created_at: new Date(at).toISOString(),
  data: {
    created_at: new Date(at).toISOString(),
    email_id: message.id,
    from: message.body['from'],
    to: [message.to],
    subject: message.body['subject'],
    tags: { reference: message.reference },
    ...more,
  },
})

/** Signs the post of the status of an accepted SMS as GatewayAPI does. */
export function signSmsEvent(
  secret: string,
  status: string,
  message: Accepted,
  more: object = {},
): { headers: Record<string, string>; body: string } {
  const body = JSON.stringify({
    event_id: randomUUID(),
    timestamp: new Date().toISOString(),
    event_type: 'message.status.sms',
    event: { msg_id: message.id, recipient: Number(message.to), reference: message.reference, status, ...more },
  })
  const mac = createHmac('sha256', secret).update(body).digest('hex')
  return { headers: { 'content-type': 'application/json', signature: `v1=${mac}` }, body }
}
