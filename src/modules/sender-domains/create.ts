import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne, commit } from '../../db/commit.ts'
import { toHex } from '../../domain/encoding.ts'
import { AppError, fieldError, invalid } from '../../domain/errors.ts'
import { maxSenderDomains, senderDomainLifecycle } from '../../domain/sender-domains.ts'
import type { CreateSenderDomainInput } from './contract.ts'
import type { SenderDomainRow } from './queries.ts'

const tokenBytes = 16

const alreadyThere = () => invalid(fieldError(['domain'], 'unique', 'The organisation has this domain already.'))

export async function createSenderDomain(
  ctx: Ctx,
  organizationId: string,
  { domain }: CreateSenderDomainInput,
): Promise<SenderDomainRow> {
  const known = await ctx.db.all(
    sql<{ domain: string }>`select domain from sender_domains where organization_id = ${organizationId}`,
  )
  if (known.some((one) => one.domain === domain)) throw alreadyThere()
  if (known.length >= maxSenderDomains)
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
    provider_records: '[]',
    version: 1,
    created_at: now,
    modified_at: now,
  }
  const added = sql`insert into sender_domains (id, organization_id, domain, status, token, created_at, modified_at)
    select ${row.id}, ${organizationId}, ${domain}, ${row.status}, ${row.token}, ${now}, ${now}
    where (select count(*) from sender_domains where organization_id = ${organizationId}) < ${maxSenderDomains}`
  return commit(ctx, row, [added, changedOne()], {
    'sender_domains.organization_id, sender_domains.domain': alreadyThere,
  })
}
