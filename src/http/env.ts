import type { Context } from 'hono'
import type { Ctx } from '../context.ts'
import type { Meter } from '../domain/meter.ts'

/** Bindings, and the secrets that generated types do not contain. */
export type Bindings = Env & {
  ROOT_TOKEN?: string
  LINK_SIGNING_KEY?: string
  /** LINK_SIGNING_KEY replaces it when it is absent. */
  IDEMPOTENCY_KEY?: string
  EMAIL_API_KEY?: string
  EMAIL_WEBHOOK_SECRET?: string
  /** Present when EMAIL_PROVIDER is `cloudflare`. */
  EMAIL?: SendEmail
  SMS_API_KEY?: string
  FILE_SCAN_KEY?: string
  SMS_WEBHOOK_SECRET?: string
  /** Seals the secrets of merchant accounts. */
  MERCHANT_KEY_SECRET?: string
  /** The former secret, while it is replaced. */
  MERCHANT_KEY_SECRET_PREVIOUS?: string
  WALLET_APPLE_CERTIFICATE?: string
  WALLET_APPLE_PRIVATE_KEY?: string
  WALLET_APPLE_ISSUER_CERTIFICATE?: string
  WALLET_GOOGLE_SERVICE_ACCOUNT?: string
  /** A connection to Apple's push service with the certificate of the pass type. */
  APPLE_PUSH?: Fetcher
  /** Without it variants of images are the originals. */
  IMAGES?: ImagesBinding
}

interface Variables {
  requestId: string
  /** Set once the caller is known. */
  ctx: Ctx
  meter: Meter
  operationId: string | undefined
  /** Work that follows a successful answer. */
  afterCommit: (() => Promise<unknown>)[]
}

export interface AppEnv {
  Bindings: Bindings
  Variables: Variables
}

export type AppContext = Context<AppEnv>
