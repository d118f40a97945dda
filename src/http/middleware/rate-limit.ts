import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../domain/errors.ts'
import { parseNetwork, parseNetworkPrefix } from '../../domain/network.ts'
import type { AppContext, AppEnv } from '../env.ts'

const windowSeconds = 60

/** The factor of the limit for all tokens of one member. The same as `limit` in wrangler.toml. */
const tokensOfMember = 2

/** Requests a minute to the links of messages from one network. Proxies of mail providers open links for very many people. */
const linksPerNetwork = 6000

const confirmationsPerLink = 20

/** The value of RATE_LIMIT_PER_MINUTE; 0 disables every limit. */
export const readLimit = (c: AppContext): number => Number(c.env.RATE_LIMIT_PER_MINUTE) || 0

/** The client's address; null when the platform does not provide it. */
export const clientNetwork = (c: AppContext): string | null => parseNetwork(c.req.header('cf-connecting-ip'))

/** The part of the client's address that evidence contains. It does not identify a person. */
export const clientPrefix = (c: AppContext): string | null => parseNetworkPrefix(c.req.header('cf-connecting-ip'))

export const tooMany = (what: string, policy: string, waitSeconds = windowSeconds): AppError =>
  new AppError('rate_limited', what, {
    headers: { 'retry-after': String(waitSeconds), 'ratelimit-policy': policy },
  })

export const formatPolicy = (name: string, limit: number): string => `"${name}";q=${limit};w=${windowSeconds}`

/**
 * Counts by token, and all tokens of a member together: those of an account, and those of its that are bound to one
 * organisation, so that no organisation learns what goes on in another. The platform counts for each of its locations,
 * so the limits are a guard and no account.
 */
export const rateLimit = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const { caller } = c.var.ctx
  const limit = readLimit(c)
  if (limit === 0) return next()
  const { id, organization_id } = caller.credential
  const policies = [formatPolicy('default', limit), formatPolicy('member', limit * tokensOfMember)].join(', ')
  const byToken = await c.env.RATE_LIMITER.limit({ key: id ?? caller.id })
  if (!byToken.success) throw tooMany(`More than ${limit} requests a minute.`, policies)
  const byMember = await c.env.MEMBER_RATE_LIMITER.limit({ key: `${caller.id} ${organization_id ?? ''}` })
  if (!byMember.success)
    throw tooMany(`More than ${limit * tokensOfMember} requests a minute by all tokens of a member.`, policies)
  await next()
  c.res.headers.set('ratelimit-policy', policies)
}

/** Reading the links of messages is limited by network. Confirming has `limitConfirmations` alone. */
export const limitLinks = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const network = clientNetwork(c)
  if (readLimit(c) === 0 || network === null || c.req.method === 'POST') return next()
  const { success } = await c.env.LINK_RATE_LIMITER.limit({ key: network })
  if (!success) throw tooMany(`More than ${linksPerNetwork} requests a minute.`, formatPolicy('links', linksPerNetwork))
  await next()
}

/** The web service of passes, by network: phones of one mobile operator share few addresses. */
export const limitWallet = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const network = clientNetwork(c)
  if (readLimit(c) === 0 || network === null) return next()
  const { success } = await c.env.LINK_RATE_LIMITER.limit({ key: `wallet ${network}` })
  if (!success)
    throw tooMany(`More than ${linksPerNetwork} requests a minute.`, formatPolicy('wallet', linksPerNetwork))
  await next()
}

/** Files that no cache has, by network: proxies of mail providers open the images of very many people. */
export async function limitFiles(c: AppContext): Promise<void> {
  const network = clientNetwork(c)
  if (readLimit(c) === 0 || network === null) return
  const { success } = await c.env.LINK_RATE_LIMITER.limit({ key: `files ${network}` })
  if (!success) throw tooMany(`More than ${linksPerNetwork} requests a minute.`, formatPolicy('files', linksPerNetwork))
}

/** Log entries of phones, limited by network, because anyone can write there. */
export async function limitPhoneLogs(c: AppContext): Promise<void> {
  const network = clientNetwork(c)
  if (readLimit(c) === 0 || network === null) return
  const { success } = await c.env.CONFIRMATION_RATE_LIMITER.limit({ key: `wallet-log ${network}` })
  if (!success)
    throw tooMany(`More than ${confirmationsPerLink} logs a minute.`, formatPolicy('wallet-log', confirmationsPerLink))
}

/**
 * One link to unsubscribe works so many times a minute, wherever the requests come from: mail providers confirm for all
 * their people from few addresses, and none of these may be refused.
 */
export async function limitConfirmations(c: AppContext, token: string): Promise<void> {
  if (readLimit(c) === 0) return
  const { success } = await c.env.CONFIRMATION_RATE_LIMITER.limit({ key: token.slice(0, 200) })
  if (success) return
  throw tooMany(
    `More than ${confirmationsPerLink} requests a minute with one link.`,
    formatPolicy('link', confirmationsPerLink),
  )
}
