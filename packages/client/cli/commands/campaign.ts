import { type Command, InvalidArgumentError } from 'commander'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiError } from '../../src/index.ts'
import { addSample, type Campaign, describeProgress, type Progress, type Sample } from '../campaigns/progress.ts'
import { drawProgress, openScreen } from '../campaigns/screen.ts'
import { type Context, openContext } from '../context.ts'
import { UsageError, WorkError } from '../errors.ts'
import { toJson } from '../output.ts'

/** About five minutes without a server, beside the retries of the client. */
const maxFailures = 20

async function load({ client }: Context, id: string): Promise<{ campaign: Campaign; delivered: number }> {
  const params = { path: { id } }
  const [campaign, stats] = await Promise.all([
    client.GET('/v1/campaigns/{id}', { params }),
    client.GET('/v1/campaigns/{id}/stats', { params }),
  ])
  return { campaign: campaign.data, delivered: stats.data.delivered }
}

/** Loads the campaign, and tries again after a lost connection. */
async function loadPatiently(context: Context, id: string, pauseMs: number) {
  for (let failures = 1; ; failures++)
    try {
      return await load(context, id)
    } catch (error) {
      if (error instanceof ApiError || failures >= maxFailures) throw error
      await wait(Math.max(pauseMs, 1000))
    }
}

/** Shows each change: on a terminal on one screen, in a pipe as lines of JSON. */
function openView({ output }: Context): (progress: Progress) => void {
  if (output.isTable) {
    const draw = openScreen(process.stdout)
    return (progress) => draw(drawProgress(progress))
  }
  let lastState = ''
  return (progress) => {
    const { time: _, messages_per_second: _rate, seconds_left: _left, ...state } = progress
    if (JSON.stringify(state) === lastState) return
    lastState = JSON.stringify(state)
    process.stdout.write(`${toJson(progress)}\n`)
  }
}

const isOver = ({ status }: Campaign): boolean => ['sent', 'failed', 'cancelled'].includes(status)

async function watchCampaign(id: string, { every }: { every: number }, command: Command): Promise<void> {
  const context = await openContext(command)
  const show = openView(context)
  let samples: Sample[] = []
  for (;;) {
    const { campaign, delivered } = await loadPatiently(context, id, every * 1000)
    if (campaign.status === 'draft')
      throw new UsageError(`"${campaign.name}" was not started. Run: ecm api sendCampaignNow id=${id}`)
    samples = addSample(samples, { ms: Date.now(), done: campaign.sent_count + campaign.failed_count })
    show(describeProgress(campaign, delivered, samples))
    if (isOver(campaign)) return endWatch(campaign)
    await wait(every * 1000)
  }
}

function endWatch({ name, status, error_message }: Campaign): void {
  if (status === 'sent') return
  throw new WorkError(
    `campaign_${status}`,
    `"${name}" is ${status}${error_message === '' ? '.' : `: ${error_message}`}`,
  )
}

function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= 3600))
    throw new InvalidArgumentError('It has to be a number of seconds, up to 3600.')
  return seconds
}

export function addCampaign(program: Command): void {
  const campaign = program
    .command('campaign')
    .description('Watch campaigns')
    .addHelpText('after', '\nExample:\n  ecm campaign watch cmp_…')
  campaign
    .command('watch')
    .description('Show the progress of a campaign until it ends')
    .argument('<id>', 'id of the campaign, cmp_…')
    .option('--every <seconds>', 'how often to look', parseSeconds, 2)
    .addHelpText(
      'after',
      `
In a pipe each change is a line of JSON. The exit code is 0 once the campaign is sent, also if single recipients failed,
and 1 if it failed or was cancelled.

Examples:
  ecm campaign watch cmp_…
  ecm campaign watch cmp_… --json | jq .sent_count`,
    )
    .action(watchCampaign)
}
