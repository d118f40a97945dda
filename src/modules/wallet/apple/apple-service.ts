import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { AppError, invalid, notFound, parameterError } from '../../../domain/errors.ts'
import {
  isSameText,
  isSerialNumber,
  passToken,
  passTokenHash,
  readDownloadToken,
} from '../../../domain/wallet/wallet-tokens.ts'
import { type AnnouncedPass, announcedColumns, announcedJoins } from '../announce-change.ts'
import { contentOf } from '../content.ts'
import type { PassRow } from '../queries.ts'

/** A pass, with the registration of one phone. */
export type RegisteredPass = AnnouncedPass & { push_token: string | null }

const maxDeviceLength = 128
const serialsAPage = 500

/** Ids of phones are in paths: anything that is no id is refused before the database is read. */
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
 * The pass of a serial number, for who shows its token. A token counts that the pass was issued with, and the one that
 * the present key makes: both work on after another key was set.
 */
export async function authenticatedPass(
  job: JobCtx,
  request: { serial: string; authorization: string | undefined; device?: string },
): Promise<{ pass: RegisteredPass; token: string }> {
  const [, token = ''] = schema.exec(request.authorization ?? '') ?? []
  if (token === '' || !isSerialNumber(request.serial)) throw refused()
  const pass = await job.db.first(sql<RegisteredPass>`select ${announcedColumns}, (select push_token
      from wallet_registrations where pass_id = wallet_passes.id and device_id = ${request.device ?? ''}) as push_token
    from wallet_passes ${announcedJoins}
    where serial_number = ${request.serial} and platform = 'apple'`)
  const hash = await passTokenHash(token)
  const present = await passTokenHash(await passToken(job.config.linkSigningKey, request.serial))
  const isIssued = isSameText(hash, pass?.token_hash ?? noHash)
  const isPresent = isSameText(hash, present) && job.config.linkSigningKey !== ''
  if (!pass || pass.token_hash === null || !(isIssued || isPresent)) throw refused()
  return { pass, token }
}

interface Changed {
  serial_number: string
  change_number: number
}

/** The serial numbers of a phone's passes that changed after `since`; null for none. */
export async function changedSerials(
  job: JobCtx,
  device: string,
  since: string | undefined,
): Promise<{ serialNumbers: string[]; lastUpdated: string } | null> {
  const after = since !== undefined && /^\d{1,15}$/.test(since) ? Number(since) : 0
  const rows = await job.db.all(sql<Changed>`select serial_number, change_number
    from wallet_registrations join wallet_passes on wallet_passes.id = pass_id
    where device_id = ${device} and change_number > ${after} order by change_number limit ${serialsAPage}`)
  const last = rows.at(-1)
  if (!last) return null
  return { serialNumbers: rows.map(({ serial_number }) => serial_number), lastUpdated: String(last.change_number) }
}

export const packageOf = async (
  job: JobCtx,
  pass: Pick<PassRow, 'id' | 'serial_number' | 'status' | 'purchase_id'>,
  token: string,
): Promise<Uint8Array<ArrayBuffer>> => job.passes.applePackage({ content: await contentOf(job, pass), token })

/** The package behind a download link; 404 for a link that is forged, or of a pass that is void or erased. */
export async function downloadedPackage(job: JobCtx, link: string): Promise<Uint8Array<ArrayBuffer>> {
  const { linkSigningKey } = job.config
  const serial = await readDownloadToken(linkSigningKey, link)
  if (serial === null) throw notFound()
  const pass = await job.db.first(sql<PassRow>`select * from wallet_passes
    where serial_number = ${serial} and platform = 'apple' and status = 'active' and token_hash is not null`)
  if (!pass) throw notFound()
  return packageOf(job, pass, await passToken(linkSigningKey, serial))
}
