import type { Ctx, IdempotencyKey, StoredAnswer } from '../../context.ts'
import { answerSeal, openText, sealText } from '../../domain/accounts/answer-seal.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { AppError, parameterError } from '../../domain/errors.ts'
import type { HttpAnswer } from '../problem.ts'

/** Temporary refusals, which are not stored as answers. */
const passing = new Set([401, 403, 409, 429])

export interface IdempotentAttempt {
  key: IdempotencyKey
  lease: string
  /** Encrypts and decrypts the stored body. */
  seal: CryptoKey
  /** Of a body that comes in after the key was taken, once it is known; null where the claim has the right one. */
  fingerprint: string | null
}

export type Opening = { replay: HttpAnswer } | { attempt: IdempotentAttempt }

export interface KeyedRequest {
  method: string
  path: string
  /** The body, or how long a body may take that is only known once it is read. */
  body: Uint8Array<ArrayBuffer> | { maxReadMs: number; read: () => Promise<string> }
}

const fingerprintOf = async (request: KeyedRequest, bodyHash: string): Promise<string> =>
  toHex(await sha256(`${request.method}\n${request.path}\n${bodyHash}`))

/** The fingerprint of a request whose body was hashed while it came in. */
export const streamedFingerprint = async (request: KeyedRequest, digest: string): Promise<string> =>
  fingerprintOf(request, `stream ${digest}`)

/** The time for the commit after the body was read. */
const commitMs = 60_000

export async function open(ctx: Ctx, rawKey: string, request: KeyedRequest): Promise<Opening> {
  if (rawKey.length > 255 || rawKey.trim() === '')
    throw new AppError('validation_error', 'The Idempotency-Key is not usable.', {
      errors: [parameterError('Idempotency-Key', 'invalid', 'From 1 to 255 characters.')],
    })
  const { caller } = ctx
  const { body } = request
  const callerId = [caller.id, caller.credential.organization_id].filter(Boolean).join(':')
  const key = { callerId, keyHash: toHex(await sha256(rawKey)) }
  const seal = await answerSeal(secretOf(ctx), callerId, rawKey)
  const isStream = !(body instanceof Uint8Array)
  const fingerprint = await fingerprintOf(request, isStream ? 'stream' : toHex(await sha256(body)))
  const lease = ctx.newId('request')
  const taken = { id: lease, ...(isStream ? { ms: body.maxReadMs + commitMs } : {}) }
  const claim = await ctx.idempotency.claim(key, taken, fingerprint, ctx.now())
  switch (claim.state) {
    case 'claimed':
      return { attempt: { key, lease, seal, fingerprint: null } }
    case 'in_progress':
      throw new AppError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
        headers: { 'retry-after': '5' },
      })
    case 'other_request':
      // The answer to a streamed body is stored under what the body was: it has to be read once more to be compared.
      if (isStream && claim.answer && claim.fingerprint === (await streamedFingerprint(request, await body.read())))
        return { replay: await replayed(seal, claim.answer) }
      throw new AppError('idempotency_key_reused', 'This Idempotency-Key was used for another request.')
    case 'answered':
      return { replay: await replayed(seal, claim.answer) }
  }
}

async function replayed(seal: CryptoKey, { status, headers, body }: StoredAnswer): Promise<HttpAnswer> {
  return { status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: await opened(seal, body) }
}

async function sealed(ctx: Ctx, attempt: IdempotentAttempt, answer: HttpAnswer) {
  const body = await sealText(attempt.seal, ctx.randomBytes, answer.body)
  return { status: answer.status, headers: answer.headers, body }
}

/** Development and tests do without a secret; a production that has none takes no keys, so that it is noticed. */
function secretOf({ config }: Ctx): string {
  if (config.idempotencySecret === null && config.environment === 'production')
    throw new AppError('idempotency_unavailable', 'Requests with an Idempotency-Key are not accepted at present.', {
      cause: new Error('Neither IDEMPOTENCY_KEY nor LINK_SIGNING_KEY is set.'),
    })
  return config.idempotencySecret ?? ''
}

/** An answer under another secret cannot be read, and the request is still not done again. */
async function opened(seal: CryptoKey, text: string): Promise<string> {
  const body = await openText(seal, text)
  if (body === null)
    throw new AppError('idempotency_answer_lost', 'This request was done. Its answer can no longer be read.')
  return body
}

/** Statements that store the answer together with its change. */
export const settling = async (ctx: Ctx, attempt: IdempotentAttempt, answer: HttpAnswer) =>
  ctx.idempotency.settle(attempt.key, attempt.lease, await sealed(ctx, attempt, answer), attempt.fingerprint)

/** After the request: keeps an answer that no transaction stored, or frees the key when another try may go better. */
export async function close(ctx: Ctx, attempt: IdempotentAttempt, answer: HttpAnswer, isKnown = true): Promise<void> {
  const { key, lease, fingerprint } = attempt
  // A body that was not read to its end has no fingerprint.
  if (!isKnown || answer.status >= 500 || passing.has(answer.status)) await ctx.idempotency.release(key, lease)
  else await ctx.idempotency.store(key, lease, await sealed(ctx, attempt, answer), fingerprint)
}
