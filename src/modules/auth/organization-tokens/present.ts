import type { z } from '@hono/zod-openapi'
import { formatFullName } from '../../../domain/accounts/users.ts'
import { presentToken } from '../present.ts'
import type { OrganizationToken } from './contract.ts'
import type { OrganizationTokenRow } from './queries.ts'

export const presentOrganizationToken = (row: OrganizationTokenRow): z.input<typeof OrganizationToken> => ({
  ...presentToken(row),
  holder: row.holder && {
    member_id: row.holder.member_id,
    email: row.holder.email,
    full_name: formatFullName(row.holder),
  },
})
