import type { Ctx, IdempotencyKey } from '../context.ts'
import { fromBase64, sha256, toBase64, toHex, utf8 } from '../domain/encoding.ts'
import { AppError, parameterError } from '../domain/errors.ts'
import type { Answer } from './problem.ts'

/** Refusals that the next try of the same request may not meet. */
const passing = new Set([401, 403, 409, 429])

export interface Attempt {
  key: IdempotencyKey
  lease: string
  /** Opens and seals stored bodies. Made of the key itself, which only its sender has: the table alone gives nothing away. */
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
  const sealBytes = await sha256(`idempotency\0${callerId}\0${rawKey}`)
  const seal = await crypto.subtle.importKey('raw', sealBytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
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
        replay: { status, headers: { ...stored, 'idempotency-replayed': 'true' }, body: await unseal(seal, body) },
      }
    }
  }
}

const ivLength = 12

async function sealed(ctx: Ctx, attempt: Attempt, answer: Answer) {
  const iv = new Uint8Array(ctx.randomBytes(ivLength))
  const secret = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, attempt.seal, utf8(answer.body)))
  const body = `${toBase64(iv)}.${toBase64(secret)}`
  return { status: answer.status, headers: JSON.stringify(answer.headers), body }
}

async function unseal(seal: CryptoKey, text: string): Promise<string> {
  const [iv = '', secret = ''] = text.split('.')
  const bytes = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromBase64(iv) }, seal, fromBase64(secret))
  return new TextDecoder().decode(bytes)
}

/** Statements that store the answer together with the change that it tells of. */
export const settling = async (ctx: Ctx, attempt: Attempt, answer: Answer) =>
  ctx.idempotency.settle(attempt.key, attempt.lease, await sealed(ctx, attempt, answer))

/** After the request: keeps an answer that no transaction stored, or frees the key when another try may go better. */
export async function close(ctx: Ctx, attempt: Attempt, answer: Answer): Promise<void> {
  if (answer.status >= 500 || passing.has(answer.status)) await ctx.idempotency.release(attempt.key, attempt.lease)
  else await ctx.idempotency.store(attempt.key, attempt.lease, await sealed(ctx, attempt, answer))
}
