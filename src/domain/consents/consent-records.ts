import { languages, type TranslatedDict } from '../languages.ts'
import { sha256 } from '../text/encoding.ts'
import type { Wording } from './consents.ts'

// `scripts/verify.ts` runs in Node, which has no `Uint8Array.toHex` yet.
const hashJson = async (content: unknown): Promise<string> =>
  Array.from(await sha256(JSON.stringify(content)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * The fields of a record that its hash covers. Records are only ever added, so each hash includes the one before it.
 */
export interface HashedRecord {
  id: string
  organization_id: string
  consent_id: string
  consent_version: number
  content_hash: string
  user_id: string
  number: number
  edition_id: string | null
  order_id: string | null
  import_id: string | null
  status: string
  previous_status: string | null
  method: string
  source: string
  language: string
  occurred_at: number
  expires_at: number | null
  previous_record_id: string | null
  evidence_hash: string | null
  hash_version: number
}

/** The fields that a hash of version 1 covers. */
const firstColumns = [
  'id',
  'consent_id',
  'consent_version',
  'content_hash',
  'user_id',
  'status',
  'method',
  'source',
  'language',
  'occurred_at',
  'expires_at',
  'previous_record_id',
] as const satisfies readonly (keyof HashedRecord)[]

const laterColumns = [
  'hash_version',
  'organization_id',
  'number',
  'edition_id',
  'order_id',
  'import_id',
  'previous_status',
  'evidence_hash',
] as const satisfies readonly (keyof HashedRecord)[]

export const hashVersion = 2

/** Hashes a record together with the hash before it, so that the chain reveals a later change. */
export function hashRecord(record: HashedRecord, previousHash: string | null): Promise<string> {
  const columns = record.hash_version === 1 ? firstColumns : [...firstColumns, ...laterColumns]
  return hashJson([previousHash, ...columns.map((name) => record[name])])
}

/** Hashes the evidence of a record. Equal evidence of two records has different hashes. */
export const hashEvidence = (recordId: string, evidence: string): Promise<string> => hashJson([recordId, evidence])

const orderTexts = (texts: TranslatedDict) => languages.map((language) => texts[language] ?? null)

/** Hashes the wording in all languages. The order of languages does not matter. */
export const hashWording = ({ title, text, link_url, legal_basis }: Wording): Promise<string> =>
  hashJson([orderTexts(title), orderTexts(text), orderTexts(link_url), legal_basis])

export interface StoredRecord extends HashedRecord {
  record_hash: string
  evidence: string | null
  is_latest: number
}

/** Finds the fault of a record that follows `before`. Returns null for a correct record. */
export async function findRecordFault(record: StoredRecord, before: StoredRecord | null): Promise<string | null> {
  if (record.number !== (before?.number ?? 0) + 1) return `its number is ${record.number}`
  if (record.previous_record_id !== (before?.id ?? null)) return 'it does not name the record before it'
  if (record.evidence !== null && record.evidence_hash !== (await hashEvidence(record.id, record.evidence)))
    return 'its evidence does not have its hash'
  return record.record_hash === (await hashRecord(record, before?.record_hash ?? null))
    ? null
    : 'it does not have its hash'
}

/**
 * Finds the first faulty record of a chain, which has the oldest record first. No record of a closed chain is the latest:
 * its customer was merged into another one.
 */
export async function findChainFault(
  chain: readonly StoredRecord[],
  isClosed = false,
): Promise<{ record: StoredRecord; fault: string } | null> {
  for (const [index, record] of chain.entries()) {
    const isLast = !isClosed && index === chain.length - 1
    const fault =
      (await findRecordFault(record, chain[index - 1] ?? null)) ??
      ((record.is_latest === 1) === isLast ? null : isLast ? 'it is not the latest' : 'it is not the last')
    if (fault !== null) return { record, fault }
  }
  return null
}
