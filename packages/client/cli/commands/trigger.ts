import type { Command } from 'commander'
import { randomInt } from 'node:crypto'
import { confirmWork } from '../ask.ts'
import { type Context, openContext, openOutput } from '../context.ts'
import { isLoopback } from '../credentials.ts'
import { UsageError } from '../errors.ts'
import { type EventKind, eventKinds, parseEventKind } from '../event-kinds.ts'
import { postEvent } from '../listen/post.ts'
import { loadSecret } from '../listen/state.ts'
import { findOrganization } from '../organization.ts'
import type { Tenant } from '../trigger/objects.ts'
import { recipes } from '../trigger/recipes.ts'
import { parseTarget } from './listen.ts'

interface TriggerOptions {
  edition?: string
  webhook?: string
  forwardTo?: string
  yes?: boolean
}

/** Asks before objects are made in a service that others use too. */
async function confirmOutsideDevelopment(kind: EventKind, url: string, options: TriggerOptions): Promise<void> {
  const { edition, yes = false } = options
  if (isLoopback(url)) return
  if (edition === undefined)
    throw new UsageError(`${url} is not on this machine, so say with --edition where objects are made.`)
  const question = `This makes objects in ${edition} at ${url}: ${recipes[kind].how}. Go on?`
  await confirmWork(question, { yes, otherwise: 'Nothing was made.' })
}

async function findTenant({ client }: Context, edition: string | undefined): Promise<Tenant> {
  if (edition !== undefined) {
    const { data } = await client.GET('/v1/editions/{id}', { params: { path: { id: edition } } })
    return { organization_id: data.organization.id, edition_id: data.id }
  }
  const query = { page_size: 1, ordering: ['-created' as const] }
  const { data } = await client.GET('/v1/editions', { params: { query } })
  const [newest] = data.results
  if (newest === undefined) throw new UsageError('You have no edition. Create one, and name it with --edition.')
  return { organization_id: newest.organization.id, edition_id: newest.id }
}

/** The address that a campaign goes to: on this machine e-mails are captured, elsewhere the caller gets it. */
async function chooseRecipient({ client, connection }: Context, stamp: string): Promise<string> {
  if (isLoopback(connection.url)) return `ecm-${stamp}@example.com`
  const { data } = await client.GET('/v1/auth/user-info')
  return data.email ?? `ecm-${stamp}@example.com`
}

async function makeObjects(
  kind: EventKind,
  run: NonNullable<(typeof recipes)[EventKind]['run']>,
  context: Context,
  options: TriggerOptions,
) {
  const { client, connection, output } = context
  await confirmOutsideDevelopment(kind, connection.url, options)
  const tenant = await findTenant(context, options.edition)
  const stamp = Date.now().toString(36)
  const objects = new Map<string, string>([[tenant.edition_id, 'edition']])
  const progress = output.progress(`Making ${kind}`)
  try {
    const add = (object: string, id: string) => void objects.set(id, object)
    await run({ client, tenant, stamp, recipient: await chooseRecipient(context, stamp), add })
  } finally {
    progress.stop()
    // The objects that were made before an error stay, so they are printed too.
    output.rows(
      [...objects].map(([id, object]) => ({ object, id })),
      ['object', 'id'],
    )
  }
  output.note(`${kind}: ${recipes[kind].how}.`)
}

const idCharacters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A new id, because receivers ignore an event whose id they have handled. */
const makeEventId = (): string =>
  `evn_${Array.from({ length: 26 }, () => idCharacters[randomInt(idCharacters.length)]).join('')}`

async function sendExample(
  kind: EventKind,
  context: Context,
  { webhook, forwardTo, edition }: TriggerOptions,
): Promise<void> {
  const { client, connection, output } = context
  output.note(recipes[kind].run === null ? `${kind} is ${recipes[kind].how}.` : `This is an example of ${kind}.`)
  if (webhook !== undefined) {
    const params = { path: { id: webhook } }
    const { data } = await client.POST('/v1/webhooks/{id}/test', { params, body: { event: kind } })
    return output.object({ object: 'delivery', id: data.id, status: data.status })
  }
  const { data } = await client.GET('/v1/webhooks/event-kinds')
  const example = data.results.find((result) => result.kind === kind)?.example ?? {}
  const event = { ...example, id: makeEventId() }
  if (forwardTo === undefined) {
    output.note('Send it to an endpoint with --webhook, or to your machine with --forward-to.')
    return output.object(event)
  }
  const url = parseTarget(forwardTo)
  const organization = await findOrganization(context, edition === undefined ? {} : { edition })
  const payload = JSON.stringify({ ...event, organization_id: organization })
  const secret = await loadSecret({ url: connection.url, organization, target: url })
  const target = { url, secret, timeoutMs: 15_000 }
  const result = await postEvent({ id: event.id, kind, payload }, target, new AbortController().signal)
  output.object({ object: 'post', id: event.id, status: result.status, ms: result.ms, error: result.error })
  if (!result.isDelivered) throw new Error(`${url} did not accept the example.`)
}

async function trigger(name: string | undefined, options: TriggerOptions, command: Command): Promise<void> {
  if (name === undefined)
    return openOutput(command).rows(
      eventKinds.map((kind) => ({ kind, how: recipes[kind].how })),
      ['kind', 'how'],
    )
  const kind = parseEventKind(name)
  const { run } = recipes[kind]
  const context = await openContext(command)
  const isExample = run === null || options.webhook !== undefined || options.forwardTo !== undefined
  await (isExample ? sendExample(kind, context, options) : makeObjects(kind, run, context, options))
}

export function addTrigger(program: Command): void {
  program
    .command('trigger')
    .description('Make the real objects that cause an event; without a kind, list all kinds')
    .argument('[kind]', 'kind of the event, such as consent.given')
    .option('--edition <id>', 'where objects are made; on your machine the newest edition by default')
    .option('--yes', 'do not ask before objects are made in a service on another machine')
    .option('--webhook <id>', 'send an example to this endpoint instead')
    .option('--forward-to <address>', 'send an example to this address of your machine instead')
    .addHelpText(
      'after',
      `
The objects stay. Their customers have addresses at example.com, which get no e-mail. Only campaign.sent sends one: on
your machine to the captured mail, elsewhere to you.

Examples:
  ecm trigger
  ecm trigger consent.given
  ecm trigger refund.completed --edition edt_… --yes
  ecm trigger wallet.vendorA.pass-added --forward-to localhost:3000/webhooks`,
    )
    .action((kind: string | undefined, options: TriggerOptions, command: Command) => trigger(kind, options, command))
}
