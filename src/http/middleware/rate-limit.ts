import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../domain/errors.ts'
import type { AppEnv } from '../env.ts'

const windowSeconds = 60

/** Counts by token. The platform counts for each of its locations, so the limit is a guard and no account. */
export const rateLimit = (): MiddlewareHandler<AppEnv> => async (c, next) => {
  const { caller, config } = c.var.ctx
  const limit = config.rateLimitPerMinute
  if (limit === 0) return next()
  const { success } = await c.env.RATE_LIMITER.limit({ key: caller.credential.id ?? caller.id })
  const policy = `"default";q=${limit};w=${windowSeconds}`
  if (!success)
    throw new AppError('rate_limited', `More than ${limit} requests a minute.`, {
      headers: { 'retry-after': String(windowSeconds), 'ratelimit-policy': policy },
    })
  await next()
  c.header('ratelimit-policy', policy)
}
