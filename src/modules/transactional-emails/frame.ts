import { eq, sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { users } from '../../db/schema/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { fromFlag, select } from '../../db/select.ts'
import { chooseSender, type Mailbox } from '../../domain/messaging/mailbox.ts'
import { isVerifiedSender } from '../sender-domains/index.ts'
import type { OrganizationClaim } from './claim.ts'

/** Facts about sender and recipient that every e-mail needs. An address without a customer has no name. */
export interface Frame {
  first_name: string
  last_name: string
  organization_name: string
  edition_name: string | null
  start_at: number | null
  end_at: number | null
  timezone: string | null
  email_sender_name: string | null
  email_sender_address: string | null
  email_reply_to: string | null
  is_sender_verified: boolean
}

/** Columns of the organisation and of the edition that every e-mail needs. */
export const frameFields = {
  organization_name: organizations.name,
  edition_name: editions.full_name,
  start_at: editions.start_at,
  end_at: editions.end_at,
  timezone: editions.timezone,
  email_sender_name: editions.email_sender_name,
  email_sender_address: editions.email_sender_address,
  email_reply_to: editions.email_reply_to,
}

export const loadFrame = (
  { db }: JobCtx,
  claim: Pick<OrganizationClaim, 'organization_id' | 'edition_id' | 'user_id'>,
): Promise<Frame | undefined> =>
  db.first(
    select({
      ...frameFields,
      first_name: sql<string>`coalesce(${users.first_name}, '')`,
      last_name: sql<string>`coalesce(${users.last_name}, '')`,
      is_sender_verified: fromFlag(isVerifiedSender(sql`${organizations.id}`, sql`${editions.email_sender_address}`)),
    })
      .from(organizations)
      .leftJoin(users, eq(users.id, claim.user_id ?? ''))
      .leftJoin(editions, eq(editions.id, claim.edition_id ?? ''))
      .where(eq(organizations.id, claim.organization_id)),
  )

/** Chooses the sender of an e-mail that follows from an action. */
export const chooseFrameSender = (
  { config }: Pick<JobCtx, 'config'>,
  frame: Frame,
): { from: Mailbox; replyTo: string | null } =>
  chooseSender(
    {
      names: [frame.email_sender_name, frame.edition_name ?? frame.organization_name],
      address: frame.email_sender_address,
      reply_to: frame.email_reply_to,
      is_verified: frame.is_sender_verified,
    },
    config.emailFrom,
  )

export const transactionalHeaders = { 'Auto-Submitted': 'auto-generated' } as const
