import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, requireOneChange } from '../../../db/commit.ts'
import { feeRules } from '../../../db/schema/editions.ts'
import { insert, isEmpty, pickChanges, updateVersion } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import { AppError, maxRelatedObjects } from '../../../domain/errors.ts'
import { requireTenant } from '../../editions/index.ts'
import { buildFirstVersion, requireRoom } from '../rows.ts'
import type { CreateFeeRuleInput, UpdateFeeRuleInput } from './contract.ts'
import type { FeeRuleRow } from './queries.ts'

export async function createFeeRule(ctx: Ctx, input: CreateFeeRuleInput): Promise<FeeRuleRow> {
  const { name, fixed_amount, ...others } = input
  const row: FeeRuleRow = {
    id: ctx.newId('fee_rule'),
    ...others,
    ...buildNameColumns(name),
    fixed_amount_minor: fixed_amount,
    ...buildFirstVersion(ctx.now()),
  }
  return commit(ctx, row, [
    requireTenant(row.organization_id, null),
    requireRoom(feeRules, feeRules.organization_id, row.organization_id),
    insert(feeRules, row),
  ])
}

export async function updateFeeRule(ctx: Ctx, row: FeeRuleRow, input: UpdateFeeRuleInput): Promise<FeeRuleRow> {
  const { name, fixed_amount, ...others } = input
  const requestedChanges = pickChanges<FeeRuleRow>(row, {
    ...others,
    ...(name && buildNameColumns(name)),
    fixed_amount_minor: fixed_amount,
  })
  if (isEmpty(requestedChanges)) return commit(ctx, row, [])
  const changes = { ...requestedChanges, modified_at: ctx.now() }
  return commit(ctx, { ...row, ...changes, version: row.version + 1 }, updateVersion(feeRules, row, changes))
}

interface EditionReference {
  type: 'edition'
  id: string
  name: string
}

const listEditions = (ctx: Ctx, feeRuleId: string) =>
  ctx.db.all(sql<EditionReference>`select 'edition' as type, id, full_name as name from editions
    where fee_rule_id = ${feeRuleId} order by id limit ${maxRelatedObjects}`)

/** Editions have a foreign key, so one that gets the rule at the same time aborts the deletion as a lost race. */
export async function deleteFeeRule(ctx: Ctx, { id, version }: FeeRuleRow): Promise<null> {
  const counts = await ctx.db.first(
    sql<{ editions: number }>`select count(*) as editions from editions where fee_rule_id = ${id}`,
  )
  if (counts && counts.editions > 0)
    throw new AppError('fee_rule_in_use', 'Editions use this fee rule. Choose another one for them first.', {
      extra: { counts, related_objects: await listEditions(ctx, id) },
    })
  return commit(ctx, null, [sql`delete from fee_rules where id = ${id} and version = ${version}`, requireOneChange()])
}
