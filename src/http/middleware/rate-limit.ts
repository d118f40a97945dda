import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../domain/errors.ts'
import { parseNetwork, parseNetworkPrefix } from '../../domain/network.ts'
import { readSetting } from '../../domain/settings/settings.ts'
import type { AppContext, AppEnv } from '../env.ts'

const windowSeconds = 60

/** All tokens of one member together have this multiple of the limit. It must match `limit` in wrangler.toml. */
const memberFactor = 2

/** Requests per minute from one network to links in messages. Proxies of mail providers open links for many people. */
const linksPerNetwork = 6000

const confirmationsPerLink = 20

/** RATE_LIMIT_PER_MINUTE, where 0 disables every limit. */
export const readLimit = (c: AppContext): number => readSetting(c.env, 'RATE_LIMIT_PER_MINUTE')

/** The client's network, or null if the platform does not provide an address. */
export const readNetwork = (c: AppContext): string | null => parseNetwork(c.req.header('cf-connecting-ip'))

/** The part of the client's address that is stored as evidence. It does not identify a person. */
export const readNetworkPrefix = (c: AppContext): string | null => parseNetworkPrefix(c.req.header('cf-connecting-ip'))

export const createRateLimitError = (what: string, policy: string, waitSeconds = windowSeconds): AppError =>
  new AppError('rate_limited', what, {
    headers: { 'retry-after': String(waitSeconds), 'ratelimit-policy': policy },
  })

export const formatPolicy = (name: string, limit: number): string => `"${name}";q=${limit};w=${windowSeconds}`

/**
 * Limits each token, and all tokens of a member together. Tokens that are bound to one organisation count apart from the
 * account's others, so that an organisation learns nothing about another. Cloudflare counts in each of its locations
 * separately, so the limits are not exact.
 */
export const rateLimit: MiddlewareHandler<AppEnv> = async (c, next) => {
  const { caller } = c.var.ctx
  const limit = readLimit(c)
  if (limit === 0) return next()
  const { id, organization_id } = caller.credential
  const policies = [formatPolicy('default', limit), formatPolicy('member', limit * memberFactor)].join(', ')
  const byToken = await c.env.RATE_LIMITER.limit({ key: id ?? caller.id })
  if (!byToken.success) throw createRateLimitError(`More than ${limit} requests per minute with this token.`, policies)
  const byMember = await c.env.MEMBER_RATE_LIMITER.limit({ key: `${caller.id} ${organization_id ?? ''}` })
  if (!byMember.success)
    throw createRateLimitError(
      `More than ${limit * memberFactor} requests per minute with all tokens of this member.`,
      policies,
    )
  await next()
  c.res.headers.set('ratelimit-policy', policies)
}

/** Limits public operations, by network. */
export const limitPublic: MiddlewareHandler<AppEnv> = async (c, next) => {
  const network = readNetwork(c)
  const limit = readLimit(c)
  if (limit === 0 || network === null) return next()
  const { success } = await c.env.RATE_LIMITER.limit({ key: `public ${network}` })
  const policy = formatPolicy('public', limit)
  if (!success) throw createRateLimitError(`More than ${limit} requests per minute from this network.`, policy)
  await next()
  c.res.headers.set('ratelimit-policy', policy)
}

/** Limits opening links in messages, by network. `limitConfirmations` limits the POST behind a link. */
export const limitLinks = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const network = readNetwork(c)
  if (readLimit(c) === 0 || network === null || c.req.method === 'POST') return next()
  const { success } = await c.env.LINK_RATE_LIMITER.limit({ key: network })
  if (!success)
    throw createRateLimitError(
      `More than ${linksPerNetwork} requests per minute from this network.`,
      formatPolicy('links', linksPerNetwork),
    )
  await next()
}

/** Limits the web service of wallet passes, by network: phones of one operator share few addresses. */
export const limitWallet = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const network = readNetwork(c)
  if (readLimit(c) === 0 || network === null) return next()
  const { success } = await c.env.LINK_RATE_LIMITER.limit({ key: `wallet ${network}` })
  if (!success)
    throw createRateLimitError(
      `More than ${linksPerNetwork} requests per minute from this network.`,
      formatPolicy('wallet', linksPerNetwork),
    )
  await next()
}

/** Limits messages to the MCP server, by network: agents of one provider share few addresses. Calls count by token too. */
export const limitMcp: MiddlewareHandler<AppEnv> = async (c, next) => {
  const network = readNetwork(c)
  if (readLimit(c) === 0 || network === null) return next()
  const { success } = await c.env.LINK_RATE_LIMITER.limit({ key: `mcp ${network}` })
  if (!success)
    throw createRateLimitError(
      `More than ${linksPerNetwork} requests per minute from this network.`,
      formatPolicy('mcp', linksPerNetwork),
    )
  await next()
}

/** Limits files that no cache has, by network: proxies of mail providers load images for many people. */
export async function limitFiles(c: AppContext): Promise<void> {
  const network = readNetwork(c)
  if (readLimit(c) === 0 || network === null) return
  const { success } = await c.env.LINK_RATE_LIMITER.limit({ key: `files ${network}` })
  if (!success)
    throw createRateLimitError(
      `More than ${linksPerNetwork} requests per minute from this network.`,
      formatPolicy('files', linksPerNetwork),
    )
}

/** Limits log entries from phones, by network, because anyone can send them. */
export async function limitPhoneLogs(c: AppContext): Promise<void> {
  const network = readNetwork(c)
  if (readLimit(c) === 0 || network === null) return
  const { success } = await c.env.CONFIRMATION_RATE_LIMITER.limit({ key: `wallet-log ${network}` })
  if (!success)
    throw createRateLimitError(
      `More than ${confirmationsPerLink} log entries per minute from this network.`,
      formatPolicy('wallet-log', confirmationsPerLink),
    )
}

/**
 * Limits confirmations by link and not by network: mail providers confirm for all their users from few addresses, and none
 * of them may be refused.
 */
export async function limitConfirmations(c: AppContext, token: string): Promise<void> {
  if (readLimit(c) === 0) return
  const { success } = await c.env.CONFIRMATION_RATE_LIMITER.limit({ key: token.slice(0, 200) })
  if (success) return
  throw createRateLimitError(
    `More than ${confirmationsPerLink} requests per minute with this link.`,
    formatPolicy('link', confirmationsPerLink),
  )
}

/** Limits sign-ups by network, before the database counts those of an hour. */
export async function limitSignups(c: AppContext): Promise<void> {
  const network = readNetwork(c)
  if (readLimit(c) === 0 || network === null) return
  const { success } = await c.env.CONFIRMATION_RATE_LIMITER.limit({ key: `signup ${network}` })
  if (success) return
  throw createRateLimitError(
    `More than ${confirmationsPerLink} requests per minute from this network.`,
    formatPolicy('signup', confirmationsPerLink),
  )
}
