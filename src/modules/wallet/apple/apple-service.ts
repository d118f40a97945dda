import { and, asc, eq, getTableColumns, gt, isNotNull, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { walletPasses, walletRegistrations } from '../../../db/schema/wallet.ts'
import { select, buildSelectList } from '../../../db/select.ts'
import { AppError, invalid, notFound, parameterError } from '../../../domain/errors.ts'
import {
  areTextsEqual,
  isSerialNumber,
  createPassToken,
  hashPassToken,
  isPassTokenHash,
  readDownloadToken,
} from '../../../domain/wallet/wallet-tokens.ts'
import { type PassWithOwner, passEventFields, passEventJoins } from '../announce-change.ts'
import { loadPassContent } from '../content.ts'
import type { PassRow } from '../queries.ts'

/** A pass with the push token of one phone, which is null when the phone is not registered. */
export type RegisteredPass = PassWithOwner & { push_token: string | null }

const maxDeviceLength = 128
/** A list has more passes only when they changed together. */
const maxSerials = 500

/** Refuses a text that cannot be the id of a phone before the database is read. */
export function parseDeviceId(id: string): string {
  if (id.length <= maxDeviceLength && /^[\w.:-]+$/.test(id)) return id
  throw invalid(
    parameterError(
      'device',
      'invalid',
      `\`device\` has at most ${maxDeviceLength} letters, digits and the characters -_.:`,
    ),
  )
}

export function checkPassType(job: JobCtx, passType: string): void {
  if (passType !== job.config.wallet.apple.passTypeId) throw notFound()
}

const createTokenError = () => new AppError('not_authenticated', 'The token of the pass is missing or wrong.')

const authorizationPattern = /^ApplePass ([\w-]{16,200})$/i

/** No token has this hash. Comparing with it makes an unknown serial number take as long as a wrong token. */
const impossibleHash = '0'.repeat(64)

/**
 * Finds a pass when the request has its token. The token that the pass was issued with is valid, and so are those
 * that the current key and previous ones make: a package that was loaded after a change of the key has such a token.
 */
export async function authenticatePass(
  job: JobCtx,
  request: { serial: string; authorization: string | undefined; device?: string },
): Promise<{ pass: RegisteredPass; token: string }> {
  const [, token = ''] = authorizationPattern.exec(request.authorization ?? '') ?? []
  if (token === '' || !isSerialNumber(request.serial)) throw createTokenError()
  const pass = await job.db.first(
    sql<RegisteredPass>`select ${buildSelectList(passEventFields)}, (select push_token from wallet_registrations
        where pass_id = ${walletPasses.id} and device_id = ${request.device ?? ''}) as push_token
      from ${walletPasses} ${passEventJoins}
      where ${and(eq(walletPasses.serial_number, request.serial), eq(walletPasses.platform, 'apple'))}`,
  )
  const hash = await hashPassToken(token)
  const isIssuedToken = areTextsEqual(hash, pass?.token_hash ?? impossibleHash)
  const isMadeToken = await isPassTokenHash(job.config.linkReadingKeys, request.serial, hash)
  if (!pass || pass.token_hash === null || !(isIssuedToken || isMadeToken)) throw createTokenError()
  return { pass, token }
}

/**
 * Lists the serial numbers of a phone's passes that changed after `since`. Passes that changed together are never split
 * between two lists. Returns null when none did.
 */
export async function listChangedSerials(
  job: JobCtx,
  device: string,
  since: string | undefined,
): Promise<{ serialNumbers: string[]; lastUpdated: string } | null> {
  const after = since !== undefined && /^\d{1,15}$/.test(since) ? Number(since) : 0
  const { serial_number, change_number } = walletPasses
  const isChanged = and(eq(walletRegistrations.device_id, device), gt(change_number, after))
  const passesOfPhone = select({ change_number })
    .from(walletRegistrations)
    .innerJoin(walletPasses, eq(walletPasses.id, walletRegistrations.pass_id))
  const lastNumber = passesOfPhone
    .where(isChanged)
    .orderBy(asc(change_number))
    .limit(1)
    .offset(maxSerials - 1)
  const rows = await job.db.all(
    select({ serial_number, change_number })
      .from(walletRegistrations)
      .innerJoin(walletPasses, eq(walletPasses.id, walletRegistrations.pass_id))
      .where(and(isChanged, sql`${change_number} <= coalesce((${lastNumber}), ${Number.MAX_SAFE_INTEGER})`))
      .orderBy(asc(change_number)),
  )
  const last = rows.at(-1)
  if (!last) return null
  return { serialNumbers: rows.map((row) => row.serial_number), lastUpdated: String(last.change_number) }
}

export const buildPackage = async (
  job: JobCtx,
  pass: Pick<PassRow, 'id' | 'serial_number' | 'status' | 'purchase_id'>,
  token: string,
): Promise<Uint8Array<ArrayBuffer>> =>
  job.passes.buildApplePackage({ content: await loadPassContent(job, pass), token })

/** Builds the package of a download link. Throws 404 for a forged link and for a pass that is void or erased. */
export async function loadDownload(job: JobCtx, link: string): Promise<Uint8Array<ArrayBuffer>> {
  const { linkSigningKey, linkReadingKeys } = job.config
  const serial = await readDownloadToken(linkReadingKeys, link)
  if (serial === null) throw notFound()
  const { serial_number, platform, status, token_hash } = walletPasses
  const pass = await job.db.first(
    select(getTableColumns(walletPasses))
      .from(walletPasses)
      .where(and(eq(serial_number, serial), eq(platform, 'apple'), eq(status, 'active'), isNotNull(token_hash))),
  )
  if (!pass) throw notFound()
  return buildPackage(job, pass, await createPassToken(linkSigningKey, serial))
}
