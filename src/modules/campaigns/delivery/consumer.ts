import type { JobCtx } from '../../../context.ts'
import type { CampaignSender } from '../../../domain/campaigns/sender.ts'
import {
  callSizeOf,
  type ChunkClaim,
  leaseMarginMs,
  type ExcludedRecipient,
  type ChunkReport,
} from '../../../domain/campaigns/sending-policy.ts'
import { sha256, toHex } from '../../../domain/encoding.ts'
import type { SendResult } from '../../../domain/messaging.ts'
import { exclusionStatement } from './audience.ts'
import { type ComposedMessage, composeEmails, composeSms } from './compose.ts'
import { enqueueCampaign } from './enqueue.ts'
import {
  type Contents,
  contentsOf,
  contentStatement,
  keepContents,
  keptContents,
  weightOf,
} from './content-snapshot.ts'

/** After this long a consumer leaves the rest to another one. */
const shiftMs = 20_000
/** A consumer sends this many chunks of a campaign at once. The platform allows it six connections. */
const lanesAConsumer = 4

interface BatchGateway<Message> {
  batch: number
  deduplicates: boolean
  send: (messages: readonly Message[], key: string) => Promise<SendResult[]>
}

const notTried = (code: string, detail: string): SendResult => ({
  ok: false,
  kind: 'transient',
  code,
  detail,
  retryAfterMs: null,
})

/** The idempotency key of a call. The same recipients give the same key. */
export const keyOf = async (campaignId: string, members: readonly number[]): Promise<string> =>
  `${campaignId}-${toHex(await sha256(members.join(' '))).slice(0, 32)}`

async function gather(job: JobCtx, claim: ChunkClaim): Promise<{ contents: Contents; excluded: ExcludedRecipient[] }> {
  const known = keptContents(claim.campaign_id, claim.content)
  const first = known && [...known.values()][0]
  const audienceStatement = (contents: Contents) => {
    const context = [...contents.values()][0]?.context
    if (!context) throw new Error(`campaign ${claim.campaign_id} has no content ${claim.content}`)
    return exclusionStatement(
      {
        organization_id: context.organization_id,
        edition_id: context.segment.edition_id,
        communication_type: context.segment.communication_type,
        communication_channel: context.channel,
      },
      claim.recipients,
      job.now(),
    )
  }
  let contents = known
  if (!contents || !first) {
    contents = contentsOf(await job.db.all(contentStatement(claim.campaign_id, claim.content)))
    keepContents(claim.campaign_id, claim.content, contents)
  }
  // A repeated call must be the same, so nobody is excluded from it.
  const excluded = claim.is_repeat ? [] : await job.db.all(audienceStatement(contents))
  return { contents, excluded }
}

/** Prepares the calls of a chunk. Nothing is sent yet. */
async function prepare(
  job: JobCtx,
  claim: ChunkClaim,
): Promise<{ excluded: ExcludedRecipient[]; isEmail: boolean; send: () => Calls }> {
  const { contents, excluded } = await gather(job, claim)
  const isEmail = [...contents.values()][0]?.context.channel !== 'sms'
  const gone = new Set(excluded.map(({ n }) => n))
  const rest = { ...claim, recipients: claim.recipients.filter(({ n }) => !gone.has(n)) }
  const weight = weightOf(contents)
  const composeOf =
    <Message>(compose: (job: JobCtx, claim: ChunkClaim, contents: Contents) => Promise<ComposedMessage<Message>[]>) =>
    (recipients: ChunkClaim['recipients']) =>
      compose(job, { ...rest, recipients }, contents)
  return {
    excluded,
    isEmail,
    send: () =>
      isEmail
        ? callAll(job, rest, job.email, weight, composeOf(composeEmails))
        : callAll(job, rest, job.sms, weight, composeOf(composeSms)),
  }
}

type Calls = Promise<ChunkReport['calls']>

