import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../domain/errors.ts'
import { sha256OfShort, toHex } from '../../domain/text/encoding.ts'
import type { AppContext, AppEnv } from '../env.ts'
import { readNetwork, readLimit, formatPolicy, createRateLimitError } from './rate-limit.ts'

/** It must equal `limit` in wrangler.toml. */
const failuresPerNetwork = 30
const blockedMs = 60_000
const acceptedMs = 600_000
const maxEntries = 10_000

/** A set of keys that expire. A full set drops its oldest key. */
class ExpiringSet {
  readonly #until = new Map<string, number>()

  /** The milliseconds until the key expires, or 0. */
  getRemainingMs(key: string): number {
    return Math.max(0, (this.#until.get(key) ?? 0) - Date.now())
  }

  delete(key: string): void {
    this.#until.delete(key)
  }

  add(key: string, ttlMs: number): void {
    this.#until.delete(key)
    const [oldestKey] = this.#until.keys()
    if (this.#until.size >= maxEntries && oldestKey !== undefined) this.#until.delete(oldestKey)
    this.#until.set(key, Date.now() + ttlMs)
  }
}

/**
 * Networks that failed too often, and digests of recently valid credentials, in this isolate. Codes and links are counted
 * apart from access tokens, so that a forgotten script keeps nobody from signing in.
 */
const blockedNetworks = new ExpiringSet()
const acceptedCredentials = new ExpiringSet()

const createRefusal = (waitMs: number): AppError =>
  createRateLimitError(
    'Too many failed sign-ins from this address.',
    formatPolicy('sign-in', failuresPerNetwork),
    Math.ceil(waitMs / 1000),
  )

async function countFailure(c: AppContext, network: string): Promise<void> {
  const { success } = await c.env.SIGN_IN_RATE_LIMITER.limit({ key: network })
  if (success) return
  blockedNetworks.add(network, blockedMs)
  throw createRefusal(blockedMs)
}

/**
 * Limits failed sign-ins by network. A network that failed too often is refused for a minute without reading the database.
 * Credentials that were valid recently still work, so that an attacker or a forgotten script does not block other clients
 * of the same network.
 */
export async function limitFailedSignIns<Result>(c: AppContext, signIn: () => Promise<Result>): Promise<Result> {
  const credential = c.req.header('authorization')
  const network = readNetwork(c)
  if (credential === undefined || network === null || readLimit(c) === 0) return signIn()
  const digest = toHex(sha256OfShort(credential))
  const remainingMs = blockedNetworks.getRemainingMs(network)
  if (remainingMs > 0 && acceptedCredentials.getRemainingMs(digest) === 0) throw createRefusal(remainingMs)
  try {
    const result = await signIn()
    acceptedCredentials.add(digest, acceptedMs)
    return result
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_authenticated') throw error
    acceptedCredentials.delete(digest)
    await countFailure(c, network)
    throw error
  }
}

/** Limits failed attempts to get a session by network, so that nobody can try many codes of many requests. */
export const limitFailedSessions = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const network = readNetwork(c)
  if (network === null || readLimit(c) === 0) return next()
  const key = `session ${network}`
  const remainingMs = blockedNetworks.getRemainingMs(key)
  if (remainingMs > 0) throw createRefusal(remainingMs)
  await next()
  if (c.res.status === 401) await countFailure(c, key)
}
