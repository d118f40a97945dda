import { and, desc, eq, getTableColumns } from 'drizzle-orm'
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
}

const maxProofRecords = 100

/** True if each record fits the one before it. `chain` has the newest record first. */
async function isChainIntact(chain: readonly StoredRecord[]): Promise<boolean> {
  const records = chain.length > maxProofRecords ? chain.slice(0, -1) : chain
  const faults = await Promise.all(records.map((record, index) => findRecordFault(record, chain[index + 1] ?? null)))
  return faults.every((fault) => fault === null)
}

/** Finds the proof of the latest answer: its record, the wording that was answered, and the earlier records. */
export async function findProof(ctx: Ctx, { answer, default_language }: AnswerSubject): Promise<Proof> {
  const { record } = answer
  if (record === null) throw notFound()
  const [[version], chain] = await ctx.db.batch([
    selectVersion(record),
    select(getTableColumns(consentRecords))
      .from(consentRecords)
      .where(and(eq(consentRecords.user_id, answer.user_id), eq(consentRecords.consent_id, answer.id)))
      .orderBy(desc(consentRecords.number))
      .limit(maxProofRecords + 1),
  ])
  if (!version) throw notFound()
  const hash = await hashWording(version)
  const hasWordingHash = hash === version.content_hash && hash === record.content_hash
  return {
    record,
    version,
    default_language,
    chain: chain.slice(0, maxProofRecords),
    is_intact: hasWordingHash && (await isChainIntact(chain)),
  }
}
