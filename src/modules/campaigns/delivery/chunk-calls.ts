import type { JobCtx } from '../../../context.ts'
import type { CampaignSenderRpc } from '../../../domain/campaigns/sender.ts'
import {
  callSizeOf,
  type ChunkClaim,
  type ChunkReport,
  type ExcludedRecipient,
  claimMarginMs,
} from '../../../domain/campaigns/sending-policy.ts'
import { sha256, toHex } from '../../../domain/text/encoding.ts'
import type { SendResult } from '../../../domain/messaging/messaging.ts'
import { exclusionStatement } from './audience.ts'
import { type ComposedMessage, emailComposer, smsComposer } from './compose.ts'
import {
  type CampaignContents,
  contentsOf,
  contentStatement,
  keepContents,
  keptContents,
  weightOf,
} from './content-snapshot.ts'

type Calls = ChunkReport['calls']
type Recipients = ChunkClaim['recipients']

interface BatchGateway<Message> {
  batch: number
  /** Whether it looks at the key of a call. */
  deduplicates: boolean
  send: (messages: readonly Message[], key: string) => Promise<SendResult[]>
}

/** The calls of one chunk through one channel. */
interface ChannelCalls<Message> {
  job: JobCtx
  claim: ChunkClaim
  contents: CampaignContents
  gateway: BatchGateway<Message>
  compose: (recipients: Recipients) => ComposedMessage<Message>[]
}

const notTried = (code: string, detail: string): SendResult => ({
  ok: false,
  kind: 'transient',
  code,
  detail,
  retryAfterMs: null,
})

const late = notTried('no_time', 'The chunk took too long.')

/** Nothing was sent, so another consumer may try. */
const notPrepared = (recipients: Recipients, error: unknown): Calls[number] => {
  const detail = error instanceof Error ? error.message : 'The messages could not be made.'
  return recipients.map(({ n }) => ({ n, result: notTried('not_prepared', detail) }))
}

/** The idempotency key of a call. The same recipients give the same key. */
const keyOf = async (campaignId: string, members: readonly number[]): Promise<string> =>
  `${campaignId}-${toHex(await sha256(members.join(' '))).slice(0, 32)}`

async function loadContents(job: JobCtx, { campaign_id, content }: ChunkClaim): Promise<CampaignContents> {
  const kept = keptContents(campaign_id, content)
  if (kept?.size) return kept
  const contents = contentsOf(await job.db.all(contentStatement(campaign_id, content)))
  keepContents(campaign_id, content, contents)
  return contents
}

async function findExcluded(job: JobCtx, claim: ChunkClaim, contents: CampaignContents): Promise<ExcludedRecipient[]> {
  // A repeated call must be the same, so nobody is excluded from it.
  if (claim.is_repeat) return []
  const context = [...contents.values()][0]?.context
  if (!context) throw new Error(`campaign ${claim.campaign_id} has no content ${claim.content}`)
  const audience = {
    organization_id: context.organization_id,
    edition_id: context.segment.edition_id,
    communication_type: context.segment.communication_type,
    communication_channel: context.channel,
  }
  return job.db.all(exclusionStatement(audience, claim.recipients, job.now()))
}

async function prepare(job: JobCtx, claim: ChunkClaim) {
  const contents = await loadContents(job, claim)
  const excluded = await findExcluded(job, claim, contents)
  return { contents, excluded, isEmail: [...contents.values()][0]?.context.channel !== 'sms' }
}

/** Makes the calls of a chunk, one after another; none when the claim is over or the campaign has stopped. */
export async function sendClaim(job: JobCtx, sender: CampaignSenderRpc, claim: ChunkClaim): Promise<Calls> {
  let prepared: Awaited<ReturnType<typeof prepare>>
  try {
    prepared = await prepare(job, claim)
  } catch (error) {
    return [notPrepared(claim.recipients, error)]
  }
  const { contents, excluded, isEmail } = prepared
  const { campaign_id } = claim
  const { deduplicates } = isEmail ? job.email : job.sms
  if (!deduplicates || excluded.length) if (!(await sender.begin(claim.chunk, claim.claim_id, excluded))) return []
  const numbers = new Set(excluded.map(({ n }) => n))
  const rest = { ...claim, recipients: claim.recipients.filter(({ n }) => !numbers.has(n)) }
  return isEmail
    ? callAll({ job, claim: rest, contents, gateway: job.email, compose: emailComposer(job, campaign_id, contents) })
    : callAll({ job, claim: rest, contents, gateway: job.sms, compose: smsComposer(job, campaign_id, contents) })
}

/** Whether other calls would get the same answer. They are not made, and not reported. */
const isRefusedForAll = (result: SendResult): boolean =>
  !result.ok && (result.kind === 'rate_limited' || result.kind === 'configuration')

/** Composes and sends the messages of one call at a time, because long messages of all calls would not fit in memory. */
async function callAll<Message>(channel: ChannelCalls<Message>): Promise<Calls> {
  const { claim, contents, gateway } = channel
  const calls: Calls = []
  const size = callSizeOf(gateway.batch, weightOf(contents))
  for (let start = 0; start < claim.recipients.length; start += size) {
    const call = await callOnce(channel, claim.recipients.slice(start, start + size))
    calls.push(call)
    if (call.some(({ result }) => isRefusedForAll(result))) break
  }
  return calls
}

async function callOnce<Message>(channel: ChannelCalls<Message>, recipients: Recipients): Promise<Calls[number]> {
  const { job, claim, gateway } = channel
  const isLate = () => job.now() > claim.claimed_until - claimMarginMs
  if (isLate()) return recipients.map(({ n }) => ({ n, result: late }))
  let composed: ComposedMessage<Message>[]
  try {
    composed = channel.compose(recipients)
  } catch (error) {
    return notPrepared(recipients, error)
  }
  const messages = composed.flatMap((one) => ('message' in one ? [one.message] : []))
  const members = composed.map(({ n }) => n)
  const key = gateway.deduplicates ? await keyOf(claim.campaign_id, members) : ''
  const results = isLate() || messages.length === 0 ? messages.map(() => late) : await gateway.send(messages, key)
  let next = 0
  return composed.map((one) => ({
    n: one.n,
    result: 'refusal' in one ? one.refusal : (results[next++] ?? notTried('no_result', 'The gateway gave no result.')),
  }))
}
