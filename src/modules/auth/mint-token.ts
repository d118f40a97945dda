import type { Ctx } from '../../context.ts'
import { generateToken, tokenPreviewLength } from '../../domain/accounts/tokens.ts'
import { sha256, toHex } from '../../domain/text/encoding.ts'
import { buildSortKey } from '../../domain/text/fold.ts'
import type { AccessTokenRow } from './queries.ts'

type NewToken = Omit<
  AccessTokenRow,
  'id' | 'name_key' | 'token_hash' | 'prefix' | 'created_at' | 'revoked_at' | 'last_used_at' | 'refused_at'
>

/** Generates a token or a session, and the row to store. */
export async function mintToken(ctx: Ctx, newToken: NewToken): Promise<{ row: AccessTokenRow; token: string }> {
  const token = generateToken(ctx.randomBytes, ctx.config.cell)
  const row = {
    ...newToken,
    id: ctx.newId('access_token'),
    name_key: buildSortKey(newToken.name),
    token_hash: toHex(await sha256(token)),
    prefix: token.slice(0, tokenPreviewLength),
    created_at: ctx.now(),
    revoked_at: null,
    last_used_at: null,
    refused_at: null,
  }
  return { row, token }
}
