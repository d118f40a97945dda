import { Hono } from 'hono'
import { AppError } from '../../domain/errors.ts'
import type { AppContext, AppEnv } from '../env.ts'
import { isAllowedOrigin } from '../middleware/cors.ts'
import { limitMcp } from '../middleware/rate-limit.ts'
import { parseJsonValue, readBody } from '../requests/body.ts'
import {
  batchVersion,
  createInvalidRequest,
  createParseError,
  protocolVersions,
  reply,
  type RpcReply,
} from './messages.ts'
import { type McpService, Tools } from './tools.ts'

const maxBatch = 10

/** Refuses pages of other sites, which could otherwise reach a service on this machine or in a private network. */
function checkOrigin(c: AppContext): void {
  const origin = c.req.header('origin')
  if (origin === undefined || isAllowedOrigin(c.env, origin)) return
  const { PUBLIC_URL = '' } = c.env
  if (URL.canParse(PUBLIC_URL) && new URL(PUBLIC_URL).origin === origin) return
  throw new AppError('permission_denied', 'Pages of this origin cannot call the service. The operator can allow it.')
}

const send = (c: AppContext, body: RpcReply | RpcReply[], status: 200 | 400 = 200): Response => c.json(body, status)

async function readMessage(c: AppContext): Promise<{ message: unknown } | { failure: RpcReply }> {
  const bytes = await readBody(c)
  try {
    return { message: parseJsonValue(bytes, c.req.raw.headers) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'malformed_body') return { failure: createParseError(error.message) }
    if (error.code === 'validation_error') return { failure: createInvalidRequest(error.message) }
    throw error
  }
}

async function replyToBatch(c: AppContext, tools: Tools, messages: readonly unknown[]): Promise<Response> {
  if (messages.length === 0 || messages.length > maxBatch)
    return send(c, createInvalidRequest(`A batch has 1 to ${maxBatch} messages.`), 400)
  const replies: RpcReply[] = []
  // One after the other, because a call can depend on the one before it.
  for (const message of messages) {
    const rpcReply = await reply(c, tools, message)
    if (rpcReply) replies.push(rpcReply)
  }
  return replies.length ? send(c, replies) : c.body(null, 202)
}

/** Serves the Model Context Protocol at `POST /mcp`, without sessions: each request stands alone. */
export function buildMcpRoutes(service: McpService): Hono<AppEnv> {
  const tools = new Tools(service)
  const routes = new Hono<AppEnv>({ strict: false })
  routes.post('/mcp', limitMcp, async (c) => {
    c.set('operationId', 'mcp')
    c.header('cache-control', 'no-store')
    checkOrigin(c)
    const version = c.req.header('mcp-protocol-version')
    if (version !== undefined && !(protocolVersions as readonly string[]).includes(version))
      return send(c, createInvalidRequest(`The service supports the versions ${protocolVersions.join(', ')}.`), 400)
    const read = await readMessage(c)
    if ('failure' in read) return send(c, read.failure, 400)
    const { message } = read
    if (Array.isArray(message)) {
      if (version === undefined || version === batchVersion) return replyToBatch(c, tools, message)
      return send(c, createInvalidRequest('This version of the protocol has no batches.'), 400)
    }
    const rpcReply = await reply(c, tools, message)
    if (rpcReply === null) return c.body(null, 202)
    return send(c, rpcReply, rpcReply.error && rpcReply.id === null ? 400 : 200)
  })
  return routes
}
