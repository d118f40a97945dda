import { z } from '@hono/zod-openapi'
import type { Ctx } from '../context.ts'
import { AppError, LostRace } from '../domain/errors.ts'
import type { Presented } from '../domain/audit.ts'
import type { ReceivedFile } from '../domain/files/files.ts'
import type { Page, PageRequest } from '../domain/page.ts'
import { auditing } from './audit.ts'
import { type BodySource, type FileHandling, jsonSource, streamedSource } from './body-source.ts'
import type { AppContext } from './env.ts'
import * as idempotency from './idempotency.ts'
import { judge, judgeLoaded, judgeTarget, type Located } from './judge.ts'
import { logError } from './log.ts'
import { pageLinks, pageRequest } from './list-query.ts'
import { changesOne, type Operation } from './operation.ts'
import { checkPreconditions, etagOf, matchesWeakly } from './precondition.ts'
import type { Answer } from './problem.ts'
import { publicAddress } from './public-address.ts'
import { parseQuery } from './query.ts'
import { answerOf } from './refusal.ts'
import type { Router } from './router.ts'
import { streamOf } from './stream.ts'
import { type Answered, answeredBeside } from './unknown-fields.ts'
import { parseBody } from './validation.ts'

interface Input<P, Q, B, Loaded> {
  params: P
  query: Q
  body: B
  loaded: Loaded
  /** The file of a streamed body: its bytes are stored. */
  received: ReceivedFile
}

/**
 * How an operation is done: `load` finds what the path names (404 when the caller may not see it), then the role is
 * judged for its tenant, then the body is read, then `handle` decides and commits, then `present` gives the answer.
 */
export interface Handling<P, Q, B, R, Loaded extends Located | undefined, Result> {
  load?: (ctx: Ctx, params: P) => Promise<Loaded>
  /** Where a body asks to write: the role is judged there. */
  target?: (body: B) => { organization_id: string; edition_id?: string | null | undefined }
  handle: (ctx: Ctx, input: Input<P, Q, B, Loaded>) => Promise<Result>
  file?: FileHandling<P, Loaded>
  /** Left out by operations that answer nothing. */
  present?: (result: Result, ctx: Ctx) => R
  /** Puts into the answer what works for a short time: neither the ETag nor the audit log knows it, and no cache keeps it. */
  sign?: (answer: R, result: Result, ctx: Ctx) => Promise<R>
  /** The representation that `If-Match` speaks of, where it is not the answer. */
  represent?: (loaded: Loaded, ctx: Ctx) => unknown
  /** Address of what was created. */
  location?: (body: R) => string
  /** Seconds that the caller's own cache may keep the answer; without it the cache asks again every time. */
  maxAge?: number
}

const maxTries = 5

const noFields = z.object({})
const jsonType = { 'content-type': 'application/json' }
const unkept = 'private, no-store'

export function mount<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  Result,
  Loaded extends Located | undefined = undefined,
