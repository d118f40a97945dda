import type { z } from '@hono/zod-openapi'
import type { CustomerColumn } from '../../db/customers.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { User } from './contract.ts'
import type { CustomerRow } from './queries.ts'

/** The columns of a customer that answers show. */
export type PresentedUser = Pick<CustomerRow, 'id' | CustomerColumn>

export const presentUser = (row: PresentedUser): z.input<typeof User> => ({
  id: row.id,
  email: row.email,
  locale: row.locale,
  msg_channel: row.msg_channel,
  date_joined: toIso(row.created_at),
  phone_number: row.phone_number,
  first_name: row.first_name,
  last_name: row.last_name,
  is_verified: row.is_verified,
  is_active: row.is_active,
  last_seen: toIsoOrNull(row.last_seen_at),
  metadata: row.metadata,
})
