import type { Context } from 'hono'
import type { Ctx } from '../context.ts'
import type { Meter } from '../domain/meter.ts'

/** The bindings of the Worker, with the secrets and optional bindings that the generated types lack or require. */
export type Bindings = Omit<Env, 'ROOT_TOKEN' | 'LINK_SIGNING_KEY'> & {
  ROOT_TOKEN?: string
  LINK_SIGNING_KEY?: string
  /** Earlier keys, separated by commas, with which links are still read. */
  LINK_SIGNING_KEY_PREVIOUS?: string
  /** LINK_SIGNING_KEY is used if it is not set. */
  IDEMPOTENCY_KEY?: string
  /** Opens `/metrics`. */
  METRICS_TOKEN?: string
  /** The previous token during a rotation. */
  METRICS_TOKEN_PREVIOUS?: string
  EMAIL_API_KEY?: string
  EMAIL_WEBHOOK_SECRET?: string
  /** Present when EMAIL_PROVIDER is `cloudflare`. */
  EMAIL?: SendEmail
  SMS_API_KEY?: string
  FILE_SCAN_KEY?: string
  SMS_WEBHOOK_SECRET?: string
  /** Encrypts the secrets of merchant accounts. */
  MERCHANT_KEY_SECRET?: string
  /** The previous secret during a rotation. */
  MERCHANT_KEY_SECRET_PREVIOUS?: string
  WALLET_APPLE_CERTIFICATE?: string
  WALLET_APPLE_PRIVATE_KEY?: string
  WALLET_APPLE_ISSUER_CERTIFICATE?: string
  WALLET_GOOGLE_SERVICE_ACCOUNT?: string
  /** A connection to Apple's push service with the certificate of the pass type. */
  APPLE_PUSH?: Fetcher
  /** Without it, all variants of an image are the original. */
  IMAGES?: ImagesBinding
}

interface Variables {
  requestId: string
  /** It is set after authentication. */
  ctx: Ctx
  meter: Meter
  operationId: string | undefined
  /** Work to do after the response, which `runAfterCommit` in `src/app.ts` starts. */
  afterCommit: (() => Promise<unknown>)[]
}

export interface AppEnv {
  Bindings: Bindings
  Variables: Variables
}

export type AppContext = Context<AppEnv>
