import type { z } from '@hono/zod-openapi'
import type { MemberRole } from '../../domain/access.ts'
import { toIso } from '../../domain/instants.ts'
import { fullName } from '../../domain/users.ts'
import type { Event, Member, Organization } from './contract.ts'
import type { EventRow, MemberRow, OrganizationRow } from './queries.ts'

export const presentOrganization = (row: OrganizationRow): z.input<typeof Organization> => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  avatar: null,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentMember = (row: Omit<MemberRow, 'account_id'>): z.input<typeof Member> => ({
  id: row.id,
  email: row.email,
  first_name: row.first_name,
  last_name: row.last_name,
  full_name: fullName(row),
  role: row.role as MemberRole,
  edition_id: row.edition_id,
  created: toIso(row.created_at),
})

export const presentEvent = (row: EventRow): z.input<typeof Event> => ({
  id: row.id,
  organization_id: row.organization_id,
  name: row.name,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
