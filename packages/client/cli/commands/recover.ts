import type { Command } from 'commander'
import type { components } from '../../src/index.ts'
import { confirmWork } from '../ask.ts'
import { type Context, openContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { parseSince } from '../since.ts'

type Recovery = components['schemas']['WebhookRecovery']
type Endpoint = components['schemas']['WebhookEndpointDetail']

interface RecoverOptions {
  since?: string
  includeMissed?: boolean
  yes?: boolean
}

const countDeliveries = async ({ client }: Context, id: string, query: object): Promise<number> =>
  (await client.GET('/v1/webhooks/{id}/deliveries', { params: { path: { id }, query: { ...query, page_size: 1 } } }))
    .data.count

const describeCount = (count: number): string => (count === 1 ? '1 failed delivery' : `${count} failed deliveries`)

async function loadEndpoint({ client }: Context, id: string): Promise<Endpoint> {
  const { data } = await client.GET('/v1/webhooks/{id}', { params: { path: { id } } })
  if (!data.is_active)
    throw new UsageError(`"${data.name}" is switched off. Run: ecm api updateWebhook id=${id} is_active:=true`)
  return data
}

/** Starts the schedule again for everything that failed since a time. */
async function recoverSince(context: Context, id: string, since: string, options: RecoverOptions): Promise<void> {
  const { client, output } = context
  const { name, url, waiting_reason } = await loadEndpoint(context, id)
  const counts = await Promise.all(
    (['failed', 'exhausted'] as const).map((status) => countDeliveries(context, id, { status, created_after: since })),
  )
  const count = counts.reduce((sum, one) => sum + one, 0)
  const missed = options.includeMissed ? ' and what it missed while it was switched off' : ''
  output.note(`Sends ${describeCount(count)}${missed} since ${since} again to "${name}" (${url}).`)
  if (waiting_reason !== null) output.note(`${waiting_reason} Deliveries wait until that ends.`)
  if (count === 0 && !options.includeMissed) return output.object(emptyRecovery)
  await confirmWork('Send them?', { yes: options.yes === true, otherwise: 'Nothing was sent.' })
  const progress = output.progress('Sending again')
  try {
    const body = { since, include_missed: options.includeMissed === true }
    let total: Recovery | null = null
    do {
      const { data }: { data: Recovery } = await client.POST('/v1/webhooks/{id}/recover', {
        params: { path: { id } },
        body,
      })
      total = total === null ? data : addRecoveries(total, data)
    } while (total.has_more_missed)
    progress.stop()
    output.object(total)
  } finally {
    progress.stop()
  }
  output.note(`\`ecm deliveries --webhook ${id}\` shows how it goes.`)
}

const emptyRecovery = { recovered: 0, waiting: 0, missed: 0, has_more_missed: false }

const addRecoveries = (first: Recovery, next: Recovery): Recovery => ({
  ...next,
  recovered: first.recovered + next.recovered,
  missed: first.missed + next.missed,
})

/** Makes one attempt of each delivery now. */
async function retryEach(context: Context, id: string, deliveries: readonly string[], options: RecoverOptions) {
  const { client, output } = context
  const { name, url } = await loadEndpoint(context, id)
  output.note(`Makes one attempt of ${deliveries.length} deliveries to "${name}" (${url}).`)
  await confirmWork('Send them?', { yes: options.yes === true, otherwise: 'Nothing was sent.' })
  const results: { id: string; status: string; attempts: number }[] = []
  for (const delivery_id of deliveries) {
    const params = { path: { id, delivery_id } }
    const { data } = await client.POST('/v1/webhooks/{id}/deliveries/{delivery_id}/retry', { params })
    results.push({ id: data.id, status: data.status, attempts: data.attempts })
  }
  output.rows(results)
}

async function recover(id: string, deliveries: string[], options: RecoverOptions, command: Command): Promise<void> {
  if ((deliveries.length === 0) === (options.since === undefined))
    throw new UsageError('Say with --since from when failed deliveries are sent again, or name deliveries (whd_…).')
  const since = options.since === undefined ? null : parseSince(options.since)
  const context = await openContext(command)
  if (since === null) await retryEach(context, id, deliveries, options)
  else await recoverSince(context, id, since, options)
}

export function addRecover(program: Command): void {
  program
    .command('recover')
    .description('Send failed deliveries of a webhook again')
    .argument('<webhook>', 'id of the endpoint, whk_…')
    .argument('[deliveries...]', 'ids of single deliveries, whd_…')
    .option('--since <time>', 'everything that failed since then: 30m, 2h, 1d or a time')
    .option('--include-missed', 'also events that the endpoint missed while it was switched off')
    .option('--yes', 'send without a question')
    .addHelpText(
      'after',
      `
Examples:
  ecm recover whk_… --since 2h
  ecm recover whk_… --since 2026-06-01T10:00:00Z --include-missed --yes
  ecm recover whk_… whd_… whd_…`,
    )
    .action(recover)
}