>(
  router: Router,
  operation: Operation<P, Q, B, R>,
  handling: Handling<z.output<P>, z.output<Q>, z.output<B>, z.input<R>, Loaded, Result>,
): void {
  const { load, target, handle, present, sign, represent, location, maxAge } = handling

  async function succeed(ctx: Ctx, result: Result): Promise<Answer> {
    if (!present) return { status: operation.status, headers: {}, body: '' }
    const value = present(result, ctx)
    const signed = sign ? await sign(value, result, ctx) : value
    const headers = {
      ...jsonType,
      etag: await etagOf(JSON.stringify(value)),
      ...(signed === value ? {} : { 'cache-control': unkept }),
      ...(location ? { location: ctx.config.publicUrl + location(value) } : {}),
      ...(maxAge ? { 'cache-control': `private, max-age=${maxAge}`, vary: 'authorization' } : {}),
    }
    return { status: operation.status, headers, body: JSON.stringify(signed) }
  }

  // What changes an existing resource answers with it, so the loaded row presents as the answer does.
  const current =
    represent ??
    (operation.status === 200 ? (loaded: Loaded, ctx: Ctx) => present?.(loaded as unknown as Result, ctx) : undefined)

  let answered: Answered | undefined

  async function decide(c: AppContext, ctx: Ctx, read: BodySource['read']): Promise<Result> {
    const params = operation.params.parse(c.req.param())
    const loaded = (await load?.(ctx, params)) as Loaded
    judgeLoaded(ctx, operation, loaded)
    const now = loaded && current ? () => current(loaded, ctx) : undefined
    if (loaded && changesOne(operation))
      await checkPreconditions(c.req.raw.headers, now ? () => etagOf(JSON.stringify(now())) : null)
    const query = parseQuery(c, operation.query)
    answered ??= answeredBeside(router.operations, operation)
    const { fields, received } = await read({ params, loaded })
    const given = operation.stream ? { ...(query as object), ...fields } : fields
    const body = parseBody(operation.body ?? noFields, given, {
      answered,
      current: operation.method === 'patch' ? now : undefined,
    })
    if (target) judgeTarget(ctx, operation, target(body as z.output<B>))
    // Only operations with a streamed body look for a file.
    const input = { params, query, body: body as z.output<B>, loaded, received: received as ReceivedFile }
    return handle(operation.scope === 'read' ? ctx : recording(ctx, input), input)
  }

  /** The context of a write: what commits with it is recorded in the same transaction. */
  function recording(ctx: Ctx, { loaded, body }: { loaded: Loaded; body: z.output<B> }): Ctx {
    // An operation that answers something else than the resource gives nothing to compare the resource with.
    const isComparable = operation.status !== 201 && loaded && !(represent && present)
    const settle: Ctx['settle'] = async (result, isChange) => {
      const answer = await ctx.settle(result, isChange)
      if (!isChange) return answer
      const write = {
        loaded,
        tenant: loaded?.tenant,
        target: target?.(body),
        before: isComparable ? ((current?.(loaded, ctx) ?? null) as Presented | null) : null,
        after: (present?.(result as Result, ctx) ?? null) as Presented | null,
      }
      return [...auditing(ctx, operation, write), ...answer]
    }
    return { ...ctx, settle }
  }

  async function attempt(c: AppContext, ctx: Ctx, read: BodySource['read'], begin?: () => void): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      begin?.()
      try {
        return await succeed(ctx, await decide(c, ctx, read))
      } catch (error) {
        if (!(error instanceof LostRace)) return answerOf(c, error)
        if (tries === maxTries)
          return answerOf(
            c,
            new AppError('write_conflict', 'Others keep changing this resource. Try again.', {
              headers: { 'retry-after': '1' },
            }),
          )
      }
    }
  }

  register(router, operation, async (c, ctx) => {
    const source = handling.file ? streamedSource(c, ctx, operation, handling.file) : jsonSource(c, operation)
    const { read } = source
    const rawKey = c.req.header('idempotency-key') ?? c.req.header('x-idempotency-key')
    if (rawKey === undefined || operation.scope === 'read') return source.settled(await attempt(c, ctx, read))
    const { pathname, search } = new URL(c.req.url)
    const request = { method: c.req.method, path: pathname + search, body: await source.identity() }
    const opening = await idempotency.open(ctx, rawKey, request)
    if ('replay' in opening) return opening.replay
    const identify = async () => {
      const digest = source.digest()
      if (digest !== null) opening.attempt.fingerprint = await idempotency.streamedFingerprint(request, digest)
    }
    // Of the last try: one that lost its race has stored nothing.
    let settled = false
    ctx.settle = async (result) => {
      settled = true
      await identify()
      return idempotency.settling(ctx, opening.attempt, await succeed(ctx, result as Result))
    }
    const answer = await attempt(c, ctx, read, () => {
      settled = false
    })
    await identify()
    if (!settled || answer.status >= 400) await idempotency.close(ctx, opening.attempt, answer, source.isKnown())
    return source.settled(answer)
  })
}

/** A list: `list` answers one page of rows, `present` one item. */
export function mountList<
  Q extends z.ZodType,
  R extends z.ZodType,
  P extends z.ZodType,
  Row,
  Loaded extends Located | undefined = undefined,
