import type { JobCtx } from '../../../context.ts'
import type { CampaignSenderRpc } from '../../../domain/campaigns/sender.ts'
import {
  computeCallSize,
  type ChunkClaim,
  type ChunkReport,
  type ExcludedRecipient,
  chunkClaimMarginMs,
} from '../../../domain/campaigns/sending-policy.ts'
import type { SendResult } from '../../../domain/messaging/messaging.ts'
import { sha256, toHex } from '../../../domain/text/encoding.ts'
import { selectExcluded } from './audience.ts'
import { type ComposedMessage, createEmailComposer, createSmsComposer } from './compose.ts'
import {
  type CampaignContents,
  readContents,
  selectContents,
  cacheContents,
  findCachedContents,
  measureContents,
} from './content-snapshot.ts'

type Calls = ChunkReport['calls']
type Recipients = ChunkClaim['recipients']

interface BatchGateway<Message> {
  batch: number
  /** True if repeating a call with the same key sends nothing twice. */
  deduplicates: boolean
  send: (messages: readonly Message[], key: string) => Promise<SendResult[]>
}

/** Everything needed to make the calls of one chunk. */
interface ChannelCalls<Message> {
  job: JobCtx
  claim: ChunkClaim
  contents: CampaignContents
  gateway: BatchGateway<Message>
  compose: (recipients: Recipients) => ComposedMessage<Message>[]
}

const buildUntriedResult = (code: string, detail: string): SendResult => ({
  ok: false,
  kind: 'transient',
  code,
  detail,
  retryAfterMs: null,
})

const lateResult = buildUntriedResult('no_time', 'The chunk took too long.')
const missingResult = buildUntriedResult('no_result', 'The gateway returned no result.')

/** Reports that nothing was sent, so that another consumer may try. */
const reportUnprepared = (recipients: Recipients, error: unknown): Calls[number] => {
  const detail = error instanceof Error ? error.message : 'The messages could not be rendered.'
  return recipients.map(({ n }) => ({ n, result: buildUntriedResult('not_prepared', detail) }))
}

/** Builds the idempotency key of a call. The same recipients give the same key. */
const buildCallKey = async (campaignId: string, members: readonly number[]): Promise<string> =>
  `${campaignId}-${toHex(await sha256(members.join(' '))).slice(0, 32)}`

async function loadContents(job: JobCtx, { campaign_id, content_run }: ChunkClaim): Promise<CampaignContents> {
  const cachedContents = findCachedContents(campaign_id, content_run)
  if (cachedContents?.size) return cachedContents
  const contents = readContents(await job.db.all(selectContents(campaign_id, content_run)))
  cacheContents(campaign_id, content_run, contents)
  return contents
}

async function findExcluded(job: JobCtx, claim: ChunkClaim, contents: CampaignContents): Promise<ExcludedRecipient[]> {
  // A repeated call needs the same recipients, so nobody is excluded from it.
  if (claim.is_repeat) return []
  const context = [...contents.values()][0]?.context
  if (!context) throw new Error(`campaign ${claim.campaign_id} has no content of run ${claim.content_run}`)
  const audience = {
    organization_id: context.organization_id,
    edition_id: context.segment.edition_id,
    communication_type: context.segment.communication_type,
    communication_channel: context.channel,
  }
  return job.db.all(selectExcluded(audience, claim.recipients, job.now()))
}

async function prepareChunk(job: JobCtx, claim: ChunkClaim) {
  const contents = await loadContents(job, claim)
  const excludedRecipients = await findExcluded(job, claim, contents)
  return { contents, excluded: excludedRecipients, isEmail: [...contents.values()][0]?.context.channel !== 'sms' }
}

/** Makes the calls of a chunk one after another. Makes none when the claim is over or the campaign has stopped. */
export async function sendChunk(job: JobCtx, sender: CampaignSenderRpc, claim: ChunkClaim): Promise<Calls> {
  let preparedChunk: Awaited<ReturnType<typeof prepareChunk>>
  try {
    preparedChunk = await prepareChunk(job, claim)
  } catch (error) {
    return [reportUnprepared(claim.recipients, error)]
  }
  const { contents, excluded: excludedRecipients, isEmail } = preparedChunk
  const { campaign_id } = claim
  const { deduplicates } = isEmail ? job.email : job.sms
  const needsBegin = !deduplicates || excludedRecipients.length > 0
  if (needsBegin && !(await sender.beginCalls(claim.chunk, claim.claim_id, excludedRecipients))) return []
  const excludedNumbers = new Set(excludedRecipients.map(({ n }) => n))
  const recipients = claim.recipients.filter(({ n }) => !excludedNumbers.has(n))
  const chunk = { job, claim: { ...claim, recipients }, contents }
  return isEmail
    ? sendInCalls({ ...chunk, gateway: job.email, compose: createEmailComposer(job, campaign_id, contents) })
    : sendInCalls({ ...chunk, gateway: job.sms, compose: createSmsComposer(job, campaign_id, contents) })
}

/** True if all further calls would get the same answer. They are neither made nor reported. */
const isRefusedForAll = (result: SendResult): boolean =>
  !result.ok && (result.kind === 'rate_limited' || result.kind === 'configuration')

/** Composes the messages of one call at a time, because the long messages of all calls would not fit into memory. */
async function sendInCalls<Message>(channel: ChannelCalls<Message>): Promise<Calls> {
  const { claim, contents, gateway } = channel
  const calls: Calls = []
  const size = computeCallSize(gateway.batch, measureContents(contents))
  for (let start = 0; start < claim.recipients.length; start += size) {
    const call = await sendCall(channel, claim.recipients.slice(start, start + size))
    calls.push(call)
    if (call.some(({ result }) => isRefusedForAll(result))) break
  }
  return calls
}

async function sendCall<Message>(channel: ChannelCalls<Message>, recipients: Recipients): Promise<Calls[number]> {
  const { job, claim, gateway } = channel
  const isLate = () => job.now() > claim.claimed_until - chunkClaimMarginMs
  if (isLate()) return recipients.map(({ n }) => ({ n, result: lateResult }))
  let composedMessages: ComposedMessage<Message>[]
  try {
    composedMessages = channel.compose(recipients)
  } catch (error) {
    return reportUnprepared(recipients, error)
  }
  const messages = composedMessages.flatMap((item) => ('message' in item ? [item.message] : []))
  const members = composedMessages.map(({ n }) => n)
  const key = gateway.deduplicates ? await buildCallKey(claim.campaign_id, members) : ''
  const results = isLate() || messages.length === 0 ? messages.map(() => lateResult) : await gateway.send(messages, key)
  let next = 0
  return composedMessages.map((item) => {
    if ('refusal' in item) return { n: item.n, result: item.refusal }
    return { n: item.n, result: results[next++] ?? missingResult }
  })
}
