import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit, requireOneChange } from '../../db/commit.ts'
import { suppressions } from '../../db/schema/suppressions.ts'
import { insert, remove, splitIntoParameters } from '../../db/write.ts'
import { fieldError, invalid } from '../../domain/errors.ts'
import { parseSuppressionList } from '../../domain/messaging/suppression-list.ts'
import { normalizeAddress } from '../../domain/messaging/suppressions.ts'
import { checkTenant } from '../editions/index.ts'
import { suppressListed } from './change.ts'
import type { AddSuppressionInput, ImportSuppressionsInput } from './contract.ts'
import type { SuppressionRow } from './queries.ts'

const isSuppressed = () => invalid(fieldError(['address'], 'unique', 'This address is suppressed already.'))

export async function addSuppression(ctx: Ctx, input: AddSuppressionInput): Promise<SuppressionRow> {
  const { organization_id, channel, reason, detail, created = ctx.now() } = input
  const address = normalizeAddress(channel, input.address)
  if (address === null)
    throw invalid(
      channel === 'email'
        ? fieldError(['address'], 'invalid_email', 'This is not an e-mail address.')
        : fieldError(['address'], 'invalid_phone', 'This is not a phone number with its country code.'),
    )
  if (created > ctx.now()) throw invalid(fieldError(['created'], 'in_future', '`created` must not be in the future.'))
  await checkTenant(ctx, organization_id, null)
  const row: SuppressionRow = {
    id: ctx.newId('suppression'),
    organization_id,
    channel,
    address,
    reason,
    detail,
    campaign_id: null,
    created_at: created,
  }
  return commit(ctx, row, [insert(suppressions, row)], {
    'suppressions.organization_id, suppressions.channel, suppressions.address': isSuppressed,
  })
}

const maxProblems = 100

export async function importSuppressions(ctx: Ctx, input: ImportSuppressionsInput) {
  const { organization_id, channel } = input
  const { rows, problems, ...counts } = parseSuppressionList(input.csv, channel, ctx.now())
  await checkTenant(ctx, organization_id, null)
  const listedRows = rows.map((row) => ({ ...row, id: ctx.newId('suppression') }))
  const parts = splitIntoParameters(rows.map(({ address }) => JSON.stringify(address)))
  const countStatements = parts.map(
    (part) => sql<{ n: number }>`select count(*) as n from json_each(${`[${part.join(',')}]`}) as listed
      cross join suppressions on suppressions.organization_id = ${organization_id} and suppressions.channel = ${channel}
        and suppressions.address = listed.value`,
  )
  const existingRows = countStatements.length > 0 ? await ctx.db.batch(countStatements) : []
  const existingCount = existingRows.flat().reduce((sum, { n }) => sum + n, 0)
  const result = {
    id: organization_id,
    organization_id,
    ...counts,
    added: rows.length - existingCount,
    existing: counts.total_rows - counts.subscribed - counts.invalid - rows.length + existingCount,
    problems: problems.slice(0, maxProblems),
  }
  const statements = suppressListed(input, listedRows)
  return commit(ctx, result, statements)
}

export const liftSuppression = (ctx: Ctx, row: SuppressionRow, reason: string) =>
  commit(ctx, { ...row, lift_reason: reason }, [remove(suppressions, eq(suppressions.id, row.id)), requireOneChange()])
