import { sha256, toHex } from './encoding.ts'

/** What a record says. Records are only ever added, so each can vouch for the one before it. */
export interface ConsentStatement {
  id: string
  consent_id: string
  consent_version: number
  content_hash: string
  user_id: string
  status: string
  method: string
  source: string
  language: string
  occurred_at: number
  expires_at: number | null
  previous_record_id: string | null
}

/** Of a record and the hash of the one before: a chain that shows when a record was changed later. */
export const recordHash = async (record: ConsentStatement, previousHash: string | null): Promise<string> =>
  toHex(
    await sha256(
      JSON.stringify([
        previousHash,
        record.id,
        record.consent_id,
        record.consent_version,
        record.content_hash,
        record.user_id,
        record.status,
        record.method,
        record.source,
        record.language,
        record.occurred_at,
        record.expires_at,
        record.previous_record_id,
      ]),
    ),
  )
