import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTarget } from '../cli/commands/listen.ts'
import { parseEventKinds } from '../cli/event-kinds.ts'
import { type Attempt, Forwarder } from '../cli/listen/forwarder.ts'
import type { LocalEvent } from '../cli/listen/post.ts'
import { parseSince } from '../cli/since.ts'
import { startReceiver } from './feed.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

const makeEvent = (id: string): LocalEvent => ({ id, kind: 'order.created', payload: JSON.stringify({ id }) })

function openForwarder(url: string, { retry = [0.001], timeoutMs = 5000 } = {}) {
  const attempts: Attempt[] = []
  const skippedIds: string[] = []
  const quit = new AbortController()
  let notify = (): void => undefined
  const report = {
    attempt: (attempt: Attempt) => {
      attempts.push(attempt)
      notify()
    },
    skip: ({ id }: LocalEvent) => void skippedIds.push(id),
  }
  const forwarder = new Forwarder({ url, secret, timeoutMs }, retry, report, quit.signal)
  /** Resolves with the next attempt. */
  const nextAttempt = () => new Promise<void>((resolve) => (notify = resolve))
  const onAttempt = (call: () => void) => void (notify = call)
  return { forwarder, attempts, skippedIds, quit, nextAttempt, onAttempt }
}

describe('ecm listen', () => {
  it('posts what endpoints receive: signed, with the same headers and the same bytes', async () => {
    using receiver = await startReceiver()
    const { forwarder, attempts } = openForwarder(receiver.url)
    const payload = '{"id":"evn_1","data":{"name":"Ærø  \u2028 \\u0000 🎪"}}'
    await forwarder.deliver({ id: 'evn_1', kind: 'order.created', payload })
    expect(receiver.posts).toMatchObject([
      {
        body: payload,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'event-commerce-webhooks/1',
          'webhook-id': 'evn_1',
          'webhook-timestamp': expect.stringMatching(/^\d{10}$/) as unknown,
        },
      },
    ])
    expect(receiver.isSignedBy(secret)).toBe(true)
    expect(attempts).toMatchObject([{ isDelivered: true, status: 204, number: 1, retryInSeconds: null }])
  })

  it('pauses for 1, 5 and then every 30 seconds, in the given unit', async () => {
    using receiver = await startReceiver((_, nth) => (nth < 6 ? 500 : 200))
    const { forwarder, attempts } = openForwarder(receiver.url, { retry: [0.001, 0.005, 0.03] })
    await forwarder.deliver(makeEvent('evn_1'))
    expect(attempts.map(({ retryInSeconds }) => retryInSeconds)).toEqual([0.001, 0.005, 0.03, 0.03, 0.03, null])
  })

  it('counts redirects, refused connections and a receiver that hangs as failures', async () => {
    using receiver = await startReceiver((_, nth) => (nth === 1 ? 302 : nth === 2 ? 'hang' : 200))
    const { forwarder, attempts } = openForwarder(receiver.url, { timeoutMs: 200 })
    await forwarder.deliver(makeEvent('evn_1'))
    expect(attempts).toMatchObject([
      { isDelivered: false, status: 302 },
      { isDelivered: false, status: null, error: 'no answer in 0.2 s' },
      { isDelivered: true, status: 200 },
    ])
    const closed = openForwarder('http://127.0.0.1:9/', { retry: [60] })
    const delivery = closed.forwarder.deliver(makeEvent('evn_1'))
    await closed.nextAttempt()
    expect(closed.attempts).toMatchObject([{ status: null, error: expect.stringContaining('fetch failed') as unknown }])
    closed.quit.abort()
    await expect(delivery).rejects.toThrow('aborted')
  })

  it('skips the event that fails, while it waits and while its receiver hangs', async () => {
    using receiver = await startReceiver((id) => (id === 'evn_3' ? 200 : id === 'evn_2' ? 'hang' : 500))
    const { forwarder, nextAttempt, skippedIds } = openForwarder(receiver.url, { retry: [60] })
    expect(forwarder.skip()).toBe(false)
    const first = forwarder.deliver(makeEvent('evn_1'))
    await nextAttempt()
    expect(forwarder.skip()).toBe(true)
    await first
    const second = forwarder.deliver(makeEvent('evn_2'))
    await expect.poll(() => receiver.ids()).toContain('evn_2')
    forwarder.skip()
    await second
    await forwarder.deliver(makeEvent('evn_3'))
    expect(skippedIds).toEqual(['evn_1', 'evn_2'])
    expect(receiver.ids()).toEqual(['evn_1', 'evn_2', 'evn_3'])
  })

  it('sends the last event again, at once if it waits, and before the next event', async () => {
    using receiver = await startReceiver((_, nth) => (nth === 1 ? 500 : 200))
    const { forwarder, attempts, nextAttempt } = openForwarder(receiver.url, { retry: [60] })
    expect(forwarder.repeat()).toBe(false)
    const first = forwarder.deliver(makeEvent('evn_1'))
    await nextAttempt()
    forwarder.repeat()
    await first
    forwarder.repeat()
    forwarder.repeat()
    const second = forwarder.deliver(makeEvent('evn_2'))
    await expect.poll(() => receiver.ids().length).toBe(4)
    forwarder.repeat()
    await second.catch(() => null)
    expect(receiver.ids().slice(0, 4)).toEqual(['evn_1', 'evn_1', 'evn_1', 'evn_2'])
    expect(attempts.map(({ number }) => number).slice(0, 3)).toEqual([1, 2, null])
  })

  it('delivers every event in order, however often each fails', async () => {
    await assert(
      asyncProperty(array(array(constantFrom(500, 301, 404, 503)), { maxLength: 6 }), async (failures) => {
        using receiver = await startReceiver((id, nth) => failures[Number(id)]?.[nth - 1] ?? 200)
        const { forwarder } = openForwarder(receiver.url)
        for (const index of failures.keys()) await forwarder.deliver(makeEvent(String(index)))
        expect(receiver.ids()).toEqual(
          failures.flatMap((statuses, index) => Array(statuses.length + 1).fill(String(index))),
        )
      }),
      { numRuns: 20 },
    )
  })

  it('posts one event after the other, whichever keys are pressed, and leaves out only what was skipped', async () => {
    const key = constantFrom('skip', 'repeat', 'both', 'none')
    await assert(
      asyncProperty(array(integer({ min: 0, max: 3 }), { maxLength: 6 }), array(key), async (failures, keys) => {
        using receiver = await startReceiver((id, nth) => (nth <= (failures[Number(id)] ?? 0) ? 500 : 200))
        const { forwarder, attempts, skippedIds, onAttempt } = openForwarder(receiver.url, { retry: [0.002] })
        const rest = [...keys]
        onAttempt(() =>
          setImmediate(() => {
            const next = rest.shift() ?? 'none'
            if (next === 'skip' || next === 'both') forwarder.skip()
            if (next === 'repeat' || next === 'both') forwarder.repeat()
          }),
        )
        for (const index of failures.keys()) await forwarder.deliver(makeEvent(String(index)))
        const ids = receiver.ids()
        expect(ids).toEqual(ids.toSorted())
        const deliveredIds = attempts.filter(({ isDelivered }) => isDelivered).map(({ event }) => event.id)
        expect(new Set([...deliveredIds, ...skippedIds])).toEqual(new Set(failures.map((_, index) => String(index))))
      }),
      { numRuns: 30 },
    )
  })

  it('counts an event as delivered that was accepted while the command ends', async () => {
    const { promise: isReceived, resolve } = Promise.withResolvers<void>()
    using receiver = await startReceiver(() => {
      resolve()
      return 200
    })
    const { forwarder, quit, attempts } = openForwarder(receiver.url)
    const delivery = forwarder.deliver(makeEvent('evn_1'))
    await isReceived
    quit.abort()
    const isAccepted = await delivery.then(
      () => true,
      () => false,
    )
    expect(attempts.map(({ isDelivered }) => isDelivered)).toEqual(isAccepted ? [true] : [])
  })

  it('reads addresses, times and kinds as people write them', () => {
    expect(parseTarget('localhost:3000/hook')).toBe('http://localhost:3000/hook')
    expect(parseTarget('https://dev.example/a?b=1#c')).toBe('https://dev.example/a?b=1')
    expect(parseSince('2026-06-01T10:00:00+02:00')).toBe('2026-06-01T08:00:00.000Z')
    expect(Math.abs(Date.parse(parseSince('2h')) + 7_200_000 - Date.now())).toBeLessThan(60_000)
    expect(parseEventKinds('refund.*, order.created')).toEqual(['order.created', 'refund.completed', 'refund.failed'])
    expect(() => parseTarget('http://user:word@localhost')).toThrow('user name')
    expect(() => parseTarget('http://')).toThrow('not an address')
    expect(() => parseSince('yesterday')).toThrow('2h')
    expect(() => parseEventKinds('toString')).toThrow('Did you mean')
    expect(() => parseEventKinds(',')).toThrow('at least one')
  })
})
