import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit } from '../../db/commit.ts'
import { senderDomains } from '../../db/schema/sender-domains.ts'
import { select } from '../../db/select.ts'
import { insertWhere } from '../../db/write.ts'
import { AppError, fieldError, invalid } from '../../domain/errors.ts'
import { maxSenderDomains, senderDomainLifecycle } from '../../domain/messaging/sender-domains.ts'
import { toHex } from '../../domain/text/encoding.ts'
import type { CreateSenderDomainInput } from './contract.ts'
import type { SenderDomainRow } from './queries.ts'

const tokenBytes = 16

const domainExists = () => invalid(fieldError(['domain'], 'unique', 'Your organisation already has this domain.'))

export async function createSenderDomain(
  ctx: Ctx,
  organizationId: string,
  { domain }: CreateSenderDomainInput,
): Promise<SenderDomainRow> {
  const isOfOrganization = eq(senderDomains.organization_id, organizationId)
  const existingDomains = await ctx.db.all(
    select({ domain: senderDomains.domain }).from(senderDomains).where(isOfOrganization),
  )
  if (existingDomains.some((row) => row.domain === domain)) throw domainExists()
  if (existingDomains.length >= maxSenderDomains)
    throw new AppError('too_many_sender_domains', `An organisation has at most ${maxSenderDomains} sender domains.`)
  const now = ctx.now()
  const row: SenderDomainRow = {
    id: ctx.newId('sender_domain'),
    organization_id: organizationId,
    domain,
    status: senderDomainLifecycle.initial,
    token: toHex(ctx.randomBytes(tokenBytes)),
    verified_at: null,
    verified_by: null,
    checked_at: null,
    check_outcome: null,
    provider_domain_id: null,
    provider_records: [],
    version: 1,
    created_at: now,
    modified_at: now,
  }
  const isRoomLeft = sql`(select count(*) from ${senderDomains} where ${isOfOrganization}) < ${maxSenderDomains}`
  return commit(ctx, row, [insertWhere(senderDomains, row, isRoomLeft), requireOneChange()], {
    'sender_domains.organization_id, sender_domains.domain': domainExists,
  })
}
