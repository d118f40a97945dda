import { type Command, InvalidArgumentError, Option } from 'commander'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError, type Client, createClient, streamEvents } from '../../src/index.ts'
import { openContext } from '../context.ts'
import { describeError, UsageError } from '../errors.ts'
import { parseEventKinds } from '../event-kinds.ts'
import { Forwarder } from '../listen/forwarder.ts'
import { watchKeys } from '../listen/keys.ts'
import type { LocalEvent } from '../listen/post.ts'
import { createReport } from '../listen/report.ts'
import { loadSecret, openCursor, type StoredCursor, type Subscription } from '../listen/state.ts'
import { findOrganization } from '../organization.ts'
import type { Output } from '../output.ts'
import { parseSince } from '../since.ts'

interface ListenOptions {
  forwardTo: string
  events?: string
  since?: string
  edition?: string
  organization?: string
  retry: number[]
  timeout: number
  printSecret?: boolean
}

export function parseTarget(text: string): string {
  const address = /^https?:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(address) ? new URL(address) : null
  if (url === null) throw new UsageError(`${text} is not an address such as http://localhost:3000/webhooks.`)
  if (url.username !== '' || url.password !== '')
    throw new UsageError('The address to forward to must not have a user name or a password.')
  url.hash = ''
  return url.href
}

const parseSeconds = (text: string): number => {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= 86_400))
    throw new InvalidArgumentError('It has to be a number of seconds.')
  return seconds
}

interface Start {
  lastEventId?: string
  createdAfter?: string
}

const oldest: Start = { createdAfter: '1970-01-01T00:00:00.000Z' }

/** Pause before a stream is opened again that the API has refused for a while. */
const refusedPauseMs = 10_000

interface Feed {
  client: Client
  subscription: Subscription
  start: Start
  cursor: StoredCursor
  output: Output
  quit: AbortSignal
}

const readEvent = (payload: string): LocalEvent => {
  const { id, type } = JSON.parse(payload) as { id: string; type: string }
  return { id, kind: type, payload }
}

/** Hands over the events from a position on, until the connection is refused. Stores the position behind each of them. */
async function followFeed(feed: Feed, deliver: (event: LocalEvent) => Promise<void>): Promise<void> {
  const { client, subscription, start, cursor, output, quit } = feed
  const { organization, edition, kinds } = subscription
  const query = {
    organization_id: organization,
    ...(edition === null ? {} : { edition_id: edition }),
    ...(kinds === null ? {} : { kind: kinds as never }),
    ...(start.createdAfter === undefined ? {} : { created_after: start.createdAfter }),
  }
  let isLost = false
  const onReconnect = (error: unknown) => {
    // The service ends each stream after a while, which loses nothing.
    if (error === null || isLost) return
    isLost = true
    output.note(`The connection to the service is lost (${describeError(error)}). It is made again.`)
  }
  const position = start.lastEventId === undefined ? {} : { lastEventId: start.lastEventId }
  const events = streamEvents(client, '/v1/webhooks/events/stream', {
    params: { query },
    ...position,
    signal: quit,
    onReconnect,
  })
  for await (const { id, data } of events) {
    if (isLost) output.note('Connected again.')
    isLost = false
    if (data !== null) await deliver(readEvent(data))
    if (id === null) continue
    start.lastEventId = id
    await cursor.write({ cursor: id })
  }
}

const isTemporary = ({ status }: ApiError): boolean => status === 429 || status >= 500

/** Follows the feed until the command ends, also after the API has refused a stream. */
async function followAlways(feed: Feed, deliver: (event: LocalEvent) => Promise<void>): Promise<void> {
  for (let { start } = feed; ;)
    try {
      await followFeed({ ...feed, start }, deliver)
    } catch (error) {
      if (feed.quit.aborted) return
      if (!(error instanceof ApiError)) throw error
      if (error.code === 'events_expired' && start.lastEventId !== undefined) {
        feed.output.note('Events behind the stored position are deleted. Begins with the oldest event.')
        start = { ...oldest }
      } else if (isTemporary(error)) {
        feed.output.note(`${describeError(error)}\nTries again in ${refusedPauseMs / 1000} seconds.`)
        await wait(refusedPauseMs, undefined, { signal: feed.quit }).catch(() => null)
      } else throw error
    }
}

