import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { accounts, members } from '../../db/schema/organizations.ts'
import { insert } from '../../db/write.ts'
import { doesNotExist, fieldError, invalid, LostRace } from '../../domain/errors.ts'
import type { AddMemberInput } from './contract.ts'
import type { MemberRow } from './queries.ts'

const alreadyMember = () => invalid(fieldError(['email'], 'unique', 'This person has a role there already.'))

/** Account of the address, and whether the edition is the organisation's, in one round trip. */
async function look(ctx: Ctx, organizationId: string, input: AddMemberInput) {
  const [[account], [edition]] = await ctx.db.batch([
    sql<{ id: string }>`select id from accounts where email = ${input.email}`,
    sql<{
      id: string
    }>`select id from editions where id = ${input.edition_id ?? ''} and organization_id = ${organizationId}`,
  ])
  if (input.edition_id && !edition) throw doesNotExist('edition_id')
  return account
}

export async function addMember(ctx: Ctx, organizationId: string, input: AddMemberInput): Promise<MemberRow> {
  const known = await look(ctx, organizationId, input)
  const now = ctx.now()
  const account = { id: known?.id ?? ctx.newId('account'), email: input.email, created_at: now, last_seen_at: null }
  const row = {
    id: ctx.newId('member'),
    organization_id: organizationId,
    edition_id: input.edition_id ?? null,
    account_id: account.id,
    role: input.role,
    first_name: input.first_name ?? '',
    last_name: input.last_name ?? '',
    created_at: now,
  }
  const statements = [...(known ? [] : [insert(accounts, account)]), insert(members, row)]
  return commit(ctx, { ...row, email: input.email }, statements, {
    "index 'members_once'": alreadyMember,
    'accounts.email': () => new LostRace('the account was made meanwhile'),
  })
}
