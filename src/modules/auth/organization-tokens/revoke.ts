import type { Ctx } from '../../../context.ts'
import { revokeAccessToken } from '../revoke-token.ts'
import type { OrganizationTokenRow } from './queries.ts'

export const revokeOrganizationToken = (ctx: Ctx, token: OrganizationTokenRow): Promise<null> =>
  revokeAccessToken(ctx, token)
