import { and, eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { retryLostRaces } from '../../../db/commit.ts'
import { walletCallbacks, walletPasses } from '../../../db/schema/wallet.ts'
import { buildSelectList } from '../../../db/select.ts'
import { insert, updateVersion } from '../../../db/write.ts'
import { sha256, toHex } from '../../../domain/text/encoding.ts'
import { AppError, LostRace } from '../../../domain/errors.ts'
import { type GoogleCallback, readCallback, verifiedCallback } from '../../../domain/wallet/google-callback.ts'
import { decideCallback, googleClassId, serialOfObject } from '../../../domain/wallet/wallet.ts'
import { type AnnouncedPass, announcedFields, announcedJoins, announcementsOf } from '../announce-change.ts'
import { commitAnnounced } from '../../webhooks/index.ts'

const refused = () => new AppError('not_authenticated', 'The callback is not signed for this service, or has expired.')

async function sendersOf(job: JobCtx, isFresh: boolean) {
  try {
    return await job.passes.loadCallbackSenders(isFresh)
  } catch (cause) {
    const headers = { 'retry-after': '60' }
    throw new AppError('overloaded', 'The keys of Google cannot be read. Try again in a minute.', { headers, cause })
  }
}

/** The callback when its signatures are good; keys that may have changed since they were cached are read anew. */
async function checked(job: JobCtx, body: string): Promise<GoogleCallback> {
  const callback = readCallback(body)
  if (!callback) throw refused()
  const { issuerId } = job.config.wallet.google
  for (const isFresh of [false, true]) {
    const found = await verifiedCallback(callback, await sendersOf(job, isFresh), issuerId, job.now())
    if (found) return found
  }
  throw refused()
}

type CalledPass = AnnouncedPass & { is_known: number }

/** The pass of a callback; null when the object or its class is not from this service. */
async function passOf(job: JobCtx, callback: GoogleCallback, nonceHash: string): Promise<CalledPass | null> {
  const { issuerId } = job.config.wallet.google
  const serial = serialOfObject(issuerId, callback.object_id)
  if (serial === null) return null
  const pass = await job.db.first(
    sql<CalledPass>`select ${buildSelectList(announcedFields)},
        exists (select 1 from wallet_callbacks where nonce_hash = ${nonceHash}) as is_known
      from ${walletPasses} ${announcedJoins}
      where ${and(eq(walletPasses.serial_number, serial), eq(walletPasses.platform, 'google'))}`,
  )
  return pass && callback.class_id === googleClassId(issuerId, pass.edition_id) ? pass : null
}

async function apply(job: JobCtx, callback: GoogleCallback, nonceHash: string): Promise<void> {
  const pass = await passOf(job, callback, nonceHash)
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
    announcementsOf(pass, decision.change, now),
    { 'wallet_callbacks.nonce_hash': () => new LostRace('the callback came twice') },
  )
}

/** Handles a callback of Google about a pass. Each nonce counts once; a forged callback or one of another issuer is refused. */
export async function receiveGoogleCallback(job: JobCtx, body: string): Promise<void> {
  const callback = await checked(job, body)
  const nonceHash = toHex(await sha256(callback.nonce))
  await retryLostRaces(() => apply(job, callback, nonceHash))
}
