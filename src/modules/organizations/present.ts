import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { formatFullName } from '../../domain/accounts/users.ts'
import { buildImageOrNull } from '../../domain/files/addresses.ts'
import { toMajorSmsPrice } from '../../domain/messaging/sms-price.ts'
import { toMajor } from '../../domain/money.ts'
import { readPolicy } from '../../domain/refunds/refund-policy.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { Event, Member, Organization } from './contract.ts'
import type { EventRow, MemberRow, OrganizationRow } from './queries.ts'

function presentPolicy(storedPolicy: OrganizationRow['refund_policy']): z.input<typeof Organization>['refund_policy'] {
  const { four_eyes, manager_limit, auto_approve_below } = readPolicy(storedPolicy)
  return {
    four_eyes,
    manager_limit: manager_limit === null ? null : toMajor(manager_limit),
    auto_approve_below: auto_approve_below === null ? null : toMajor(auto_approve_below),
  }
}

export const presentOrganization = (row: OrganizationRow, { config }: Ctx): z.input<typeof Organization> => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  avatar: buildImageOrNull(config.files.url, row.avatar_file_id, row.avatar_key),
  avatar_file_id: row.avatar_file_id,
  refund_policy: presentPolicy(row.refund_policy),
  sms_price: row.sms_price && { ...row.sms_price, amount: toMajorSmsPrice(row.sms_price.amount) },
  requires_campaign_approval: row.requires_campaign_approval,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentMember = (row: Omit<MemberRow, 'account_id'>): z.input<typeof Member> => ({
  id: row.id,
  email: row.email,
  first_name: row.first_name,
  last_name: row.last_name,
  full_name: formatFullName(row),
  role: row.role,
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
