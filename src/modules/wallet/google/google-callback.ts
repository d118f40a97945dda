import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { decideAgain } from '../../../db/commit.ts'
import { walletCallbacks, walletPasses } from '../../../db/schema/wallet.ts'
import { selection } from '../../../db/select.ts'
import { insert, updateVersion } from '../../../db/write.ts'
import { sha256, toHex } from '../../../domain/text/encoding.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { type GoogleCallback, parseCallback, verifyCallback } from '../../../domain/wallet/google-callback.ts'
import { decideCallback, buildGoogleClassId, parseGoogleObjectId } from '../../../domain/wallet/wallet.ts'
import { type PassWithOwner, passEventFields, passEventJoins, buildPassAnnouncements } from '../announce-change.ts'
import { commitAnnounced } from '../../webhooks/index.ts'

const refused = () => new AppError('not_authenticated', 'The callback is not signed for this service, or has expired.')

async function loadSenders(job: JobCtx, isFresh: boolean) {
  try {
    return await job.passes.callbackSenders(isFresh)
  } catch (cause) {
    const headers = { 'retry-after': '60' }
    throw new AppError('overloaded', 'The keys of Google cannot be read. Try again in a minute.', { headers, cause })
  }
}

/** The callback when its signatures are good; keys that may have changed since they were cached are read anew. */
async function verifyBody(job: JobCtx, body: string): Promise<GoogleCallback> {
  const callback = parseCallback(body)
  if (!callback) throw refused()
  const { issuerId } = job.config.wallet.google
  for (const isFresh of [false, true]) {
    const found = await verifyCallback(callback, await loadSenders(job, isFresh), issuerId, job.now())
    if (found) return found
  }
  throw refused()
}

type CalledPass = PassWithOwner & { is_known: number }

/** The pass of a callback; null when the object or its class is not from this service. */
async function findCalledPass(job: JobCtx, callback: GoogleCallback, nonceHash: string): Promise<CalledPass | null> {
  const { issuerId } = job.config.wallet.google
  const serial = parseGoogleObjectId(issuerId, callback.object_id)
  if (serial === null) return null
  const pass = await job.db.first(
    sql<CalledPass>`select ${selection(passEventFields)},
        exists (select 1 from wallet_callbacks where nonce_hash = ${nonceHash}) as is_known
      from ${walletPasses} ${passEventJoins}
      where ${and(eq(walletPasses.serial_number, serial), eq(walletPasses.platform, 'google'))}`,
  )
  return pass && callback.class_id === buildGoogleClassId(issuerId, pass.edition_id) ? pass : null
}

async function applyCallback(job: JobCtx, callback: GoogleCallback, nonceHash: string): Promise<void> {
  const pass = await findCalledPass(job, callback, nonceHash)
  if (!pass) throw refused()
  if (pass.is_known) return
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

/** Handles a callback of Google about a pass. Each nonce counts once; a forged callback or one of another issuer is refused. */
export async function receiveGoogleCallback(job: JobCtx, body: string): Promise<void> {
  const callback = await verifyBody(job, body)
  const nonceHash = toHex(await sha256(callback.nonce))
  await decideAgain(() => applyCallback(job, callback, nonceHash))
}
