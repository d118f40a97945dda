import type { JobCtx } from '../../../context.ts'
import type { CampaignSender } from '../../../domain/campaigns/sender.ts'
import { callSizeOf, type Claim, leaseMarginMs, type LeftOut, type Report } from '../../../domain/campaigns/sending-policy.ts'
import { sha256, toHex } from '../../../domain/encoding.ts'
import type { SendResult } from '../../../domain/messaging.ts'
import { leftOutStatement } from './audience.ts'
import { type Composed, composeEmails, composeSms } from './compose.ts'
import { enqueueCampaign } from './enqueue.ts'
import { type Contents, contentsOf, contentStatement, keepContents, keptContents, weightOf } from './content-snapshot.ts'

/** A consumer sends this long before it leaves the rest to the next. */
const shiftMs = 20_000
/** Chunks of one campaign that a consumer has at once. The platform opens six connections for it. */
const lanesAConsumer = 4

interface Gateway<Message> {
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

/** The same recipients of a campaign make the same key, so that a call that is repeated is the same call. */
export const keyOf = async (campaignId: string, members: readonly number[]): Promise<string> =>
  `${campaignId}-${toHex(await sha256(members.join(' '))).slice(0, 32)}`

async function gather(job: JobCtx, claim: Claim): Promise<{ contents: Contents; leftOut: LeftOut[] }> {
  const known = keptContents(claim.campaign_id, claim.content)
  const first = known && [...known.values()][0]
  const audienceStatement = (contents: Contents) => {
    const surroundings = [...contents.values()][0]?.surroundings
    if (!surroundings) throw new Error(`campaign ${claim.campaign_id} has no content ${claim.content}`)
    return leftOutStatement(
      {
        organization_id: surroundings.organization_id,
        edition_id: surroundings.segment.edition_id,
        communication_type: surroundings.segment.communication_type,
        communication_channel: surroundings.channel,
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
  // Whoever may have been sent to already stays: the call has to be the same.
  const leftOut = claim.is_repeat ? [] : await job.db.all(audienceStatement(contents))
  return { contents, leftOut }
}

/** The calls that a chunk takes, ready to be made. Nothing has gone out yet. */
async function prepare(
  job: JobCtx,
  claim: Claim,
): Promise<{ leftOut: LeftOut[]; isEmail: boolean; send: () => Calls }> {
  const { contents, leftOut } = await gather(job, claim)
  const isEmail = [...contents.values()][0]?.surroundings.channel !== 'sms'
  const gone = new Set(leftOut.map(({ n }) => n))
  const rest = { ...claim, recipients: claim.recipients.filter(({ n }) => !gone.has(n)) }
  const weight = weightOf(contents)
  const composeOf =
    <Message>(compose: (job: JobCtx, claim: Claim, contents: Contents) => Promise<Composed<Message>[]>) =>
    (recipients: Claim['recipients']) =>
      compose(job, { ...rest, recipients }, contents)
  return {
    leftOut,
    isEmail,
    send: () =>
      isEmail
        ? callAll(job, rest, job.email, weight, composeOf(composeEmails))
        : callAll(job, rest, job.sms, weight, composeOf(composeSms)),
  }
}

type Calls = Promise<Report['calls']>

/** Makes the calls of a chunk, one after another; none when it is not ours any more, or the campaign has stopped. */
async function sendClaim(job: JobCtx, sender: CampaignSender, claim: Claim): Calls {
  let ready: Awaited<ReturnType<typeof prepare>>
  try {
    ready = await prepare(job, claim)
  } catch (error) {
    // Our own fault, before anything went out: others may be luckier.
    const detail = error instanceof Error ? error.message : 'The messages could not be made.'
    return [claim.recipients.map(({ n }) => ({ n, result: notTried('not_prepared', detail) }))]
  }
  const { deduplicates } = ready.isEmail ? job.email : job.sms
  if (!deduplicates || ready.leftOut.length)
    if (!(await sender.begin(claim.chunk, claim.lease, ready.leftOut))) return []
  return ready.send()
}

/** Makes and sends one call's messages after another's: all at once would be too much to hold for heavy ones. */
async function callAll<Message>(
  job: JobCtx,
  claim: Claim,
  gateway: Gateway<Message>,
  weight: number,
  compose: (recipients: Claim['recipients']) => Promise<Composed<Message>[]>,
): Promise<Report['calls']> {
  const calls: Report['calls'] = []
  const { recipients } = claim
  const size = callSizeOf(gateway.batch, weight)
  for (let start = 0; start < recipients.length; start += size)
    calls.push(await callOnce(job, claim, gateway, recipients.slice(start, start + size), compose))
  return calls
}

async function callOnce<Message>(
  job: JobCtx,
  claim: Claim,
  gateway: Gateway<Message>,
  recipients: Claim['recipients'],
  compose: (recipients: Claim['recipients']) => Promise<Composed<Message>[]>,
): Promise<Report['calls'][number]> {
  const isLate = () => job.now() > claim.lease_until - leaseMarginMs
  const late = notTried('no_time', 'The chunk took too long.')
  if (isLate()) return recipients.map(({ n }) => ({ n, result: late }))
  let part: Composed<Message>[]
  try {
    part = await compose(recipients)
  } catch (error) {
    // Our own fault, before anything of it went out: others may be luckier.
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
    result: 'refusal' in one ? one.refusal : (results[next++] ?? notTried('no_result', 'The gateway told nothing.')),
  }))
}

/** A lane: chunk after chunk, each report handing out the next. Answers whether there is more for others. */
async function lane(job: JobCtx, sender: CampaignSender, endsAt: number): Promise<boolean> {
  let answer = await sender.claim(job.newId('lease'))
  while (answer.next) {
    const claim = answer.next
    const calls = await sendClaim(job, sender, claim)
    const goes_on = job.now() < endsAt
    answer = await sender.report({ chunk: claim.chunk, lease: claim.lease, calls, goes_on }, job.newId('lease'))
  }
  return answer.has_more
}

/** Sends what these campaigns have to send. A crash loses nothing: leases expire, and the object enqueues again. */
export async function sendChunks(job: JobCtx, campaignIds: readonly string[]): Promise<void> {
  const endsAt = job.now() + shiftMs
  const endings = await Promise.allSettled(
    campaignIds.map(async (id) => {
      const sender = job.senders.of(id)
      const lanes = await Promise.allSettled(Array.from({ length: lanesAConsumer }, () => lane(job, sender, endsAt)))
      const fault = lanes.find((one) => one.status === 'rejected')
      if (lanes.some((one) => one.status === 'fulfilled' && one.value)) await enqueueCampaign(job, id, 1)
      if (fault) throw fault.reason
    }),
  )
  const fault = endings.find((one) => one.status === 'rejected')
  if (fault) throw new Error('a campaign could not be sent', { cause: fault.reason })
}
