import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commitPart } from '../../db/commit.ts'
import { signInCodes } from '../../db/schema/accounts.ts'
import { insertWhere } from '../../db/write.ts'
import {
  codesPerAddress,
  codesPerNetwork,
  codeWindowMs,
  hashRequester,
  signInCodeMs,
} from '../../domain/accounts/sign-in.ts'
import { parseNetwork } from '../../domain/network.ts'
import { toBase64Url } from '../../domain/text/encoding.ts'
import { buildSignInCodeEmail, enqueueEmails } from '../transactional-emails/index.ts'
import type { RequestSignInCodeInput } from './contract.ts'
import { requireMethod } from './sign-in-methods.ts'

export interface RequestedCode {
  id: string
  expires_at: number
}

const saltBytes = 16

/**
 * Runs the same statements for every address, so that neither the response nor its time says who is a member. A code
 * beyond the limits is not stored, and its id then fits no code.
 */
export async function requestSignInCode(
  ctx: Ctx,
  { email, language }: RequestSignInCodeInput,
  clientAddress: string | undefined,
): Promise<RequestedCode> {
  requireMethod(ctx.config, 'code')
  const now = ctx.now()
  const { linkSigningKey } = ctx.config
  const network = parseNetwork(clientAddress)
  const address_hash = hashRequester(linkSigningKey, 'address', email)
  const network_hash = network === null ? null : hashRequester(linkSigningKey, 'network', network)
  const row = {
    id: ctx.newId('sign_in_code'),
    account_id: sql`(select id from accounts where email = ${email}
      and exists (select 1 from members where members.account_id = accounts.id))`,
    address_hash,
    network_hash,
    salt: toBase64Url(ctx.randomBytes(saltBytes)),
    expires_at: now + signInCodeMs,
    created_at: now,
  }
  const since = now - codeWindowMs
  const isWithinLimits = sql`(select count(*) from sign_in_codes where address_hash = ${address_hash}
      and created_at > ${since}) < ${codesPerAddress}
    and (select count(*) from sign_in_codes where network_hash = ${network_hash}
      and created_at > ${since}) < ${codesPerNetwork}`
  await commitPart(ctx, [
    insertWhere(signInCodes, row, isWithinLimits),
    buildSignInCodeEmail(ctx, { codeId: row.id, recipient: email, language }),
  ])
  ctx.afterCommit(() => enqueueEmails(ctx))
  return { id: row.id, expires_at: row.expires_at }
}
