import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { editions } from '../../db/schema/editions.ts'
import { select } from '../../db/select.ts'
import { doesNotExist, fieldError, invalid } from '../../domain/errors.ts'
import type { AddMemberInput } from './contract.ts'
import type { MemberRow } from './queries.ts'

const createAlreadyMemberError = () =>
  invalid(
    fieldError(['email'], 'unique', 'This person already has a role there. Remove it before you add another one.'),
  )

async function checkEdition(ctx: Ctx, organizationId: string, editionId: string): Promise<void> {
  const { id, organization_id } = editions
  const condition = and(eq(id, editionId), eq(organization_id, organizationId))
  const edition = await ctx.db.first(select({ id }).from(editions).where(condition))
  if (!edition) throw doesNotExist('edition_id')
}

/** An existing account is added in the same way as a new one, so that the response does not reveal it. */
export async function addOrganizationMember(
  ctx: Ctx,
  organizationId: string,
  input: AddMemberInput,
): Promise<Omit<MemberRow, 'account_id'>> {
  if (input.edition_id) await checkEdition(ctx, organizationId, input.edition_id)
  const row = {
    id: ctx.newId('member'),
    organization_id: organizationId,
    edition_id: input.edition_id ?? null,
    email: input.email,
    role: input.role,
    first_name: input.first_name ?? '',
    last_name: input.last_name ?? '',
    created_at: ctx.now(),
  }
  const statements = [
    sql`insert into accounts (id, email, created_at) values (${ctx.newId('account')}, ${row.email}, ${row.created_at})
      on conflict (email) do nothing`,
    sql`insert into members (id, organization_id, edition_id, account_id, role, first_name, last_name, created_at)
      select ${row.id}, ${organizationId}, ${row.edition_id}, id, ${row.role}, ${row.first_name}, ${row.last_name},
        ${row.created_at} from accounts where email = ${row.email}`,
  ]
  return commit(ctx, row, statements, { "index 'members_once'": createAlreadyMemberError })
}
