import { type z, OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import { accepts } from 'hono/accepts'
import type { Ctx } from '../../context.ts'
import type { Representation } from '../../domain/audit.ts'
import type { Page, PageRequest } from '../../domain/page.ts'
import { utf8 } from '../../domain/text/encoding.ts'
import type { AppContext, AppEnv } from '../env.ts'
import { logError } from '../log.ts'
import { type HttpResponse, buildPublicUrl, buildErrorResponse } from '../problem.ts'
import {
  buildPageLinks,
  type ListRequest,
  listRequestedOrganizations,
  pickListRequest,
  readPageRequest,
} from '../requests/list-query.ts'
import { parseQuery } from '../requests/query.ts'
import type { AuditedWrite } from './audit.ts'
import { explainForeignId } from './foreign-ids.ts'
import { type Handling, jsonType, OperationRun, noStore, matchesWeakly } from './operation-run.ts'
import type { Operation } from './operation.ts'
import { restrictToRoles, checkPermission, checkPermissionOn, type Located } from './permission.ts'
import { addWriteRecord } from './write-record.ts'

/** Mounts an operation that returns one resource or nothing. */
export function mount<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  Result,
  Resource extends Located | undefined = undefined,
>(
  router: Router,
  operation: Operation<P, Q, B, R>,
  handling: Handling<z.output<P>, z.output<Q>, z.output<B>, z.input<R>, Resource, Result>,
): void {
  const run = new OperationRun(router.operations, operation, handling)
  register(router, operation, (c, ctx) => run.respond(c, ctx))
}

/** Mounts a list. `list` loads one page of rows, and `present` turns a row into an item. */
export function mountList<
  Q extends z.ZodType,
  R extends z.ZodType,
  P extends z.ZodType,
  Row,
  Resource extends Located | undefined = undefined,
>(
  router: Router,
  operation: Operation<P, Q, z.ZodNever, R>,
  handling: {
    load?: (ctx: Ctx, params: z.output<P>) => Promise<Resource>
    list: (ctx: Ctx, page: PageRequest, query: ListRequest<Q>, resource: Resource) => Promise<Page<Row>>
    present: (row: Row, ctx: Ctx) => unknown
    /** Adds fields next to `results`. */
    extend?: (ctx: Ctx, resource: Resource) => Promise<object>
  },
): void {
  register(router, operation, async (c, ctx) => {
    const resource = (await handling.load?.(ctx, operation.params.parse(c.req.param()))) as Resource
    checkPermissionOn(ctx, operation, resource)
    const url = buildPublicUrl(ctx.config.publicUrl, c.req.url)
    const query = parseQuery(c, operation.query)
    const requestedList = {
      url,
      organizationIds: listRequestedOrganizations(ctx.caller),
      query: query as { page: number },
    }
    const page = await handling.list(
      restrictToRoles(ctx, operation),
      readPageRequest(requestedList),
      pickListRequest<Q>(query),
      resource,
    )
    const { next, previous } = buildPageLinks(page, requestedList)
    const results = await Promise.all(page.rows.map((row) => handling.present(row, ctx)))
    const links = [next && `<${next}>; rel="next"`, previous && `<${previous}>; rel="prev"`].filter(
      (link) => link !== null,
    )
    const extraFields = await handling.extend?.(restrictToRoles(ctx, operation), resource)
    const body = JSON.stringify({ count: page.count, next, previous, results, ...extraFields })
    return { status: 200, headers: links.length ? { ...jsonType, link: links.join(', ') } : jsonType, body }
  })
}

/** A file that is generated when it is opened. */
export interface FileHandle {
  /** Null: the response has no file name. */
  name: string | null
  open: () => Promise<AsyncIterator<string | Uint8Array, unknown>>
  headers?: Readonly<Record<string, string>>
}

/** True if the client is a browser, which asks for a page first. */
const acceptsPage = (c: AppContext): boolean =>
  accepts(c, { header: 'Accept', supports: ['application/json', 'text/html'], default: 'application/json' }) ===
  'text/html'

/**
 * Mounts an operation that streams a file. `handle` can refuse the request. `open` does what only a download does, so HEAD
 * does not call it.
 */
export function mountFile<P extends z.ZodType, Q extends z.ZodType, Resource extends Located>(
  router: Router,
  operation: Operation<P, Q>,
  handling: {
    load: (ctx: Ctx, params: z.output<P>, query: z.output<Q>) => Promise<Resource>
    handle: (
      ctx: Ctx,
      input: {
        query: z.output<Q>
        resource: Resource
        acceptsPage: boolean
        header: (name: string) => string | undefined
      },
    ) => FileHandle | Promise<FileHandle>
  },
): void {
  register(router, operation, async (c, ctx) => {
    const query = parseQuery(c, operation.query)
    const resource = await handling.load(ctx, operation.params.parse(c.req.param()), query)
    checkPermissionOn(ctx, operation, resource)
    // The audit entry of the download belongs to the resource in the path.
    const describeWrite = (after: Representation | null): AuditedWrite => ({
      resource,
      tenant: resource.tenant,
      target: undefined,
      before: null,
      after,
    })
    const {
      name,
      open,
      headers: fileHeaders,
    } = await handling.handle(addWriteRecord(restrictToRoles(ctx, operation), operation, { describeWrite }), {
      query,
      resource,
      acceptsPage: acceptsPage(c),
      header: (headerName) => c.req.header(headerName),
    })
    const headers = {
      'content-type': `${operation.file?.type ?? 'application/octet-stream'}; charset=utf-8`,
      ...(name === null ? {} : { 'content-disposition': `attachment; filename="${name}"` }),
      ...fileHeaders,
    }
    if (c.req.method === 'HEAD') return { status: 200, headers, body: '' }
    return { status: 200, headers, body: streamChunks(await open(), (error) => logError(ctx.requestId, error)) }
  })
}

type StreamableResponse = Omit<HttpResponse, 'body'> & { body: string | ReadableStream<Uint8Array> }

function register(
  router: Router,
  operation: Operation,
  run: (c: AppContext, ctx: Ctx) => Promise<StreamableResponse>,
): void {
  router.operations.push(operation)
  router.hono.openAPIRegistry.registerPath(operation.route)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
  router.hono.on(operation.method.toUpperCase(), path, async (c) => {
    const { ctx } = c.var
    c.set('operationId', operation.id)
    let response: StreamableResponse
    try {
      checkPermission(ctx, operation)
      response = await run(c, ctx)
    } catch (error) {
      response = buildErrorResponse(c, explainForeignId(error, operation, c.req.param('id')))
    }
    return respond(c, operation, response)
  })
}

/** Responses of public operations have no bookmark, because it would tell how much a request has stored. */
function respond(c: AppContext, { isPublic }: Operation, response: StreamableResponse): Response {
  const bookmark = isPublic ? null : c.var.ctx.db.bookmark
  const headers = new Headers(response.headers)
  // A proxy that compresses the response would weaken its ETag, and If-Match refuses weak tags.
  if (!headers.has('cache-control'))
    headers.set('cache-control', headers.has('etag') ? 'private, no-cache, no-transform' : noStore)
  if (bookmark) headers.set('x-d1-bookmark', bookmark)
  const etag = headers.get('etag')
  const isCacheable = (c.req.method === 'GET' || c.req.method === 'HEAD') && headers.get('cache-control') !== noStore
  const ifNoneMatch = isCacheable ? c.req.header('if-none-match') : undefined
  if (etag && ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag))
    return new Response(null, { status: 304, headers })
  return new Response(response.status === 204 ? null : response.body, { status: response.status, headers })
}

export interface Router {
  hono: OpenAPIHono<AppEnv>
  operations: Operation[]
  /** Webhook requests that the service sends. Their `path` is the name of the event. */
  webhooks: RouteConfig[]
}

/** Creates the router of a slice. It also accepts paths that end in a slash. */
export const createRouter = (): Router => ({
  hono: new OpenAPIHono<AppEnv>({ strict: false }),
  operations: [],
  webhooks: [],
})

/**
 * A body that is generated while it is sent. The next chunk is generated only after the one before was sent, so memory stays
 * constant. If generating fails, `onError` gets the error and the body breaks off.
 */
export const streamChunks = (
  chunks: AsyncIterator<string | Uint8Array, unknown>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> => {
  let isCancelled = false
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next()
          if (isCancelled) return
          if (done) controller.close()
          else controller.enqueue(typeof value === 'string' ? utf8(value) : value)
        } catch (error) {
          onError(error)
          controller.error(error)
        }
      },
      async cancel() {
        isCancelled = true
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
