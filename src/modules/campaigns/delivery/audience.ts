import { and, eq, isNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { isLostRace } from '../../../db/failures.ts'
import { editions } from '../../../db/schema/editions.ts'
import { segments } from '../../../db/schema/segments.ts'
import { type RowOf, select } from '../../../db/select.ts'
import { parseStoredPhone } from '../../../domain/accounts/users.ts'
import type { NewRecipient } from '../../../domain/campaigns/sender.ts'
import type { ExcludedRecipient, RecipientPerson } from '../../../domain/campaigns/sending-policy.ts'
import { LostRace } from '../../../domain/errors.ts'
import { type Language, parseLanguage } from '../../../domain/languages.ts'
import {
  type Audience as SegmentAudience,
  buildCalculationStart,
  buildExclusion,
  continueCalculation,
  findCalculation,
  isReadable,
  listSegmentMembers,
  type SegmentMember,
  selectAddress,
} from '../../segments/index.ts'
import { selectSuppressionExclusion } from '../../suppressions/index.ts'
import { evaluateConditions } from './block-conditions.ts'
import type { CampaignRow } from './campaign-row.ts'
import { loadContentOutline } from './content-snapshot.ts'

const segmentFields = {
  seq: segments.seq,
  id: segments.id,
  organization_id: segments.organization_id,
  edition_id: segments.edition_id,
  edition_timezone: sql<string | null>`${editions.timezone}`,
  communication_type: segments.communication_type,
  communication_channel: segments.communication_channel,
  expression: segments.expression,
  version: segments.version,
  status: segments.status,
  epoch: segments.epoch,
  members_epoch: segments.members_epoch,
  user_count: segments.user_count,
  error_message: segments.error_message,
}

export type CalculationState =
  | { error: string }
  /** `epoch` is the calculation to wait for. It is 0 while none has begun. */
  | { is_ready: false; epoch: number; has_more: boolean }
  | { is_ready: true; epoch: number; count: number }

export const findSegment = (
  { db }: Pick<JobCtx, 'db'>,
  row: CampaignRow,
): Promise<RowOf<typeof segmentFields> | undefined> =>
  db.first(
    select(segmentFields)
      .from(segments)
      .leftJoin(editions, eq(editions.id, segments.edition_id))
      .where(and(eq(segments.seq, row.segment_seq), isNull(segments.deleted_at))),
  )

const calculationMs = 1000

/**
 * Advances the calculation of the campaign's segment for about a second. `awaitedEpoch` is the calculation that was begun for
 * this run; the result of an earlier one may be out of date.
 */
export async function advanceCalculation(
  job: JobCtx,
  row: CampaignRow,
  awaitedEpoch: number,
): Promise<CalculationState> {
  const segment = await findSegment(job, row)
  if (!segment) return { error: 'The segment was deleted.' }
  if (segment.communication_channel !== row.channel)
    return { error: `The segment is not for ${row.channel} campaigns.` }
  const isAwaited = awaitedEpoch > 0 && segment.epoch >= awaitedEpoch
  if (isAwaited && segment.status === 'ready')
    return { is_ready: true, epoch: segment.members_epoch, count: segment.user_count }
  if (isAwaited && segment.status === 'failed')
    return { error: `The segment could not be calculated: ${segment.error_message}` }
  if (segment.status === 'calculating') {
    const calculation = await findCalculation(job, segment.id, segment.epoch)
    const step = calculation && (await continueCalculation(job, calculation, job.now() + calculationMs))
    // Another consumer continues an overtaken calculation.
    return { is_ready: false, epoch: segment.epoch, has_more: step?.state !== 'overtaken' }
  }
  try {
    await job.db.batch(buildCalculationStart(segment, job.now()))
  } catch (error) {
    if (!(error instanceof LostRace || isLostRace(error))) throw error
    return { is_ready: false, epoch: awaitedEpoch, has_more: true }
  }
  return { is_ready: false, epoch: segment.epoch + 1, has_more: true }
}

const findAddress = (
  row: CampaignRow,
  person: { email: string | null; phone_number: string | null },
): string | null => {
  if (row.channel === 'email') return person.email
  return person.phone_number === null ? null : parseStoredPhone(person.phone_number, row.edition_default_country_code)
}

/** Members who got the campaign as another customer, who was merged into them since. */
async function findReached(
  job: Pick<JobCtx, 'db'>,
  { id, organization_id }: CampaignRow,
  members: readonly { id: string }[],
): Promise<Set<string>> {
  const ids = JSON.stringify(members.map((member) => member.id))
  const hasMerges = sql`exists (select 1 from user_merges where organization_id = ${organization_id})`
  const rows = await job.db.all(sql<{ user_id: string }>`select user_id
    from json_each(iif(${hasMerges}, ${ids}, '[]')) as member
    cross join campaign_receipts on user_id = member.value and campaign_id = ${id} and state = 'sent'
    where exists (select 1 from user_merges where into_id = user_id)`)
  return new Set(rows.map(({ user_id }) => user_id))
}

export interface AudiencePage {
  people: NewRecipient[]
  /** The number of the last person; null on the last page. */
  after: number | null
}

/**
 * Lists the next members of the segment with the conditions of blocks that they fulfil; those who are excluded have a
 * reason. A page is shorter when conditions take long. Returns null when the members were deleted.
 */
export async function listAudience(
  job: JobCtx,
  row: CampaignRow,
  { epoch, after, limit }: { epoch: number; after: number; limit: number },
): Promise<AudiencePage | { error: string } | null> {
  const memberSet = { segmentSeq: row.segment_seq, epoch }
  const members = await listSegmentMembers(job.db, memberSet, after, limit)
  if (!(await isReadable(job.db, memberSet, job.now()))) return null
  const outline = await loadContentOutline(job, row)
  const people = await buildRecipients(job, row, members, outline)
  const seqs = people.filter(({ reason }) => reason === null).map(({ n }) => n)
  const evaluation = await evaluateConditions(job, row, outline, seqs)
  if ('error' in evaluation) return evaluation
  const isCut = evaluation.testedCount < seqs.length
  const lastNumber = isCut ? (seqs[evaluation.testedCount - 1] ?? 0) : members.at(-1)?.user_seq
  return {
    people: people
      .filter(({ n }) => n <= (lastNumber ?? 0))
      .map((person) => ({ ...person, conditions: evaluation.conditions.get(person.n) ?? 0 })),
    after: lastNumber !== undefined && (isCut || members.length === limit) ? lastNumber : null,
  }
}

/** The languages of the content, and the one for recipients of other languages. */
export interface ContentLanguages {
  languages: ReadonlySet<Language>
  fallback: Language
}

/** Builds the recipients for members of the segment. Those who get no message have a reason. */
export async function buildRecipients(
  job: Pick<JobCtx, 'db'>,
  row: CampaignRow,
  members: readonly SegmentMember[],
  { languages, fallback }: ContentLanguages,
): Promise<NewRecipient[]> {
  const reachedIds = await findReached(job, row, members)
  return members.map((member): NewRecipient => {
    const address = findAddress(row, member)
    const language = parseLanguage(member.locale)
    const person: RecipientPerson = {
      id: member.id,
      email: member.email,
      phone_number: member.phone_number,
      first_name: member.first_name,
      last_name: member.last_name,
    }
    return {
      n: member.user_seq,
      user_id: member.id,
      address,
      language: language && languages.has(language) ? language : fallback,
      person: JSON.stringify(person),
      conditions: 0,
      reason:
        member.excluded_for ??
        (address === null ? 'no_address' : reachedIds.has(member.id) ? 'duplicate_address' : null),
    }
  })
}

/**
 * Selects the recipients of a chunk who may no longer get the message. Suppressions of the address that the message
 * goes to count, and so do those of the person's current address.
 */
export function selectExcluded(
  audience: SegmentAudience,
  people: readonly { n: number; address: string }[],
  now: number,
) {
  const suppressionReason = sql`coalesce(${selectSuppressionExclusion(audience, selectAddress(audience.communication_channel))},
    ${selectSuppressionExclusion(audience, sql`p.value ->> 1`)})`
  const chunk = JSON.stringify(people.map(({ n, address }) => [n, address]))
  // A retry finds recipients who were merged into other customers since. The campaign may have reached those already.
  return sql<ExcludedRecipient>`select n, reason from (select p.value ->> 0 as n,
      iif(u.seq is null, 'duplicate_address', ${buildExclusion(audience, now, suppressionReason)}) as reason
    from json_each(${chunk}) p left join users u on u.seq = p.value ->> 0) where reason is not null`
}
