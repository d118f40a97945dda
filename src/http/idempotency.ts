import type { Ctx, IdempotencyKey } from '../context.ts'
import { answerSeal, openText, sealText } from '../domain/answer-seal.ts'
import { sha256, toHex } from '../domain/encoding.ts'
import { AppError, parameterError } from '../domain/errors.ts'
import type { Answer } from './problem.ts'

/** Refusals that the next try of the same request may not meet. */
const passing = new Set([401, 403, 409, 429])

export interface Attempt {
  key: IdempotencyKey
  lease: string
  /** Opens and seals the stored body. */
  seal: CryptoKey
}

export type Opening = { replay: Answer } | { attempt: Attempt }

export async function open(
  ctx: Ctx,
  rawKey: string,
  request: { method: string; path: string; body: Uint8Array },
): Promise<Opening> {
  if (rawKey.length > 255 || rawKey.trim() === '')
    throw new AppError('validation_error', 'The Idempotency-Key is not usable.', {
      errors: [parameterError('Idempotency-Key', 'invalid', 'From 1 to 255 characters.')],
    })
  const { caller } = ctx
  const callerId = [caller.id, caller.credential.organization_id].filter(Boolean).join(':')
  const key = { callerId, keyHash: toHex(await sha256(rawKey)) }
  const seal = await answerSeal(secretOf(ctx), callerId, rawKey)
  const bodyHash = toHex(await sha256(new Uint8Array(request.body)))
  const fingerprint = toHex(await sha256(`${request.method}\n${request.path}\n${bodyHash}`))
  const lease = ctx.newId('request')
  const claim = await ctx.idempotency.claim(key, lease, fingerprint, ctx.now())
  switch (claim.state) {
    case 'claimed':
      return { attempt: { key, lease, seal } }
    case 'in_progress':
      throw new AppError('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
        headers: { 'retry-after': '5' },
      })
    case 'other_request':
      throw new AppError('idempotency_key_reused', 'This Idempotency-Key was used for another request.')
    case 'answered': {
      const { status, headers, body } = claim.answer
      const stored = JSON.parse(headers) as Record<string, string>
      return {
        replay: { status, headers: { ...stored, 'idempotency-replayed': 'true' }, body: await opened(seal, body) },
      }
    }
  }
}

async function sealed(ctx: Ctx, attempt: Attempt, answer: Answer) {
  const body = await sealText(attempt.seal, ctx.randomBytes, answer.body)
  return { status: answer.status, headers: JSON.stringify(answer.headers), body }
}

/** Development and tests do without a secret; a production that has none takes no keys, so that it is noticed. */
function secretOf({ config }: Ctx): string {
  if (config.idempotencySecret === null && config.environment === 'production')
    throw new AppError('idempotency_unavailable', 'Requests with an Idempotency-Key are not taken at present.', {
      cause: new Error('Neither IDEMPOTENCY_KEY nor LINK_SIGNING_KEY is set.'),
    })
  return config.idempotencySecret ?? ''
}

/** What was sealed under another secret stays done: the request is never done again. */
async function opened(seal: CryptoKey, text: string): Promise<string> {
  const body = await openText(seal, text)
  if (body === null)
    throw new AppError('idempotency_answer_lost', 'This request was done. Its answer can no longer be read.')
  return body
}

/** Statements that store the answer together with the change that it tells of. */
export const settling = async (ctx: Ctx, attempt: Attempt, answer: Answer) =>
  ctx.idempotency.settle(attempt.key, attempt.lease, await sealed(ctx, attempt, answer))

/** After the request: keeps an answer that no transaction stored, or frees the key when another try may go better. */
export async function close(ctx: Ctx, attempt: Attempt, answer: Answer): Promise<void> {
  if (answer.status >= 500 || passing.has(answer.status)) await ctx.idempotency.release(attempt.key, attempt.lease)
  else await ctx.idempotency.store(attempt.key, attempt.lease, await sealed(ctx, attempt, answer))
}