/** Ends the command by a signal, so that it can close the connection and give the terminal back. */
function createQuit(): AbortController {
  const quit = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => quit.abort())
  return quit
}

const describeStart = ({ lastEventId, createdAfter }: Start): string => {
  if (lastEventId !== undefined) return 'Continues where it stopped.'
  return createdAfter === undefined ? 'Begins with the next event.' : `Begins with events since ${createdAfter}.`
}

async function listen(options: ListenOptions, command: Command): Promise<void> {
  const target = parseTarget(options.forwardTo)
  const createdAfter = options.since === undefined ? null : parseSince(options.since)
  const kinds = options.events === undefined ? null : parseEventKinds(options.events)
  const context = await openContext(command)
  const { connection, output } = context
  const organization = await findOrganization(context, options)
  const subscription = { url: connection.url, organization, target, edition: options.edition ?? null, kinds }
  const secret = await loadSecret(subscription)
  if (options.printSecret) return void process.stdout.write(`${secret}\n`)
  const cursor = openCursor(subscription)
  const stored = await cursor.read()
  const resumed: Start = stored === null ? {} : { lastEventId: stored.cursor }
  const start: Start = createdAfter === null ? resumed : { createdAfter }
  output.note(`Events go to ${target}, signed with ${secret}\n${describeStart(start)}`)

  const quit = createQuit()
  const timeoutMs = options.timeout * 1000
  const forwarder = new Forwarder({ url: target, secret, timeoutMs }, options.retry, createReport(output), quit.signal)
  const stopKeys = watchKeys({
    q: () => quit.abort(),
    s: () => forwarder.skip() || output.note('No event waits.'),
    r: () => forwarder.repeat() || output.note('No event was sent yet.'),
  })
  if (process.stdin.isTTY) output.note('Keys: r sends the last event again, s skips an event that fails, q ends.')
  // The command reports each lost connection itself, so its client does not try again.
  const { url, token } = connection
  const client = createClient({ url, ...(token === null ? {} : { token }), maxRetries: 0 })
  try {
    await followAlways({ client, subscription, start, cursor, output, quit: quit.signal }, (event) =>
      forwarder.deliver(event),
    )
    output.note('Ended. The next `ecm listen` with the same options continues here.')
  } finally {
    stopKeys()
  }
}

export function addListen(program: Command): void {
  program
    .command('listen')
    .description('Send events to an address of your machine, signed, and each until it is accepted')
    .requiredOption('--forward-to <address>', 'where events are posted, such as localhost:3000/webhooks')
    .option('--events <kinds>', 'only these kinds, separated by commas; consent.* is all of them')
    .option('--since <time>', 'begin there instead of where the last one stopped: 30m, 2h, 1d or a time')
    .option('--edition <id>', 'only events of this edition')
    .option('--organization <id>', 'the organisation, if you have several')
    .addOption(
      new Option('--retry <seconds>', 'pauses after failures; the last one repeats')
        .default([1, 5, 30], '1,5,30')
        .argParser((text) => text.split(',').map(parseSeconds)),
    )
    .option('--timeout <seconds>', 'how long the receiver may take to answer', parseSeconds, 15)
    .option('--print-secret', 'print the secret that signs the events, and end')
    .addHelpText(
      'after',
      `
Each event comes at least once, one after the other, in the order in which it was stored. An event that is not
answered with 2xx is repeated, and the following ones wait. The secret and the position belong to the address that
events are sent to, and stay when the command ends.

Examples:
  ecm listen --forward-to localhost:3000/webhooks
  ecm listen --forward-to localhost:3000/webhooks --events consent.given,order.created --since 2h
  export WEBHOOK_SECRET=$(ecm listen --forward-to localhost:3000/webhooks --print-secret)`,
    )
    .action((options: ListenOptions, command: Command) => listen(options, command))
}
