import type { z } from '@hono/zod-openapi'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import type { User } from './contract.ts'
import type { CustomerRow } from './queries.ts'

export const presentUser = (row: CustomerRow): z.input<typeof User> => ({
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
