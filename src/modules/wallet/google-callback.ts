import { and, asc, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { retryLostRaces } from '../../db/commit.ts'
import { capturedWalletKeys } from '../../db/schema/captures.ts'
import { walletCallbacks, walletPasses } from '../../db/schema/wallet.ts'
import { select, buildSelectList } from '../../db/select.ts'
import { insert, insertAll, remove, updateVersion } from '../../db/write.ts'
import { AppError, LostRace, notFound } from '../../domain/errors.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { readSharedTime } from '../../domain/time/instants.ts'
import {
  type GoogleCallback,
  parseCallback,
  verifyCallback,
  type RootKey,
} from '../../domain/wallet/google-callback.ts'
import { decideCallback, buildGoogleClassId, parseGoogleObjectId } from '../../domain/wallet/wallet.ts'
import type { CapturedKeys } from '../../gateways/passes/capture.ts'
import { commitAnnounced } from '../webhooks/index.ts'
import { type PassWithOwner, passEventFields, passEventJoins, buildPassAnnouncements } from './announce-change.ts'

const createSignatureError = () =>
  new AppError('not_authenticated', 'The callback is not signed for this service or has expired.')

async function loadSenders(job: JobCtx, isFresh: boolean) {
  try {
    return await job.passes.loadCallbackSenders(isFresh)
  } catch (cause) {
    const headers = { 'retry-after': '60' }
    throw new AppError('overloaded', 'The public keys of Google cannot be read. Try again in a minute.', {
      headers,
      cause,
    })
  }
}

/** Verifies a callback. When no cached key fits, the keys are read again, because Google may have changed them. */
async function verifyBody(job: JobCtx, body: string): Promise<GoogleCallback> {
  const callback = parseCallback(body)
  if (!callback) throw createSignatureError()
  const { issuerId } = job.config.wallet.google
  for (const isFresh of [false, true]) {
    const verifiedCallback = await verifyCallback(
      callback,
      await loadSenders(job, isFresh),
      issuerId,
      readSharedTime(job),
    )
    if (verifiedCallback) return verifiedCallback
  }
  throw createSignatureError()
}

type CalledPass = PassWithOwner & { is_processed: number }

/** Finds the pass of a callback. Returns null when the object or its class is not from this service. */
async function findCalledPass(job: JobCtx, callback: GoogleCallback, nonceHash: string): Promise<CalledPass | null> {
  const { issuerId } = job.config.wallet.google
  const serial = parseGoogleObjectId(issuerId, callback.object_id)
  if (serial === null) return null
  const pass = await job.db.first(
    sql<CalledPass>`select ${buildSelectList(passEventFields)},
        exists (select 1 from wallet_callbacks where nonce_hash = ${nonceHash}) as is_processed
      from ${walletPasses} ${passEventJoins}
      where ${and(eq(walletPasses.serial_number, serial), eq(walletPasses.platform, 'google'))}`,
  )
  return pass && callback.class_id === buildGoogleClassId(issuerId, pass.edition_id) ? pass : null
}

async function applyCallback(job: JobCtx, callback: GoogleCallback, nonceHash: string): Promise<void> {
  const pass = await findCalledPass(job, callback, nonceHash)
  if (!pass) throw createSignatureError()
  if (pass.is_processed) return
  const now = job.now()
  const { event, expires_at } = callback
  const decision = decideCallback(pass, callback, now)
  const nonce = { nonce_hash: nonceHash, pass_id: pass.id, event, expires_at, created_at: now }
  const change = updateVersion(walletPasses, pass, {
    added_at: decision.added_at,
    removed_at: decision.removed_at,
    callback_expires_at: expires_at,
    modified_at: decision.change ? now : pass.modified_at,
  })
  await commitAnnounced(
    job,
    [insert(walletCallbacks, nonce), ...(decision.counts ? change : [])],
    buildPassAnnouncements(pass, decision.change, now),
    { 'wallet_callbacks.nonce_hash': () => new LostRace('the callback came twice') },
  )
}

/**
 * Handles a callback of Google about a pass. Each nonce counts once. Forged callbacks and other issuers are refused.
 */
export async function receiveGoogleCallback(job: JobCtx, body: string): Promise<void> {
  const callback = await verifyBody(job, body)
  const nonceHash = toHex(await sha256(callback.nonce))
  await retryLostRaces(() => applyCallback(job, callback, nonceHash))
}

const { key_value, expires_at } = capturedWalletKeys

/** Reads the root keys that `capture` verifies callbacks with. */
export const createCapturedKeys = ({ db }: Pick<JobCtx, 'db'>): CapturedKeys => ({
  keys: () => db.all(select({ key_value, expires_at }).from(capturedWalletKeys).orderBy(asc(key_value))),
})

/** Whoever sets a key can sign callbacks, so this works only where no pass is real. */
export async function setCapturedKeys(
  ctx: Pick<JobCtx, 'db' | 'config'>,
  readKeys: () => readonly RootKey[],
): Promise<readonly RootKey[]> {
  if (!['development', 'test'].includes(ctx.config.environment)) throw notFound()
  const rows = [...new Map(readKeys().map((key) => [key.key_value, key])).values()]
  await ctx.db.batch([remove(capturedWalletKeys, sql`1`), ...insertAll(capturedWalletKeys, rows)])
  return createCapturedKeys(ctx).keys()
}
