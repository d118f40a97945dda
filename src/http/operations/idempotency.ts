import type { Ctx, IdempotencyKey, StoredAnswer } from '../../context.ts'
import { answerSeal, openText, sealText } from '../../domain/accounts/answer-seal.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { AppError, parameterError } from '../../domain/errors.ts'
import type { HttpResponse } from '../problem.ts'

/** Temporary errors, which are not stored: repeating the request can succeed. */
const temporaryStatuses = new Set([401, 403, 409, 429])

export interface IdempotentAttempt {
  key: IdempotencyKey
  claimId: string
  /** Encrypts and decrypts the stored body. */
  seal: CryptoKey
  /** The fingerprint of a streamed body, once it was read. Null: the claim has the right one already. */
  fingerprint: string | null
}

export type KeyClaimResult = { replay: HttpResponse } | { attempt: IdempotentAttempt }

export interface KeyedRequest {
  method: string
  path: string
  /** The body, or a function that reads a streamed body and the time that this may take. */
  body: Uint8Array<ArrayBuffer> | { maxReadMs: number; read: () => Promise<string> }
}

const computeFingerprint = async (request: KeyedRequest, bodyHash: string): Promise<string> =>
  toHex(await sha256(`${request.method}\n${request.path}\n${bodyHash}`))

/** The fingerprint of a request whose body was hashed while it was streamed. */
export const computeStreamFingerprint = async (request: KeyedRequest, digest: string): Promise<string> =>
  computeFingerprint(request, `stream ${digest}`)

/** The time for the commit after the body was read. */
const commitMs = 60_000

export async function claimKey(ctx: Ctx, rawKey: string, request: KeyedRequest): Promise<KeyClaimResult> {
  if (rawKey.length > 255 || rawKey.trim() === '')
    throw new AppError('validation_error', 'The Idempotency-Key is invalid.', {
      errors: [parameterError('Idempotency-Key', 'invalid', 'Must have 1 to 255 characters.')],
    })
  const { caller } = ctx
  const { body } = request
  const callerId = [caller.id, caller.credential.organization_id].filter(Boolean).join(':')
  const key = { callerId, keyHash: toHex(await sha256(rawKey)) }
  const seal = await answerSeal(readSecret(ctx), callerId, rawKey)
  const isStream = !(body instanceof Uint8Array)
  const fingerprint = await computeFingerprint(request, isStream ? 'stream' : toHex(await sha256(body)))
  const claimId = ctx.newId('request')
  const newClaim = { id: claimId, ...(isStream ? { ms: body.maxReadMs + commitMs } : {}) }
  const claim = await ctx.idempotency.claim(key, newClaim, fingerprint, ctx.now())
  switch (claim.state) {
    case 'claimed':
      return { attempt: { key, claimId, seal, fingerprint: null } }
    case 'in_progress':
      throw new AppError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
        headers: { 'retry-after': '5' },
      })
    case 'other_request':
      // The response to a streamed body is stored with the body's fingerprint, so the body must be read to compare it.
      if (
        isStream &&
        claim.answer &&
        claim.fingerprint === (await computeStreamFingerprint(request, await body.read()))
      )
        return { replay: await replayResponse(seal, claim.answer) }
      throw new AppError('idempotency_key_reused', 'This Idempotency-Key was used for a different request.')
    case 'answered':
      return { replay: await replayResponse(seal, claim.answer) }
  }
}

async function replayResponse(seal: CryptoKey, { status, headers, body }: StoredAnswer): Promise<HttpResponse> {
  return { status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: await openBody(seal, body) }
}

async function sealResponse(ctx: Ctx, attempt: IdempotentAttempt, answer: HttpResponse) {
  const body = await sealText(attempt.seal, ctx.randomBytes, answer.body)
  return { status: answer.status, headers: answer.headers, body }
}

/** In development and tests the secret may be missing. In production keys are refused then, so that it is noticed. */
function readSecret({ config }: Ctx): string {
  if (config.idempotencySecret === null && config.environment === 'production')
    throw new AppError('idempotency_unavailable', 'Requests with an Idempotency-Key are not accepted at the moment.', {
      cause: new Error('Neither IDEMPOTENCY_KEY nor LINK_SIGNING_KEY is set.'),
    })
  return config.idempotencySecret ?? ''
}

/** A response that was stored with another secret cannot be read, but the request must not run again. */
async function openBody(seal: CryptoKey, text: string): Promise<string> {
  const body = await openText(seal, text)
  if (body === null)
    throw new AppError('idempotency_answer_lost', 'This request has succeeded, but its response can no longer be read.')
  return body
}

/** Statements that store the response in the transaction of its change. */
export const storeInTransaction = async (ctx: Ctx, attempt: IdempotentAttempt, answer: HttpResponse) =>
  ctx.idempotency.settle(attempt.key, attempt.claimId, await sealResponse(ctx, attempt, answer), attempt.fingerprint)

/** Stores a response that no transaction stored, or releases the key if repeating the request can succeed. */
export async function finishRequest(
  ctx: Ctx,
  attempt: IdempotentAttempt,
  answer: HttpResponse,
  isBodyRead = true,
): Promise<void> {
  const { key, claimId, fingerprint } = attempt
  // A body that was not read to its end has no fingerprint.
  if (!isBodyRead || answer.status >= 500 || temporaryStatuses.has(answer.status))
    await ctx.idempotency.release(key, claimId)
  else await ctx.idempotency.store(key, claimId, await sealResponse(ctx, attempt, answer), fingerprint)
}