/** Makes the calls of a chunk, one after another; none when the lease is over or the campaign has stopped. */
async function sendClaim(job: JobCtx, sender: CampaignSender, claim: ChunkClaim): Calls {
  let ready: Awaited<ReturnType<typeof prepare>>
  try {
    ready = await prepare(job, claim)
  } catch (error) {
    // Nothing was sent, so another consumer may try.
    const detail = error instanceof Error ? error.message : 'The messages could not be made.'
    return [claim.recipients.map(({ n }) => ({ n, result: notTried('not_prepared', detail) }))]
  }
  const { deduplicates } = ready.isEmail ? job.email : job.sms
  if (!deduplicates || ready.excluded.length)
    if (!(await sender.begin(claim.chunk, claim.lease, ready.excluded))) return []
  return ready.send()
}

/** Composes and sends the messages of one call at a time, because long messages of all calls would not fit in memory. */
async function callAll<Message>(
  job: JobCtx,
  claim: ChunkClaim,
  gateway: BatchGateway<Message>,
  weight: number,
  compose: (recipients: ChunkClaim['recipients']) => Promise<ComposedMessage<Message>[]>,
): Promise<ChunkReport['calls']> {
  const calls: ChunkReport['calls'] = []
  const { recipients } = claim
  const size = callSizeOf(gateway.batch, weight)
  for (let start = 0; start < recipients.length; start += size)
    calls.push(await callOnce(job, claim, gateway, recipients.slice(start, start + size), compose))
  return calls
}

async function callOnce<Message>(
  job: JobCtx,
  claim: ChunkClaim,
  gateway: BatchGateway<Message>,
  recipients: ChunkClaim['recipients'],
  compose: (recipients: ChunkClaim['recipients']) => Promise<ComposedMessage<Message>[]>,
): Promise<ChunkReport['calls'][number]> {
  const isLate = () => job.now() > claim.lease_until - leaseMarginMs
  const late = notTried('no_time', 'The chunk took too long.')
  if (isLate()) return recipients.map(({ n }) => ({ n, result: late }))
  let part: ComposedMessage<Message>[]
  try {
    part = await compose(recipients)
  } catch (error) {
    // Nothing of this call was sent, so another consumer may try.
    const detail = error instanceof Error ? error.message : 'The messages could not be made.'
    return recipients.map(({ n }) => ({ n, result: notTried('not_prepared', detail) }))
  }
  const messages = part.flatMap((one) => ('message' in one ? [one.message] : []))
  const key = await keyOf(
    claim.campaign_id,
    part.map(({ n }) => n),
  )
  const results = isLate() || messages.length === 0 ? messages.map(() => late) : await gateway.send(messages, key)
  let next = 0
  return part.map((one) => ({
    n: one.n,
    result: 'refusal' in one ? one.refusal : (results[next++] ?? notTried('no_result', 'The gateway gave no result.')),
  }))
}

/** Sends chunk after chunk; each report hands out the next. Answers whether there is more for another consumer. */
async function sendChunksInTurn(job: JobCtx, sender: CampaignSender, endsAt: number): Promise<boolean> {
  let answer = await sender.claim(job.newId('lease'))
  while (answer.next) {
    const claim = answer.next
    const calls = await sendClaim(job, sender, claim)
    const goes_on = job.now() < endsAt
    answer = await sender.report({ chunk: claim.chunk, lease: claim.lease, calls, goes_on }, job.newId('lease'))
  }
  return answer.has_more
}

/** Sends the chunks of these campaigns. A crash loses nothing: leases expire, and the object enqueues again. */
export async function sendChunks(job: JobCtx, campaignIds: readonly string[]): Promise<void> {
  const endsAt = job.now() + shiftMs
  const endings = await Promise.allSettled(
    campaignIds.map(async (id) => {
      const sender = job.senders.of(id)
      const lanes = await Promise.allSettled(
        Array.from({ length: lanesAConsumer }, () => sendChunksInTurn(job, sender, endsAt)),
      )
      const fault = lanes.find((one) => one.status === 'rejected')
      if (lanes.some((one) => one.status === 'fulfilled' && one.value)) await enqueueCampaign(job, id, 1)
      if (fault) throw fault.reason
    }),
  )
  const fault = endings.find((one) => one.status === 'rejected')
  if (fault) throw new Error('a campaign could not be sent', { cause: fault.reason })
}
