import type { Wording } from './consents.ts'
import { sha256 } from '../text/encoding.ts'
import { languages, type TranslatedDict } from '../languages.ts'

// Node, in which chains are verified, has no `toHex` yet.
const hashOf = async (content: unknown): Promise<string> =>
  Array.from(await sha256(JSON.stringify(content)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** The content of a record. Records are only added, so each contains the hash of the one before it. */
export interface ConsentStatement {
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

/** The fields in the hashes of the first records. */
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
] as const satisfies readonly (keyof ConsentStatement)[]

const laterColumns = [
  'hash_version',
  'organization_id',
  'number',
  'edition_id',
  'order_id',
  'import_id',
  'previous_status',
  'evidence_hash',
] as const satisfies readonly (keyof ConsentStatement)[]

export const hashVersion = 2

/** The hash of a record and of the hash before it, so that the chain reveals a later change. */
export function recordHash(record: ConsentStatement, previousHash: string | null): Promise<string> {
  const columns = record.hash_version === 1 ? firstColumns : [...firstColumns, ...laterColumns]
  return hashOf([previousHash, ...columns.map((name) => record[name])])
}

/** The hash of the evidence of one record. Equal evidence of two records has different hashes. */
export const evidenceHash = (recordId: string, evidence: string): Promise<string> => hashOf([recordId, evidence])

const inOrder = (texts: TranslatedDict) => languages.map((language) => texts[language] ?? null)

/** The hash of the wording in all languages, in any order of the languages. */
export const contentHash = ({ title, text, link_url, legal_basis }: Wording): Promise<string> =>
  hashOf([inOrder(title), inOrder(text), inOrder(link_url), legal_basis])

export interface StoredRecord extends ConsentStatement {
  record_hash: string
  evidence: string | null
  is_latest: number
}

/** The fault of a record, given the one before it; null for a correct record. */
export async function recordFault(record: StoredRecord, before: StoredRecord | null): Promise<string | null> {
  if (record.number !== (before?.number ?? 0) + 1) return `its number is ${record.number}`
  if (record.previous_record_id !== (before?.id ?? null)) return 'it does not name the record before it'
  if (record.evidence !== null && record.evidence_hash !== (await evidenceHash(record.id, record.evidence)))
    return 'its evidence does not have its hash'
  return record.record_hash === (await recordHash(record, before?.record_hash ?? null))
    ? null
    : 'it does not have its hash'
}

/** The first record of a chain, oldest first, that does not fit. */
export async function chainFault(
  chain: readonly StoredRecord[],
): Promise<{ record: StoredRecord; what: string } | null> {
  for (const [index, record] of chain.entries()) {
    const isLast = index === chain.length - 1
    const what =
      (await recordFault(record, chain[index - 1] ?? null)) ??
      ((record.is_latest === 1) === isLast ? null : isLast ? 'it is not the latest' : 'it is not the last')
    if (what !== null) return { record, what }
  }
  return null
}
