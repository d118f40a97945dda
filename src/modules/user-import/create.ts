import { getTableColumns, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { listChangeableEditions, seesFullCustomers } from '../../db/customers.ts'
import { editions } from '../../db/schema/editions.ts'
import { select } from '../../db/select.ts'
import { editionArchived, fieldError, invalid } from '../../domain/errors.ts'
import { loadImportDefinitions } from '../consents/index.ts'
import { checkTenant, openEditions } from '../editions/index.ts'
import { races, type UserRow } from '../order-import/index.ts'
import type { PresentedUser } from '../users/index.ts'
import { checkUser, normalizeUserPhone } from './check.ts'
import { type CreateUserInput, toCreatedUser } from './contract.ts'
import { planUsers, type UserEdition, type UserRun } from './plan.ts'

const { id, organization_id, default_language, default_country_code, is_archived } = getTableColumns(editions)

export { presentUser } from '../users/index.ts'

/** Customers of the organisation alone have the language of the service when none is given. */
const organizationDefaults = { id: null, default_language: 'en', default_country_code: null } as const

async function findEdition(
  ctx: Ctx,
  input: CreateUserInput,
): Promise<UserEdition & { default_country_code: string | null }> {
  const { edition_id = null } = input
  await checkTenant(ctx, input.organization_id, edition_id)
  if (edition_id === null) return { ...organizationDefaults, organization_id: input.organization_id }
  const edition = await ctx.db.first(
    select({ id, organization_id, default_language, default_country_code, is_archived })
      .from(editions)
      .where(sql`${id} = ${edition_id}`),
  )
  if (!edition || edition.is_archived) throw editionArchived()
  return edition
}

/** Finds when the customer joined the edition; null for one who joins it now. */
async function findJoinedAt(ctx: Ctx, editionId: string | null, userId: string): Promise<number | null> {
  const row = await ctx.db.first(sql<{ created_at: number }>`select edition_customers.created_at from edition_customers
    join users on users.seq = user_seq where edition_id = ${editionId} and users.id = ${userId}`)
  return row?.created_at ?? null
}

/** Shows a customer as the caller sees them. Roles of an edition see the values of the edition. */
async function viewUser(ctx: Ctx, editionId: string | null, user: UserRow): Promise<PresentedUser> {
  const values = user.edition_values
  if (values === null || seesFullCustomers(ctx.caller, user.organization_id)) return user
  const created_at = (await findJoinedAt(ctx, editionId, user.id)) ?? ctx.now()
  const msg_channel = values.email === null && values.phone_number !== null ? 'sms' : 'email'
  return { ...user, ...values, msg_channel, created_at, is_verified: false, last_seen_at: null }
}

/** Adds a customer without an order, or completes the one who has the address. */
export async function createUser(ctx: Ctx, input: CreateUserInput): Promise<PresentedUser> {
  const edition = await findEdition(ctx, input)
  const changeable = listChangeableEditions(ctx.caller, input.organization_id)
  const {
    user,
    errors: phoneErrors,
    warnings: phoneWarnings,
  } = normalizeUserPhone(toCreatedUser(input), edition.default_country_code, [])
  const definitions = await loadImportDefinitions(
    ctx.db,
    { ...edition, id: edition.id ?? '' },
    Object.keys(user.consents),
  )
  const errors = [
    ...phoneErrors,
    ...phoneWarnings.map(() => fieldError(['phone_number'], 'invalid_phone', 'This is not a phone number.')),
    ...checkUser({ definitions, is_of_organization: changeable === null, now: ctx.now() }, user, []),
  ]
  if (errors.length) throw invalid(...errors)
  const run: UserRun = {
    edition,
    source: 'api',
    import_id: null,
    changeable,
    definitions,
    emit_webhooks: input.emit_webhooks,
  }
  const plan = await planUsers(ctx, run, [{ index: 0, path: [], user, warnings: [] }])
  const [record] = plan.records
  if (!record?.outcome.user_id) throw new Error('The plan of a customer has no customer.')
  const { warnings } = record.outcome
  if (warnings.length) throw invalid(...warnings)
  const createdUser = await viewUser(ctx, edition.id, plan.getUser(record.outcome.user_id))
  return commit(ctx, createdUser, [...openEditions(edition.id), ...plan.statements], races)
}