>(
  router: Router,
  operation: Operation<P, Q, z.ZodNever, R>,
  handling: {
    load?: (ctx: Ctx, params: z.output<P>) => Promise<Loaded>
    list: (ctx: Ctx, input: { query: z.output<Q>; page: PageRequest; loaded: Loaded }) => Promise<Page<Row>>
    present: (row: Row, ctx: Ctx) => unknown
    /** What the answer has beside its rows. */
    beside?: (ctx: Ctx, loaded: Loaded) => Promise<object>
  },
): void {
  register(router, operation, async (c, ctx) => {
    const loaded = (await handling.load?.(ctx, operation.params.parse(c.req.param()))) as Loaded
    judgeLoaded(ctx, operation, loaded)
    const url = publicAddress(ctx.config.publicUrl, c.req.url)
    const query = parseQuery(c, operation.query)
    const asked = pageRequest(query as { page: number }, url)
    const page = await handling.list(ctx, { query, page: asked, loaded })
    const { next, previous } = pageLinks(page, url)
    const results = await Promise.all(page.rows.map((row) => handling.present(row, ctx)))
    const links = [next && `<${next}>; rel="next"`, previous && `<${previous}>; rel="prev"`].filter(
      (link) => link !== null,
    )
    const beside = await handling.beside?.(ctx, loaded)
    const body = JSON.stringify({ count: page.count, next, previous, results, ...beside })
    return { status: 200, headers: links.length ? { ...jsonType, link: links.join(', ') } : jsonType, body }
  })
}

/** A file before it is made. */
export interface FileHandle {
  /** Null for what is not kept as a file. */
  name: string | null
  open: () => Promise<AsyncIterator<string | Uint8Array, unknown>>
  headers?: Readonly<Record<string, string>>
}

/**
 * A file that is made while it goes out. `handle` may refuse; `open` does what a download does, so that asking for the
 * headers alone (HEAD) does not.
 */
export function mountFile<P extends z.ZodType, Q extends z.ZodType, Loaded extends Located>(
  router: Router,
  operation: Operation<P, Q>,
  handling: {
    load: (ctx: Ctx, params: z.output<P>) => Promise<Loaded>
    handle: (ctx: Ctx, input: { query: z.output<Q>; loaded: Loaded }) => FileHandle | Promise<FileHandle>
  },
): void {
  register(router, operation, async (c, ctx) => {
    const loaded = await handling.load(ctx, operation.params.parse(c.req.param()))
    judgeLoaded(ctx, operation, loaded)
    // The download is recorded under the resource that the path names.
    const settle: Ctx['settle'] = async (asked) => {
      const write = { loaded, tenant: loaded.tenant, target: undefined, before: null, after: asked as Presented | null }
      return auditing(ctx, operation, write)
    }
    const {
      name,
      open,
      headers: own,
    } = await handling.handle({ ...ctx, settle }, { query: parseQuery(c, operation.query), loaded })
    const headers = {
      'content-type': `${operation.file?.type ?? 'application/octet-stream'}; charset=utf-8`,
      ...(name === null ? {} : { 'content-disposition': `attachment; filename="${name}"` }),
      ...own,
    }
    if (c.req.method === 'HEAD') return { status: 200, headers, body: '' }
    return { status: 200, headers, body: streamOf(await open(), (error) => logError(ctx.requestId, error)) }
  })
}

type AnyAnswer = Omit<Answer, 'body'> & { body: string | ReadableStream<Uint8Array> }

function register(router: Router, operation: Operation, run: (c: AppContext, ctx: Ctx) => Promise<AnyAnswer>): void {
  router.operations.push(operation)
  router.hono.openAPIRegistry.registerPath(operation.route)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
  router.hono.on(operation.method.toUpperCase(), path, async (c) => {
    const { ctx } = c.var
    c.set('operationId', operation.id)
    let answer: AnyAnswer
    try {
      judge(ctx, operation)
      answer = await run(c, ctx)
    } catch (error) {
      answer = answerOf(c, error)
    }
    return respond(c, answer)
  })
}

function respond(c: AppContext, answer: AnyAnswer): Response {
  const { bookmark } = c.var.ctx.db
  const headers = new Headers(answer.headers)
  // A proxy that compresses an answer weakens its ETag, which If-Match would not take back.
  if (!headers.has('cache-control'))
    headers.set('cache-control', headers.has('etag') ? 'private, no-cache, no-transform' : unkept)
  if (bookmark) headers.set('x-d1-bookmark', bookmark)
  const etag = headers.get('etag')
  const isKept = (c.req.method === 'GET' || c.req.method === 'HEAD') && headers.get('cache-control') !== unkept
  const known = isKept ? c.req.header('if-none-match') : undefined
  if (etag && known !== undefined && matchesWeakly(known, etag)) return new Response(null, { status: 304, headers })
  return new Response(answer.status === 204 ? null : answer.body, { status: answer.status, headers })
}
