import type { Database, Statement } from './db/database.ts'
import type { IdempotencyKey, IdempotencyStore } from './db/idempotency.ts'
import type { Caller } from './domain/access.ts'
import type { IdKind } from './domain/ids.ts'

export type { IdempotencyKey }

export interface Config {
  environment: 'production' | 'development' | 'test'
  /** What RateLimit-Policy announces; 0 announces and enforces nothing. */
  rateLimitPerMinute: number
  rootToken: string | null
  oidc: { issuer: string; audience: string } | null
}

/** What every verb receives. Time, ids and randomness come from here and from nowhere else. */
export interface Ctx {
  caller: Caller
  /** The primary for requests that may write; any replica for reads. */
  db: Database
  requestId: string
  config: Config
  /** Milliseconds UTC. */
  now: () => number
  newId: (kind: IdKind) => string
  randomBytes: (length: number) => Uint8Array
  idempotency: IdempotencyStore
  /** Statements that store this request's answer, for the transaction that decides it; none without an Idempotency-Key. */
  settle: (result: unknown) => Promise<Statement[]>
}
