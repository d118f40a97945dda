import { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import type { Representation } from '../../domain/audit.ts'
import { AppError, LostRace } from '../../domain/errors.ts'
import type { ReceivedFile } from '../../domain/files/files.ts'
import { buildAuditStatements } from './audit.ts'
import { type BodySource, type FileHandling, jsonSource, streamedSource } from '../requests/body-source.ts'
import type { AppContext } from '../env.ts'
import * as idempotency from './idempotency.ts'
import { restrictToRoles, checkPermissionOn, checkTarget, type Located } from './permission.ts'
import { changesOne, type Operation } from './operation.ts'
import { type HttpAnswer, answerError } from '../problem.ts'
import { parseQuery } from '../requests/query.ts'
import { type AnsweredFields, answeredBeside } from '../requests/unknown-fields.ts'
import { parseBody } from '../requests/validation.ts'
import { sha256, toBase64Url } from '../../domain/text/encoding.ts'

interface VerbInput<P, Q, B, Loaded> {
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
  /** The tenant to which a body writes: the role is checked there. */
  target?: (body: B) => { organization_id: string; edition_id?: string | null | undefined }
  handle: (ctx: Ctx, input: VerbInput<P, Q, B, Loaded>) => Promise<Result>
  file?: FileHandling<P, Loaded>
  /** Absent for operations without an answer. */
  present?: (result: Result, ctx: Ctx) => R
  /**
   * Adds short-lived values to the answer. They are not part of the ETag or the audit log, and are not cached.
   */
  sign?: (answer: R, result: Result, ctx: Ctx) => Promise<R>
  /** The representation whose ETag `If-Match` names, if it is not the answer. */
  represent?: (loaded: Loaded, ctx: Ctx) => unknown
  /** The address of the created resource. */
  location?: (body: R) => string
  /** Seconds that the caller's own cache may keep the answer; without it the cache revalidates every time. */
  maxAge?: number
}

export const jsonType = { 'content-type': 'application/json' }
export const unkept = 'private, no-store'

const maxTries = 5
const noFields = z.object({})

const tooManyRaces = (): AppError =>
  new AppError('write_conflict', 'Others keep changing this resource. Try again.', { headers: { 'retry-after': '1' } })

/** Makes the answers of one operation: judges, checks preconditions, keeps idempotent answers, presents. */
export class OperationRun<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  Loaded extends Located | undefined,
  Result,
> {
  readonly #operations: readonly Operation[]
  readonly #operation: Operation<P, Q, B, R>
  readonly #handling: Handling<z.output<P>, z.output<Q>, z.output<B>, z.input<R>, Loaded, Result>
  /** A change of a resource answers it, so the loaded row is presented like the answer. */
  readonly #current: ((loaded: Loaded, ctx: Ctx) => unknown) | undefined
  #answered: AnsweredFields | undefined

  constructor(
    operations: readonly Operation[],
    operation: Operation<P, Q, B, R>,
    handling: Handling<z.output<P>, z.output<Q>, z.output<B>, z.input<R>, Loaded, Result>,
  ) {
    const { represent, present } = handling
    this.#operations = operations
    this.#operation = operation
    this.#handling = handling
    this.#current =
      represent ?? (operation.status === 200 ? (loaded, ctx) => present?.(loaded as unknown as Result, ctx) : undefined)
  }

  async answer(c: AppContext, ctx: Ctx): Promise<HttpAnswer> {
    const { file } = this.#handling
    const source = file ? streamedSource(c, ctx, this.#operation, file) : jsonSource(c, this.#operation)
    const key = c.req.header('idempotency-key') ?? c.req.header('x-idempotency-key')
    if (key === undefined || this.#operation.scope === 'read')
      return source.settled(await this.#attempt(c, ctx, source.read))
    return this.#answerOnce(c, ctx, key, source)
  }

  /** Answers a key once: the answer commits with the last change, or is kept beside it when nothing was changed. */
  async #answerOnce(c: AppContext, ctx: Ctx, key: string, source: BodySource): Promise<HttpAnswer> {
    const { pathname, search } = new URL(c.req.url)
    const request = { method: c.req.method, path: pathname + search, body: await source.identity() }
    const opening = await idempotency.open(ctx, key, request)
    if ('replay' in opening) return opening.replay
    const identify = async () => {
      const digest = source.digest()
      if (digest !== null) opening.attempt.fingerprint = await idempotency.streamedFingerprint(request, digest)
    }
    // The last try counts: one that lost its race has stored nothing.
    let settled = false
    ctx.settle = async (result) => {
      settled = true
      await identify()
      return idempotency.settling(ctx, opening.attempt, await this.#succeed(ctx, result as Result))
    }
    const answer = await this.#attempt(c, ctx, source.read, () => {
      settled = false
    })
    await identify()
    if (!settled || answer.status >= 400) await idempotency.close(ctx, opening.attempt, answer, source.isKnown())
    return source.settled(answer)
  }

  /** Decides again after each lost race. */
  async #attempt(c: AppContext, ctx: Ctx, read: BodySource['read'], begin?: () => void): Promise<HttpAnswer> {
    for (let tries = 1; ; tries++) {
      begin?.()
      try {
        return await this.#succeed(ctx, await this.#decide(c, ctx, read))
      } catch (error) {
        if (!(error instanceof LostRace)) return answerError(c, error)
        if (tries === maxTries) return answerError(c, tooManyRaces())
      }
    }
  }

  async #decide(c: AppContext, ctx: Ctx, read: BodySource['read']): Promise<Result> {
    const { load, target, handle } = this.#handling
    const operation = this.#operation
    const params = operation.params.parse(c.req.param())
    const loaded = (await load?.(ctx, params)) as Loaded
    checkPermissionOn(ctx, operation, loaded)
    const now = loaded && this.#current ? () => this.#current?.(loaded, ctx) : undefined
    if (loaded && changesOne(operation))
      await checkPreconditions(c.req.raw.headers, now ? () => computeEtag(JSON.stringify(now())) : null)
    const query = parseQuery(c, operation.query)
    this.#answered ??= answeredBeside(this.#operations, operation)
    const { fields, received } = await read({ params, loaded })
    const given = operation.stream ? { ...(query as object), ...fields } : fields
    const body = parseBody(operation.body ?? noFields, given, {
      answered: this.#answered,
      current: operation.method === 'patch' ? now : undefined,
    }) as z.output<B>
    if (target) checkTarget(ctx, operation, target(body))
    // Only operations with a streamed body look for a file.
    const input = { params, query, body, loaded, received: received as ReceivedFile }
    const verbCtx = restrictToRoles(ctx, operation)
    return handle(operation.scope === 'read' ? verbCtx : this.#recording(verbCtx, loaded, body), input)
  }

  /** The context of a write, which records its audit entry and its answer in the same transaction. */
  #recording(ctx: Ctx, loaded: Loaded, body: z.output<B>): Ctx {
    const { represent, present, target } = this.#handling
    // An operation whose answer is not the resource has no state to compare.
    const isComparable = this.#operation.status !== 201 && loaded && !(represent && present)
    const settle: Ctx['settle'] = async (result, isChange) => {
      const answer = await ctx.settle(result, isChange)
      if (!isChange) return answer
      const write = {
        loaded,
        tenant: loaded?.tenant,
        target: target?.(body),
        before: isComparable ? ((this.#current?.(loaded, ctx) ?? null) as Representation | null) : null,
        after: (present?.(result as Result, ctx) ?? null) as Representation | null,
      }
      return [...buildAuditStatements(ctx, this.#operation, write), ...answer]
    }
    return { ...ctx, settle }
  }

  async #succeed(ctx: Ctx, result: Result): Promise<HttpAnswer> {
    const { present, sign, location, maxAge } = this.#handling
    const { status } = this.#operation
    if (!present) return { status, headers: {}, body: '' }
    const value = present(result, ctx)
    const signed = sign ? await sign(value, result, ctx) : value
    const headers = {
      ...jsonType,
      etag: await computeEtag(JSON.stringify(value)),
      ...(signed === value ? {} : { 'cache-control': unkept }),
      ...(location ? { location: ctx.config.publicUrl + location(value) } : {}),
      ...(maxAge ? { 'cache-control': `private, max-age=${maxAge}`, vary: 'authorization' } : {}),
    }
    return { status, headers, body: JSON.stringify(signed) }
  }
}

const computeEtag = async (body: string): Promise<string> => `"${toBase64Url((await sha256(body)).slice(0, 16))}"`

const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/** RFC 9110, 8.8.3.2: `W/"a"` and `"a"` are the same state. For `If-None-Match`. */
export const matchesWeakly = (header: string, etag: string): boolean =>
  header.trim() === '*' || tagsOf(header).some((tag) => tag.replace(/^W\//, '') === etag)

/** A weak tag does not guarantee equal bytes, so it never matches. For `If-Match`. */
const matchesStrongly = (header: string, etag: string): boolean =>
  header.trim() === '*' || tagsOf(header).includes(etag)

/** Whether an existing resource may be changed; `etag` computes the ETag of its state, if it has one. */
async function checkPreconditions(headers: Headers, etag: (() => Promise<string>) | null): Promise<void> {
  const [ifMatch, ifNoneMatch] = [headers.get('if-match'), headers.get('if-none-match')]
  if (ifNoneMatch?.trim() === '*') throw new AppError('precondition_failed', 'The resource exists.')
  if (!etag || (ifMatch === null && ifNoneMatch === null)) return
  const tag = await etag()
  if (ifMatch !== null && !matchesStrongly(ifMatch, tag))
    throw new AppError('precondition_failed', 'The resource has changed since that ETag.')
  if (ifNoneMatch !== null && matchesWeakly(ifNoneMatch, tag))
    throw new AppError('precondition_failed', 'The resource is still as that ETag says.')
}
