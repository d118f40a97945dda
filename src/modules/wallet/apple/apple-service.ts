import { and, asc, eq, getTableColumns, gt, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { walletPasses, walletRegistrations } from '../../../db/schema/wallet.ts'
import { select, buildSelectList } from '../../../db/select.ts'
import { AppError, invalid, notFound, parameterError } from '../../../domain/errors.ts'
import {
  isSameText,
  isSerialNumber,
  passToken,
  passTokenHash,
  readDownloadToken,
} from '../../../domain/wallet/wallet-tokens.ts'
import { type AnnouncedPass, announcedFields, announcedJoins } from '../announce-change.ts'
import { contentOf } from '../content.ts'
import type { PassRow } from '../queries.ts'

/** A pass, with the registration of one phone. */
export type RegisteredPass = AnnouncedPass & { push_token: string | null }

const maxDeviceLength = 128
const serialsAPage = 500

/** The id of a phone is part of a path. Text that is no id is refused before the database is read. */
export function checkDevice(id: string): string {
  if (id.length <= maxDeviceLength && /^[\w.:-]+$/.test(id)) return id
  throw invalid(parameterError('device', 'invalid', `At most ${maxDeviceLength} letters, digits and -_.:`))
}

export function checkPassType(job: JobCtx, passType: string): void {
  if (passType !== job.config.wallet.apple.passTypeId) throw notFound()
}

const refused = () => new AppError('not_authenticated', 'The token of the pass is missing or wrong.')

const schema = /^ApplePass ([\w-]{16,200})$/i

/** A hash that no token has, so that an unknown serial number takes as long as a wrong token. */
const noHash = '0'.repeat(64)

/**
 * The pass of a serial number, if the request has its token. Two tokens are valid: the one that the pass was issued
 * with, and the one that the present key makes. So passes keep working after the key was changed.
 */
export async function authenticatedPass(
  job: JobCtx,
  request: { serial: string; authorization: string | undefined; device?: string },
): Promise<{ pass: RegisteredPass; token: string }> {
  const [, token = ''] = schema.exec(request.authorization ?? '') ?? []
  if (token === '' || !isSerialNumber(request.serial)) throw refused()
  const pass = await job.db.first(
    sql<RegisteredPass>`select ${buildSelectList(announcedFields)}, (select push_token from wallet_registrations
        where pass_id = ${walletPasses.id} and device_id = ${request.device ?? ''}) as push_token
      from ${walletPasses} ${announcedJoins}
      where ${and(eq(walletPasses.serial_number, request.serial), eq(walletPasses.platform, 'apple'))}`,
  )
  const hash = await passTokenHash(token)
  const present = await passTokenHash(await passToken(job.config.linkSigningKey, request.serial))
  const isIssued = isSameText(hash, pass?.token_hash ?? noHash)
  const isPresent = isSameText(hash, present) && job.config.linkSigningKey !== ''
  if (!pass || pass.token_hash === null || !(isIssued || isPresent)) throw refused()
  return { pass, token }
}

/** The serial numbers of a phone's passes that changed after `since`; null for none. */
export async function changedSerials(
  job: JobCtx,
  device: string,
  since: string | undefined,
): Promise<{ serialNumbers: string[]; lastUpdated: string } | null> {
  const after = since !== undefined && /^\d{1,15}$/.test(since) ? Number(since) : 0
  const { serial_number, change_number } = walletPasses
  const rows = await job.db.all(
    select({ serial_number, change_number })
      .from(walletRegistrations)
      .innerJoin(walletPasses, eq(walletPasses.id, walletRegistrations.pass_id))
      .where(and(eq(walletRegistrations.device_id, device), gt(change_number, after)))
      .orderBy(asc(change_number))
      .limit(serialsAPage),
  )
  const last = rows.at(-1)
  if (!last) return null
  return { serialNumbers: rows.map((row) => row.serial_number), lastUpdated: String(last.change_number) }
}

export const packageOf = async (
  job: JobCtx,
  pass: Pick<PassRow, 'id' | 'serial_number' | 'status' | 'purchase_id'>,
  token: string,
): Promise<Uint8Array<ArrayBuffer>> => job.passes.buildApplePackage({ content: await contentOf(job, pass), token })

/** The package behind a download link; 404 for a link that is forged, or of a pass that is void or erased. */
export async function downloadedPackage(job: JobCtx, link: string): Promise<Uint8Array<ArrayBuffer>> {
  const { linkSigningKey } = job.config
  const serial = await readDownloadToken(linkSigningKey, link)
  if (serial === null) throw notFound()
  const { serial_number, platform, status, token_hash } = walletPasses
  const pass = await job.db.first(
    select(getTableColumns(walletPasses))
      .from(walletPasses)
      .where(and(eq(serial_number, serial), eq(platform, 'apple'), eq(status, 'active'), isNotNull(token_hash))),
  )
  if (!pass) throw notFound()
  return packageOf(job, pass, await passToken(linkSigningKey, serial))
}
