import { and, desc, eq, getTableColumns } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { consentRecords, type ConsentVersionRow } from '../../../db/schema/consents.ts'
import { select } from '../../../db/select.ts'
import { contentHash, recordFault, type StoredRecord } from '../../../domain/consents/consent-records.ts'
import { notFound } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import type { AnswerSubject, SeenRecord } from './answer-queries.ts'
import { selectVersion } from './person-answers.ts'
import type { RecordRow } from './records.ts'

export interface Proof {
  record: SeenRecord
  version: ConsentVersionRow
  default_language: Language | null
  /** Newest first. */
  chain: readonly RecordRow[]
  is_intact: boolean
}

const recordsShown = 100

/** Whether each record fits the one before it; `chain` is newest first. */
async function isWhole(chain: readonly StoredRecord[]): Promise<boolean> {
  const checked = chain.length > recordsShown ? chain.slice(0, -1) : chain
  const faults = await Promise.all(checked.map((record, index) => recordFault(record, chain[index + 1] ?? null)))
  return faults.every((fault) => fault === null)
}

/** The proof of the latest answer: its record, the wording that was answered, and the records before. */
export async function findProof(ctx: Ctx, { answer, default_language }: AnswerSubject): Promise<Proof> {
  const { record } = answer
  if (record === null) throw notFound()
  const [[version], chain] = await ctx.db.batch([
    selectVersion(record),
    select(getTableColumns(consentRecords))
      .from(consentRecords)
      .where(and(eq(consentRecords.user_id, answer.user_id), eq(consentRecords.consent_id, answer.id)))
      .orderBy(desc(consentRecords.number))
      .limit(recordsShown + 1),
  ])
  if (!version) throw notFound()
  const hash = await contentHash(version)
  const isWorded = hash === version.content_hash && hash === record.content_hash
  return {
    record,
    version,
    default_language,
    chain: chain.slice(0, recordsShown),
    is_intact: isWorded && (await isWhole(chain)),
  }
}
