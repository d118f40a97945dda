import { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import type { Representation } from '../../domain/audit.ts'
import { AppError, LostRace } from '../../domain/errors.ts'
import type { ReceivedFile } from '../../domain/files/files.ts'
import { sha256, toBase64Url } from '../../domain/text/encoding.ts'
import type { AppContext } from '../env.ts'
import { type HttpResponse, buildErrorResponse } from '../problem.ts'
import { type BodySource, type FileHandling, createJsonSource, createStreamedSource } from '../requests/body-source.ts'
import { parseQuery } from '../requests/query.ts'
import { type IgnoredFields, findIgnoredFields } from '../requests/unknown-fields.ts'
import { parseBody } from '../requests/validation.ts'
import type { AuditedWrite } from './audit.ts'
import { explainForeignId } from './foreign-ids.ts'
import * as idempotency from './idempotency.ts'
import { changesOne, type Operation } from './operation.ts'
import { restrictToRoles, checkPermissionOn, checkTarget, type Located } from './permission.ts'
import { addWriteRecord, type StoreResponse } from './write-record.ts'

interface VerbInput<P, Q, B, Resource> {
  params: P
  query: Q
  body: B
  resource: Resource
  /** The file of a streamed body. Its bytes are stored already. */
  file: ReceivedFile
  /** Reads a header of the request. */
  header: (name: string) => string | undefined
}

/**
 * The steps of an operation. `load` finds the resource in the path, or throws 404 if the caller may not see it. Then the
 * caller's role is checked, the body is read, `handle` decides and commits, and `present` builds the response.
 */
export interface Handling<P, Q, B, R, Resource extends Located | undefined, Result> {
  load?: (ctx: Ctx, params: P) => Promise<Resource>
  /** The tenant to which the body writes. The caller's role is checked there. */
  target?: (body: B) => { organization_id: string; edition_id?: string | null | undefined }
  handle: (ctx: Ctx, input: VerbInput<P, Q, B, Resource>) => Promise<Result>
  file?: FileHandling<P, Resource>
  /** The error that the operation answers after its commit, if it answers one. */
  refuse?: (result: Result, ctx: Ctx) => AppError | null
  /** Absent for operations without a response body. */
  present?: (result: Result, ctx: Ctx) => R
  /** Adds short-lived values to the response. They are not part of the ETag or the audit log, and are not cached. */
  sign?: (response: R, result: Result, ctx: Ctx) => Promise<R>
  /** The representation whose ETag `If-Match` names, if the operation returns another one. */
  represent?: (resource: Resource, ctx: Ctx) => unknown
  /**
   * The stored values that the audit log compares, if the caller may see other ones.
   */
  audit?: (result: Result) => { before: Representation; after: Representation }
  /** The path of the created resource. */
  location?: (body: R) => string
  /** The seconds for which the caller's own cache may keep the response. Without them, the cache revalidates every time. */
  maxAge?: number
}

export const jsonType = { 'content-type': 'application/json' }
export const noStore = 'private, no-store'

const maxTries = 5
const EmptyBody = z.object({})

const createConflict = (): AppError =>
  new AppError('write_conflict', 'Other requests keep changing this resource. Try again.', {
    headers: { 'retry-after': '1' },
  })

/** Runs one operation: checks the caller and preconditions, runs the handler, and stores idempotent responses. */
export class OperationRun<
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  R extends z.ZodType,
  Resource extends Located | undefined,
  Result,
> {
  readonly #operations: readonly Operation[]
  readonly #operation: Operation<P, Q, B, R>
  readonly #handling: Handling<z.output<P>, z.output<Q>, z.output<B>, z.input<R>, Resource, Result>
  /** Presents the resource in the path. A change returns the resource, so its `present` does this too. */
  readonly #presentCurrent: ((resource: Resource, ctx: Ctx) => unknown) | undefined
  #ignoredFields: IgnoredFields | undefined

  constructor(
    operations: readonly Operation[],
    operation: Operation<P, Q, B, R>,
    handling: Handling<z.output<P>, z.output<Q>, z.output<B>, z.input<R>, Resource, Result>,
  ) {
    const { represent, present } = handling
    this.#operations = operations
    this.#operation = operation
    this.#handling = handling
    this.#presentCurrent =
      represent ??
      (operation.status === 200 ? (resource, ctx) => present?.(resource as unknown as Result, ctx) : undefined)
  }

  async respond(c: AppContext, ctx: Ctx): Promise<HttpResponse> {
    const { file } = this.#handling
    const source = file ? createStreamedSource(c, ctx, this.#operation, file) : createJsonSource(c, this.#operation)
    const key = c.req.header('idempotency-key') ?? c.req.header('x-idempotency-key')
    if (key === undefined || this.#operation.scope === 'read' || this.#operation.isPublic)
      return source.finish(await this.#respondWithRetries(c, ctx, source.read))
    return this.#respondOnce(c, ctx, key, source)
  }

  /** Runs a request with an Idempotency-Key at most once. Its response is stored in the transaction that changes something. */
  async #respondOnce(c: AppContext, ctx: Ctx, key: string, source: BodySource): Promise<HttpResponse> {
    const { pathname, search } = new URL(c.req.url)
    const request = { method: c.req.method, path: pathname + search, body: await source.identify() }
    const start = await idempotency.beginAttempt(ctx, key, request)
    if ('replay' in start) return start.replay
    const keyedCtx = { ...ctx, resumeKey: start.attempt.resumeKey }
    const addFingerprint = async () => {
      const digest = source.digest()
      if (digest !== null) start.attempt.fingerprint = await idempotency.computeStreamFingerprint(request, digest)
    }
    // Only the last try counts: one that lost a race has stored nothing.
    let isStored = false
    const createStore = () => {
      isStored = false
      return async (result: Result) => {
        isStored = true
        await addFingerprint()
        const response = await this.#buildResponse(c, keyedCtx, result)
        return idempotency.storeInTransaction(keyedCtx, start.attempt, response)
      }
    }
    const response = await this.#respondWithRetries(c, keyedCtx, source.read, createStore)
    await addFingerprint()
    if (!isStored || response.status >= 400)
      await idempotency.finishRequest(keyedCtx, start.attempt, response, source.isConsumed())
    return source.finish(response)
  }

  /** Repeats a request that lost a race. */
  async #respondWithRetries(
    c: AppContext,
    ctx: Ctx,
    readBody: BodySource['read'],
    createStore?: () => StoreResponse<Result>,
  ): Promise<HttpResponse> {
    for (let tries = 1; ; tries++) {
      const storeResponse = createStore?.()
      try {
        return await this.#buildResponse(c, ctx, await this.#decide(c, ctx, readBody, storeResponse))
      } catch (error) {
        if (!(error instanceof LostRace))
          return buildErrorResponse(c, explainForeignId(error, this.#operation, c.req.param('id')))
        if (tries === maxTries) return buildErrorResponse(c, createConflict())
      }
    }
  }

  async #decide(
    c: AppContext,
    ctx: Ctx,
    readBody: BodySource['read'],
    storeResponse?: StoreResponse<Result>,
  ): Promise<Result> {
    const { load, target, handle } = this.#handling
    const operation = this.#operation
    const params = operation.params.parse(c.req.param())
    const resource = (await load?.(ctx, params)) as Resource
    checkPermissionOn(ctx, operation, resource)
    const presentNow = resource && this.#presentCurrent ? () => this.#presentCurrent?.(resource, ctx) : undefined
    if (resource && changesOne(operation))
      await checkPreconditions(c.req.raw.headers, presentNow ? () => computeEtag(JSON.stringify(presentNow())) : null)
    const query = parseQuery(c, operation.query)
    this.#ignoredFields ??= findIgnoredFields(this.#operations, operation)
    const { fields, file } = await readBody({ params, resource })
    const bodyInput = operation.stream ? { ...(query as object), ...fields } : fields
    const body = parseBody(operation.body ?? EmptyBody, bodyInput, {
      ignoredFields: this.#ignoredFields,
      presentResource: operation.method === 'patch' ? presentNow : undefined,
    }) as z.output<B>
    if (target) checkTarget(ctx, operation, target(body))
    const header = (name: string) => c.req.header(name)
    // Only operations with a streamed body read `file`.
    const input = { params, query, body, resource, file: file as ReceivedFile, header }
    const verbCtx = restrictToRoles(ctx, operation)
    if (operation.scope === 'read') return handle(verbCtx, input)
    const describeWrite = (result: Result) => this.#describeWrite(verbCtx, input, result)
    return handle(addWriteRecord(verbCtx, operation, { describeWrite, storeResponse }), input)
  }

  #describeWrite(
    ctx: Ctx,
    { resource, body }: Pick<VerbInput<unknown, unknown, z.output<B>, Resource>, 'resource' | 'body'>,
    result: Result,
  ): AuditedWrite {
    const { represent, present, target, audit } = this.#handling
    // If the operation does not return the resource, there is no state to compare.
    const isComparable = this.#operation.status !== 201 && resource && !(represent && present)
    return {
      resource,
      tenant: resource?.tenant,
      target: target?.(body),
      before: isComparable ? ((this.#presentCurrent?.(resource, ctx) ?? null) as Representation | null) : null,
      after: present?.(result, ctx) ?? null,
      ...audit?.(result),
    }
  }

  async #buildResponse(c: AppContext, ctx: Ctx, result: Result): Promise<HttpResponse> {
    const { refuse, present, sign, location, maxAge } = this.#handling
    const refusal = refuse?.(result, ctx)
    if (refusal) return buildErrorResponse(c, refusal)
    const { status } = this.#operation
    if (!present) return { status, headers: {}, body: '' }
    const value = present(result, ctx)
    const signedValue = sign ? await sign(value, result, ctx) : value
    const text = JSON.stringify(value)
    const headers = {
      ...jsonType,
      etag: await computeEtag(text),
      ...(signedValue === value ? {} : { 'cache-control': noStore }),
      ...(location ? { location: ctx.config.publicUrl + location(value) } : {}),
      ...(maxAge ? { 'cache-control': `private, max-age=${maxAge}`, vary: 'authorization' } : {}),
    }
    return { status, headers, body: signedValue === value ? text : JSON.stringify(signedValue) }
  }
}

const computeEtag = async (body: string): Promise<string> => `"${toBase64Url((await sha256(body)).slice(0, 16))}"`

const splitTags = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/** Compares ETags for `If-None-Match`: `W/"a"` and `"a"` are the same state (RFC 9110, 8.8.3.2). */
export const matchesWeakly = (header: string, etag: string): boolean =>
  header.trim() === '*' || splitTags(header).some((tag) => tag.replace(/^W\//, '') === etag)

/** Compares ETags for `If-Match`: a weak tag does not guarantee equal bytes, so it never matches. */
const matchesStrongly = (header: string, etag: string): boolean =>
  header.trim() === '*' || splitTags(header).includes(etag)

/** Checks If-Match and If-None-Match before an existing resource is changed. */
async function checkPreconditions(headers: Headers, computeTag: (() => Promise<string>) | null): Promise<void> {
  const [ifMatch, ifNoneMatch] = [headers.get('if-match'), headers.get('if-none-match')]
  if (ifNoneMatch?.trim() === '*') throw new AppError('precondition_failed', 'The resource exists already.')
  if (!computeTag || (ifMatch === null && ifNoneMatch === null)) return
  const tag = await computeTag()
  if (ifMatch !== null && !matchesStrongly(ifMatch, tag))
    throw new AppError('precondition_failed', 'The resource has changed since you read it.')
  if (ifNoneMatch !== null && matchesWeakly(ifNoneMatch, tag))
    throw new AppError('precondition_failed', 'The resource still has the ETag in If-None-Match.')
}
