import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { signInLinks } from '../../db/schema/accounts.ts'
import { insert } from '../../db/write.ts'
import { buildSignInUrl, signInLinkMs } from '../../domain/accounts/sign-in.ts'
import { doesNotExist } from '../../domain/errors.ts'
import { sha256, toBase64Url, toHex } from '../../domain/text/encoding.ts'
import { findMember } from './queries.ts'
import { requireMethod } from './sign-in-methods.ts'

export interface NewSignInLink {
  id: string
  member_id: string
  organization_id: string
  email: string
  sign_in_url: string
  created_at: number
  expires_at: number
}

const secretBytes = 32

export async function createSignInLink(ctx: Ctx, memberId: string): Promise<NewSignInLink> {
  requireMethod(ctx.config, 'link')
  const member = await findMember(ctx, memberId)
  if (!member) throw doesNotExist('member_id')
  const now = ctx.now()
  const secret = toBase64Url(ctx.randomBytes(secretBytes))
  const row = {
    id: ctx.newId('sign_in_link'),
    member_id: memberId,
    secret_hash: toHex(await sha256(secret)),
    expires_at: now + signInLinkMs,
    created_at: now,
  }
  const { organization_id, email } = member
  const link = { ...row, organization_id, email, sign_in_url: buildSignInUrl(ctx.config.publicUrl, secret) }
  return commit(ctx, link, [insert(signInLinks, row)])
}
