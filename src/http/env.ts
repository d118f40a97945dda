import type { Context } from 'hono'
import type { Ctx } from '../context.ts'
import type { Meter } from '../domain/meter.ts'
import type { SettingName } from '../domain/settings/settings.ts'

/** The bindings of the Worker. None of the settings has to be set, whatever the generated types say. */
export type Bindings = Omit<Env, SettingName> & { [Name in SettingName]?: string } & {
  /** Present when EMAIL_PROVIDER is `cloudflare`. */
  EMAIL?: SendEmail
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
