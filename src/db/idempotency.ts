import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { requireOneChange } from './commit.ts'
import type { Database, Statement } from './database.ts'
import { idempotencyKeys } from './schema/idempotency-keys.ts'
import { select } from './select.ts'
import { remove, update } from './write.ts'

export interface IdempotencyKey {
  callerId: string
  keyHash: string
}

/** A stored response. `body` is encrypted with a key that is derived from the caller's Idempotency-Key. */
export interface StoredResponse {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

export type KeyState =
  | { state: 'begun' }
  | { state: 'in_progress' }
  | { state: 'other_request'; fingerprint: string; response: StoredResponse | null }
  | { state: 'completed'; response: StoredResponse }

const attemptMs = 60_000
const keepMs = 86_400_000

const keyFields = {
  fingerprint: idempotencyKeys.fingerprint,
  claim_id: idempotencyKeys.claim_id,
  status: idempotencyKeys.status,
  headers: idempotencyKeys.headers,
  body: idempotencyKeys.body,
}

const isKey = ({ callerId, keyHash }: IdempotencyKey) =>
  and(eq(idempotencyKeys.caller_id, callerId), eq(idempotencyKeys.key_hash, keyHash))

/** True if this attempt holds the key and no response is stored yet. */
const isHeldBy = (key: IdempotencyKey, attemptId: string): SQL =>
  sql`${isKey(key)} and ${eq(idempotencyKeys.claim_id, attemptId)} and ${isNull(idempotencyKeys.status)}`

/** Stores which request holds an Idempotency-Key, and its response. */
export class IdempotencyStore {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** Begins an attempt that holds the key. It takes over a key whose attempt has expired without a response, as after a crash. */
  async beginAttempt(
    key: IdempotencyKey,
    newAttempt: { id: string; ms?: number },
    fingerprint: string,
    now: number,
  ): Promise<KeyState> {
    const { id, ms = attemptMs } = newAttempt
    const insertion = sql`insert into idempotency_keys (caller_id, key_hash, fingerprint, claim_id, claimed_until, expires_at)
      values (${key.callerId}, ${key.keyHash}, ${fingerprint}, ${id}, ${now + ms}, ${now + keepMs})
      on conflict (caller_id, key_hash) do update set fingerprint = excluded.fingerprint, claim_id = excluded.claim_id,
        claimed_until = excluded.claimed_until, expires_at = excluded.expires_at, status = null, headers = null, body = null
      where idempotency_keys.expires_at <= ${now} or (idempotency_keys.status is null
        and idempotency_keys.claimed_until <= ${now} and idempotency_keys.fingerprint = excluded.fingerprint)`
    const storedKey = select(keyFields).from(idempotencyKeys).where(isKey(key))
    const [, [row]] = await this.#db.batch([insertion, storedKey])
    if (!row || row.claim_id === id) return { state: 'begun' }
    const { status, headers, body } = row
    const response = status === null || headers === null || body === null ? null : { status, headers, body }
    if (row.fingerprint !== fingerprint) return { state: 'other_request', fingerprint: row.fingerprint, response }
    return response ? { state: 'completed', response } : { state: 'in_progress' }
  }

  /**
   * Statements that store the response. They abort the batch if another attempt holds the key by then.
   * `fingerprint` replaces the stored one for a body that was read only after the attempt began.
   */
  buildStoreStatements(
    key: IdempotencyKey,
    attemptId: string,
    response: StoredResponse,
    fingerprint: string | null = null,
  ): Statement[] {
    const { status, headers, body } = response
    const newFingerprint = fingerprint === null ? {} : { fingerprint }
    return [
      update(idempotencyKeys, { status, headers, body, ...newFingerprint }, isHeldBy(key, attemptId)),
      requireOneChange(),
    ]
  }

  async store(
    key: IdempotencyKey,
    attemptId: string,
    response: StoredResponse,
    fingerprint: string | null = null,
  ): Promise<void> {
    const [statement] = this.buildStoreStatements(key, attemptId, response, fingerprint)
    if (statement) await this.#db.batch([statement])
  }

  /** Releases the key without a response, so that the client can repeat the request. */
  async release(key: IdempotencyKey, attemptId: string): Promise<void> {
    await this.#db.batch([remove(idempotencyKeys, isHeldBy(key, attemptId))])
  }
}

/** Deletes up to `limit` expired keys. */
export async function deleteExpiredKeys(db: Database, now: number, limit = 1000): Promise<void> {
  await db.batch([
    sql`delete from idempotency_keys where (caller_id, key_hash) in
      (select caller_id, key_hash from idempotency_keys where expires_at <= ${now} limit ${limit})`,
  ])
}
