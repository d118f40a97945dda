import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Webhook } from 'standardwebhooks'
import { expect, it } from 'vitest'
import {
  createClient,
  type StreamedEvent,
  streamEvents,
  verifyWebhook,
  WebhookVerificationError,
} from '../src/index.ts'
import { problem, startStub } from './stub.ts'

const stream = (text: string) => (response: import('node:http').ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(text)
  setTimeout(() => response.destroy(), 50)
}

it('a stream continues behind the last position after a lost connection', async () => {
  using stub = await startStub([
    stream('id: org_1:1\ndata: {"n":1}\n\n: comment\n\nid: org_1:5\n\nid: org_1:6\ndata: {"cut'),
    stream('event: end\ndata: a\ndata: b\n\n'),
  ])
  const events: StreamedEvent[] = []
  const client = createClient({ url: stub.url, token: 'ecm_test' })
  for await (const event of streamEvents(client, '/v1/webhooks/events/stream', {})) events.push(event)
  expect(events).toEqual([
    { id: 'org_1:1', event: 'message', data: '{"n":1}' },
    { id: 'org_1:5', event: 'message', data: null },
    { id: null, event: 'end', data: 'a\nb' },
  ])
  expect(stub.received.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'org_1:5'])
})

it('a stream ends with the error of the API', async () => {
  using stub = await startStub([problem(410, 'events_expired')])
  const client = createClient({ url: stub.url, token: 'ecm_test' })
  const events = streamEvents(client, '/v1/webhooks/events/stream', { lastEventId: 'org_1:1' })
  await expect(events.next()).rejects.toMatchObject({ code: 'events_expired' })
})

it('a stream ends when it is aborted, also after memory was collected', async () => {
  using stub = await startStub([
    (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: org_1:1\n\n'),
  ])
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const abort = new AbortController()
  const { signal } = abort
  const client = createClient({ url: stub.url, token: 'ecm_test' })
  const events = streamEvents(client, '/v1/webhooks/events/stream', { signal })
  await events.next()
  const next = events.next()
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    collect()
  }
  abort.abort()
  await expect(next).rejects.toThrow('aborted')
})

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const body = JSON.stringify({ id: 'evn_1', type: 'consent.given', data: { status: 'given' } })

const sign = (at: Date) => ({
  'webhook-id': 'evn_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(secret).sign('evn_1', at, body),
})

it('verifyWebhook returns the event of a signed body', () => {
  const event = verifyWebhook(body, sign(new Date()), secret)
  expect(event.type === 'consent.given' && event.data.status).toBe('given')
  expect(verifyWebhook(new TextEncoder().encode(body), new Headers(sign(new Date())), secret)).toEqual(event)
})

it('verifyWebhook refuses another body, another secret and an old time', () => {
  const headers = sign(new Date())
  expect(() => verifyWebhook(`${body} `, headers, secret)).toThrow(WebhookVerificationError)
  expect(() => verifyWebhook(body, headers, `whsec_${Buffer.alloc(32).toString('base64')}`)).toThrow(
    WebhookVerificationError,
  )
  expect(() => verifyWebhook(body, sign(new Date(Date.now() - 600_000)), secret)).toThrow(WebhookVerificationError)
  expect(() => verifyWebhook(body, {}, secret)).toThrow(WebhookVerificationError)
})
