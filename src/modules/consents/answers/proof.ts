import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import type { ConsentVersionRow } from '../../../db/schema/consents.ts'
import { contentHash, recordFault, type StoredRecord } from '../../../domain/consents/consent-records.ts'
import { notFound } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import { type AnswerSubject, type SeenRecord, seenRecord } from './answer-queries.ts'
import type { RecordRow } from './records.ts'
import { wordingOf } from '../wording.ts'

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

/** What shows the latest answer: the record, the wording that it is to, and the records before. */
export async function findProof(ctx: Ctx, { answer, default_language }: AnswerSubject): Promise<Proof> {
  const record = seenRecord(answer)
  if (record === null) throw notFound()
  const [[version], chain] = await ctx.db.batch([
    sql<ConsentVersionRow>`select * from consent_versions where consent_id = ${answer.id}
      and version = ${record.consent_version}`,
    sql<RecordRow>`select * from consent_records where user_id = ${answer.user_id} and consent_id = ${answer.id}
      order by number desc limit ${recordsShown + 1}`,
  ])
  if (!version) throw notFound()
  const hash = await contentHash(wordingOf(version))
  const isWorded = hash === version.content_hash && hash === record.content_hash
  return {
    record,
    version,
    default_language,
    chain: chain.slice(0, recordsShown),
    is_intact: isWorded && (await isWhole(chain)),
  }
}
