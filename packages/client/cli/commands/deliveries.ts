import { type Command, InvalidArgumentError } from 'commander'
import { type components, isApiError, paginate } from '../../src/index.ts'
import { type Context, openContext } from '../context.ts'
import { findOrganization } from '../organization.ts'
import { parseSince } from '../since.ts'

type Delivery = components['schemas']['WebhookDelivery']

interface DeliveriesOptions {
  failed?: boolean
  webhook?: string
  since?: string
  organization?: string
  limit: number
}

const path = '/v1/webhooks/deliveries'
/** Deliveries that are not sent again by themselves. */
const failedStatuses = ['failed', 'exhausted'] as const
const detailsAtOnce = 8

async function buildFilter(context: Context, { webhook, since, organization }: DeliveriesOptions) {
  const created = since === undefined ? {} : { created_after: parseSince(since) }
  if (webhook === undefined)
    return { ...created, organization_id: await findOrganization(context, organization ? { organization } : {}) }
  const { data } = await context.client.GET('/v1/webhooks/{id}', { params: { path: { id: webhook } } })
  return { ...created, organization_id: data.organization_id ?? '', endpoint_id: webhook }
}

async function take<Item>(items: AsyncIterable<Item>, limit: number): Promise<Item[]> {
  const first: Item[] = []
  for await (const item of items) {
    if (first.length === limit) break
    first.push(item)
  }
  return first
}

/** Lists deliveries, the newest first, and one more than is shown, to know whether there are others. */
async function listDeliveries({ client }: Context, filter: object, { failed, limit }: DeliveriesOptions) {
  const statuses = failed ? failedStatuses.map((status) => ({ status })) : [{}]
  const lists = await Promise.all(
    statuses.map((status) => {
      const query = { ...filter, ...status, page_size: Math.min(limit + 1, 500) }
      return take(paginate(client, path, { params: { query } }), limit + 1)
    }),
  )
  return lists.flat().toSorted((one, other) => (one.created < other.created ? 1 : -1))
}

const errors: Readonly<Record<string, string>> = {
  timeout: 'no answer in time',
  connection_refused: 'the connection was refused',
  connection_reset: 'the connection was reset',
  connection_lost: 'the connection was refused or closed',
  dns_failure: 'the host name is unknown',
  tls_failure: 'the TLS handshake failed',
  network_error: 'the network failed',
  redirect: 'a redirect, which is not followed',
  destination_forbidden: 'the address is not allowed',
}

/** The reason of the latest failure. The attempts of a delivery, which only admins read, say why no answer came. */
async function findReason({ client }: Context, { id, endpoint_id, status, attempts, response_status_code }: Delivery) {
  if (status === 'success' || status === 'pending') return null
  if (response_status_code !== null) return `the endpoint answered ${response_status_code}`
  if (attempts === 0) return 'the endpoint was switched off'
  try {
    const params = { path: { id: endpoint_id, delivery_id: id } }
    const { data } = await client.GET('/v1/webhooks/{id}/deliveries/{delivery_id}', { params })
    const code = data.attempt_log.at(-1)?.error ?? null
    return code === null ? null : (errors[code] ?? code)
  } catch (error) {
    if (isApiError(error) && [403, 404].includes(error.status)) return 'no answer'
    throw error
  }
}

async function addReasons(context: Context, deliveries: readonly Delivery[]) {
  const reasons: (string | null)[] = []
  for (let start = 0; start < deliveries.length; start += detailsAtOnce) {
    const group = deliveries.slice(start, start + detailsAtOnce)
    reasons.push(...(await Promise.all(group.map((delivery) => findReason(context, delivery)))))
  }
  return deliveries.map((delivery, index) => ({ ...delivery, reason: reasons[index] ?? null }))
}

async function showDeliveries(options: DeliveriesOptions, command: Command): Promise<void> {
  const context = await openContext(command)
  const { client, output } = context
  const progress = output.progress('Reading the deliveries')
  try {
    const filter = await buildFilter(context, options)
    const deliveries = await listDeliveries(context, filter, options)
    const rows = await addReasons(context, deliveries.slice(0, options.limit))
    progress.stop()
    output.rows(rows, ['created', 'endpoint_id', 'event', 'status', 'attempts', 'reason', 'id'])
    if (deliveries.length > rows.length) output.note(`There are more than ${options.limit}: add --limit.`)
    if (!options.failed) return
    const query = { ...filter, status: 'retrying' as const, page_size: 1 }
    const { count } = (await client.GET(path, { params: { query } })).data
    if (count > 0) output.note(`${count} more ${count === 1 ? 'is' : 'are'} being retried.`)
    if (rows.length > 0) output.note('`ecm recover <webhook> --since 2h` sends them again.')
  } finally {
    progress.stop()
  }
}

function parseLimit(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('It has to be a whole number from 1 to 99999.')
  return Number(text)
}

export function addDeliveries(program: Command): void {
  program
    .command('deliveries')
    .description('List deliveries of webhooks, and why they failed')
    .option('--failed', 'only those that failed and are not repeated')
    .option('--webhook <id>', 'only those of this endpoint')
    .option('--since <time>', 'only newer ones: 30m, 2h, 1d or a time')
    .option('--organization <id>', 'the organisation, if you have several')
    .option('--limit <number>', 'how many to list', parseLimit, 100)
    .addHelpText(
      'after',
      `
Examples:
  ecm deliveries --failed --since 2h
  ecm deliveries --failed --webhook whk_… --json | jq -r '.[].reason'
  ecm recover whk_… --since 2h`,
    )
    .action(showDeliveries)
}
