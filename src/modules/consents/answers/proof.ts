import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import type { ConsentVersionRow } from '../../../db/rows.ts'
import { consentRecords } from '../../../db/schema/consents.ts'
import { select } from '../../../db/select.ts'
import { hashWording, findRecordFault, type StoredRecord } from '../../../domain/consents/consent-records.ts'
import { notFound } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import type { AnswerSubject, VisibleRecord } from './answer-queries.ts'
import { selectVersion } from './person-answers.ts'
import type { RecordRow } from './records.ts'

export interface Proof {
  record: VisibleRecord
  version: ConsentVersionRow
  default_language: Language | null
  /** The records of the chain, newest first. */
  chain: readonly RecordRow[]
  is_intact: boolean
  /** The chains of customers who were merged into this one. */
  merged_chains: readonly MergedChain[]
}

interface MergedChain {
  user_id: string
  /** The records of the chain, newest first. */
  chain: readonly RecordRow[]
  is_intact: boolean
}

const maxProofRecords = 100
const maxMergedChains = 20

/** True if each record fits the one before it. `chain` has the newest record first. */
async function isChainIntact(chain: readonly StoredRecord[]): Promise<boolean> {
  const records = chain.length > maxProofRecords ? chain.slice(0, -1) : chain
  const faults = await Promise.all(records.map((record, index) => findRecordFault(record, chain[index + 1] ?? null)))
  return faults.every((fault) => fault === null)
}

/** The newest records of a chain. */
const selectChain = (userId: string, consentId: string) =>
  select(getTableColumns(consentRecords))
    .from(consentRecords)
    .where(and(eq(consentRecords.user_id, userId), eq(consentRecords.consent_id, consentId)))
    .orderBy(desc(consentRecords.number))
    .limit(maxProofRecords + 1)

async function findMergedChains(ctx: Ctx, { answer }: AnswerSubject): Promise<MergedChain[]> {
  const merges = await ctx.db.all(
    sql<{ id: string }>`select id from user_merges where into_id = ${answer.user_id}
      and exists (select 1 from consent_records where user_id = user_merges.id and consent_id = ${answer.id})
      order by merged_at desc, id limit ${maxMergedChains}`,
  )
  if (merges.length === 0) return []
  const chains = await ctx.db.batch(merges.map(({ id }) => selectChain(id, answer.id)))
  return Promise.all(
    merges.map(async ({ id }, index) => {
      const chain = chains[index] ?? []
      return { user_id: id, chain: chain.slice(0, maxProofRecords), is_intact: await isChainIntact(chain) }
    }),
  )
}

/** Finds the proof of the latest answer: its record, the wording that was answered, and the earlier records. */
export async function findProof(ctx: Ctx, subject: AnswerSubject): Promise<Proof> {
  const { answer, default_language } = subject
  const { record } = answer
  if (record === null) throw notFound()
  const [[version], chain] = await ctx.db.batch([selectVersion(record), selectChain(answer.user_id, answer.id)])
  if (!version) throw notFound()
  const hash = await hashWording(version)
  const hasWordingHash = hash === version.content_hash && hash === record.content_hash
  return {
    record,
    version,
    default_language,
    chain: chain.slice(0, maxProofRecords),
    is_intact: hasWordingHash && (await isChainIntact(chain)),
    merged_chains: await findMergedChains(ctx, subject),
  }
}
