import { getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { isClaimable } from '../../../db/claims.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { consentRecords } from '../../../db/schema/consents.ts'
import { decodeAs } from '../../../db/select.ts'
import { effectiveStatuses, isEffective, personalMethods } from '../../../domain/consents/consents.ts'
import { listRepeatedRecords } from '../../../domain/consents/merged-answers.ts'
import type { Announcement } from '../../webhooks/index.ts'
import {
  appendRecord,
  buildAnswerAnnouncements,
  buildAnswerStatements,
  getEffectiveStatus,
  type RecordRow,
} from './records.ts'

/** The ids of the customer who stays and of the one who is merged into them. */
interface MergedPair {
  id: string
  other_id: string
}

interface MergedDefinition {
  id: string
  key: string
  edition_id: string | null
  type: string
}

/** The answers of two customers to one consent. */
interface AnswerMerge {
  definition: MergedDefinition
  own: RecordRow | null
  other: RecordRow
  /** The records that the chain of the customer repeats, each with the record that it repeats. */
  copies: readonly { record: RecordRow; source: RecordRow }[]
}

export interface ConsentMerge {
  answers: readonly AnswerMerge[]
  /** When one of the two last agreed to marketing by an act of their own; 0 for never. */
  marketing_given_at: number
}

/** A record that repeats another one says which. */
const buildMergeEvidence = ({ user_id, id }: RecordRow): string =>
  JSON.stringify({ merged_from: { user_id, record_id: id } })

async function copyRecords(
  ctx: Pick<JobCtx, 'newId'>,
  userId: string,
  own: RecordRow | null,
  sources: readonly RecordRow[],
): Promise<AnswerMerge['copies']> {
  const copies: { record: RecordRow; source: RecordRow }[] = []
  for (const source of sources) {
    const content = { ...source, user_id: userId, evidence: buildMergeEvidence(source), evidence_hash: null }
    copies.push({ source, record: await appendRecord(ctx, copies.at(-1)?.record ?? own, content) })
  }
  return copies
}

/** Decides which answers of the other customer count. Their records stay as they are, in chains of their own. */
export async function planConsentMerge(job: JobCtx, { id, other_id }: MergedPair): Promise<ConsentMerge> {
  const ids = inList(sql`user_id`, [id, other_id])
  const [records, definitions] = await job.db.batch([
    decodeAs(
      getTableColumns(consentRecords),
      sql<RecordRow>`select * from consent_records where ${ids} order by user_id, consent_id, number`,
    ),
    sql<MergedDefinition>`select id, key, edition_id, type from consents
      where id in (select consent_id from consent_records where ${ids})`,
  ])
  const marketing = new Set(definitions.filter(({ type }) => type === 'marketing').map((definition) => definition.id))
  const answers: AnswerMerge[] = []
  for (const definition of definitions) {
    const chain = records.filter(({ consent_id }) => consent_id === definition.id)
    const [ownChain, otherChain] = [id, other_id].map((userId) => chain.filter(({ user_id }) => user_id === userId))
    const ownRecord = ownChain?.at(-1) ?? null
    const otherRecord = otherChain?.at(-1)
    if (!ownChain || !otherChain || !otherRecord) continue
    const sources = listRepeatedRecords(ownChain, otherChain, job.now())
    const copies = await copyRecords(job, id, ownRecord, sources)
    answers.push({ definition, own: ownRecord, other: otherRecord, copies })
  }
  const givenTimes = records
    .filter(
      ({ status, consent_id, method }) =>
        status === 'given' && marketing.has(consent_id) && personalMethods.includes(method),
    )
    .map(({ occurred_at }) => occurred_at)
  return { answers, marketing_given_at: Math.max(0, ...givenTimes) }
}

const statusChanges = sql.join(
  effectiveStatuses.map((status) => sql.raw(`${status} = consent_stats.${status} - closed.${status}`)),
  sql`, `,
)
const statusCounts = sql.join(
  effectiveStatuses.map((status) => sql.raw(`sum(status = '${status}') as ${status}`)),
  sql`, `,
)

/** Closes the chains of the other customer, and repeats in those of the customer what counts. */
export function buildConsentMerge({ other_id }: MergedPair, { answers }: ConsentMerge, now: number): Statement[] {
  const isClosed = sql`user_id = ${other_id} and is_latest = 1`
  const copies = answers.flatMap((answer) => answer.copies)
  const emails = JSON.stringify(copies.map(({ source, record }) => [source.id, record.id, record.number]))
  return [
    sql`update consent_stats set ${statusChanges}
      from (select consent_id, ${statusCounts} from consent_records where ${isClosed} group by consent_id) as closed
      where consent_stats.consent_id = closed.consent_id`,
    sql`update consent_records set is_latest = 0 where ${isClosed}`,
    ...buildAnswerStatements(
      answers.map(({ own, copies: added }) => ({
        before: own,
        records: added.map(({ record }) => record),
      })),
    ),
    // The message that asks to confirm an answer follows it to its place in the chain.
    sql`update transactional_emails set consent_record_id = copy.value ->> 1,
        confirmation = json_set(confirmation, '$.number', copy.value ->> 2)
      from json_each(${emails}) as copy where consent_record_id = copy.value ->> 0`,
    // The others ask for what was answered since.
    sql`update transactional_emails set status = 'failed', due_at = null, claimed_until = null,
        error_code = 'answered_since', modified_at = ${now}
      where user_id = ${other_id} and kind = 'consent_confirmation' and status = 'pending' and ${isClaimable(now)}
        and consent_record_id in (select id from consent_records where user_id = ${other_id})`,
  ]
}

/** An answer that counts now and did not before is announced, with the address that its edition knows. */
export const buildConsentMergeAnnouncements = (
  id: string,
  { answers }: ConsentMerge,
  getEmail: (editionId: string | null) => string | null,
): Announcement[] =>
  answers.flatMap(({ definition, own, copies }) => {
    const record = copies.findLast((copy) => isEffective(copy.record.status))?.record
    const previous_status = own && getEffectiveStatus(own)
    if (!record || record.status === previous_status) return []
    const user = { id, email: getEmail(definition.edition_id) }
    return buildAnswerAnnouncements({ definition, user, records: [{ ...record, previous_status }] })
  })

/** Lists the consents that both answered otherwise, with the status that counts from then on. */
export const listConsentCollisions = ({ answers }: ConsentMerge): { name: string; kept: string; dropped: string }[] =>
  answers.flatMap(({ definition: { key }, own, other, copies }) => {
    if (!own || own.status === other.status) return []
    const lastStatus = copies.at(-1)?.record.status ?? own.status
    return [{ name: key, kept: lastStatus, dropped: lastStatus === own.status ? other.status : own.status }]
  })
