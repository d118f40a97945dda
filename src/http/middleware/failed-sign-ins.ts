import { sha256OfShort, toHex } from '../../domain/text/encoding.ts'
import { AppError } from '../../domain/errors.ts'
import type { AppContext } from '../env.ts'
import { clientNetwork, readLimit, formatPolicy, tooMany } from './rate-limit.ts'

/** The same as `limit` in wrangler.toml. */
const failuresPerNetwork = 30
const blockedMs = 60_000
const acceptedMs = 600_000
const maxEntries = 10_000

/** Entries that expire at a time each. The oldest entries go first when there are too many. */
class ExpiringSet {
  readonly #until = new Map<string, number>()

  /** The remaining milliseconds; 0 for an unknown entry. */
  left(key: string): number {
    return Math.max(0, (this.#until.get(key) ?? 0) - Date.now())
  }

  forget(key: string): void {
    this.#until.delete(key)
  }

  keep(key: string, forMs: number): void {
    this.#until.delete(key)
    const [oldest] = this.#until.keys()
    if (this.#until.size >= maxEntries && oldest !== undefined) this.#until.delete(oldest)
    this.#until.set(key, Date.now() + forMs)
  }
}

/** Networks that failed too often, and digests of credentials that were valid lately, in this isolate. */
const blocked = new ExpiringSet()
const accepted = new ExpiringSet()

const refusal = (waitMs: number): AppError =>
  tooMany(
    'Too many failed sign-ins from this address.',
    formatPolicy('sign-in', failuresPerNetwork),
    Math.ceil(waitMs / 1000),
  )

async function countFailure(c: AppContext, network: string): Promise<void> {
  const { success } = await c.env.SIGN_IN_RATE_LIMITER.limit({ key: network })
  if (success) return
  blocked.keep(network, blockedMs)
  throw refusal(blockedMs)
}

/**
 * Counts only failures, by network: good sign-ins have no limit here. A network that failed too often is refused for a
 * minute before the database is read. A credential that was valid lately in this isolate is checked all the same, so
 * that one who shares an address with an attacker, or with a forgotten script, is not blocked.
 */
export async function limitFailedSignIns<Result>(c: AppContext, signIn: () => Promise<Result>): Promise<Result> {
  const credential = c.req.header('authorization')
  const network = clientNetwork(c)
  if (credential === undefined || network === null || readLimit(c) === 0) return signIn()
  const digest = toHex(sha256OfShort(credential))
  const left = blocked.left(network)
  if (left > 0 && accepted.left(digest) === 0) throw refusal(left)
  try {
    const result = await signIn()
    accepted.keep(digest, acceptedMs)
    return result
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_authenticated') throw error
    accepted.forget(digest)
    await countFailure(c, network)
    throw error
  }
}
