import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import type { AppEnv } from '../env.ts'
import type { Operation } from './operation.ts'

export interface Router {
  hono: OpenAPIHono<AppEnv>
  operations: Operation[]
  /** Webhook requests of the service, by the name in their `path`. */
  webhooks: RouteConfig[]
}

/** The router of a slice. Clients may end a path with a slash. */
export const createRouter = (): Router => ({
  hono: new OpenAPIHono<AppEnv>({ strict: false }),
  operations: [],
  webhooks: [],
})
