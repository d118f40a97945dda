import type { Ctx, IdempotencyKey, StoredResponse } from '../../context.ts'
import { deriveResponseKey, openText, sealText } from '../../domain/accounts/sealed-text.ts'
import { AppError, parameterError } from '../../domain/errors.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import type { HttpResponse } from '../problem.ts'

/** Temporary errors, which are not stored: repeating the request can succeed. */
const temporaryStatuses = new Set([401, 403, 409, 429])

export interface IdempotentAttempt {
  key: IdempotencyKey
  id: string
  /** Encrypts and decrypts the stored response. */
  encryptionKey: CryptoKey
  /** The fingerprint of a streamed body, once it was read. Null: the key has the right one already. */
  fingerprint: string | null
  /** The same for every repetition of the request. */
  resumeKey: string
}

export type AttemptStart = { replay: HttpResponse } | { attempt: IdempotentAttempt }

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

export async function beginAttempt(ctx: Ctx, rawKey: string, request: KeyedRequest): Promise<AttemptStart> {
  if (rawKey.length > 255 || rawKey.trim() === '')
    throw new AppError('validation_error', 'The Idempotency-Key is invalid.', {
      errors: [parameterError('Idempotency-Key', 'invalid', 'Must have 1 to 255 characters.')],
    })
  const { caller } = ctx
  const { body } = request
  const callerId = [caller.id, caller.credential.organization_id].filter(Boolean).join(':')
  const key = { callerId, keyHash: toHex(await sha256(rawKey)) }
  const [secret = '', ...previousSecrets] = readSecrets(ctx)
  const encryptionKey = await deriveResponseKey(secret, callerId, rawKey)
  const replay = async (response: StoredResponse) => {
    const derive = (previousSecret: string) => deriveResponseKey(previousSecret, callerId, rawKey)
    return {
      replay: await replayResponse([encryptionKey, ...(await Promise.all(previousSecrets.map(derive)))], response),
    }
  }
  const isStream = !(body instanceof Uint8Array)
  const fingerprint = await computeFingerprint(request, isStream ? 'stream' : toHex(await sha256(body)))
  const id = ctx.newId('request')
  const newAttempt = { id, ...(isStream ? { ms: body.maxReadMs + commitMs } : {}) }
  const keyState = await ctx.idempotency.beginAttempt(key, newAttempt, fingerprint, ctx.now())
  switch (keyState.state) {
    case 'begun': {
      const resumeKey = toHex(await sha256([callerId, key.keyHash, fingerprint].join('\n')))
      return { attempt: { key, id, encryptionKey, fingerprint: null, resumeKey } }
    }
    case 'in_progress':
      throw new AppError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
        headers: { 'retry-after': '5' },
      })
    case 'other_request':
      // The response to a streamed body is stored with the body's fingerprint, so the body must be read to compare it.
      if (
        isStream &&
        keyState.response &&
        keyState.fingerprint === (await computeStreamFingerprint(request, await body.read()))
      )
        return replay(keyState.response)
      throw new AppError('idempotency_key_reused', 'This Idempotency-Key was used for a different request.')
    case 'completed':
      return replay(keyState.response)
  }
}

async function replayResponse(
  encryptionKeys: readonly CryptoKey[],
  { status, headers, body }: StoredResponse,
): Promise<HttpResponse> {
  return { status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: await openBody(encryptionKeys, body) }
}

async function sealResponse(ctx: Ctx, attempt: IdempotentAttempt, response: HttpResponse) {
  const body = await sealText(attempt.encryptionKey, ctx.randomBytes, response.body)
  return { status: response.status, headers: response.headers, body }
}

/** In development and tests secrets may be missing. In production keys are refused then, so that it is noticed. */
function readSecrets({ config }: Ctx): readonly string[] {
  if (config.idempotencySecrets.length === 0 && config.environment === 'production')
    throw new AppError('idempotency_unavailable', 'Requests with an Idempotency-Key are not accepted at the moment.', {
      cause: new Error('Neither IDEMPOTENCY_KEY nor LINK_SIGNING_KEY is set.'),
    })
  return config.idempotencySecrets
}

/** A response that was stored with an unknown secret cannot be read, but the request must not run again. */
async function openBody(encryptionKeys: readonly CryptoKey[], text: string): Promise<string> {
  for (const encryptionKey of encryptionKeys) {
    const body = await openText(encryptionKey, text)
    if (body !== null) return body
  }
  throw new AppError('idempotency_answer_lost', 'This request has succeeded, but its response can no longer be read.')
}

/** Statements that store the response in the transaction of its change. */
export const storeInTransaction = async (ctx: Ctx, attempt: IdempotentAttempt, response: HttpResponse) =>
  ctx.idempotency.buildStoreStatements(
    attempt.key,
    attempt.id,
    await sealResponse(ctx, attempt, response),
    attempt.fingerprint,
  )

/** Stores a response that no transaction stored, or releases the key if repeating the request can succeed. */
export async function finishRequest(
  ctx: Ctx,
  attempt: IdempotentAttempt,
  response: HttpResponse,
  isBodyConsumed = true,
): Promise<void> {
  const { key, id, fingerprint } = attempt
  // A body that was not read to its end has no fingerprint.
  if (!isBodyConsumed || response.status >= 500 || temporaryStatuses.has(response.status))
    await ctx.idempotency.release(key, id)
  else await ctx.idempotency.store(key, id, await sealResponse(ctx, attempt, response), fingerprint)
}
