import type { Ctx } from '../../context.ts'
import { buildPredicate, type ExpressionScope, selectMatchingPeople } from '../../db/cel/index.ts'
import { isStatementFailure } from '../../db/failures.ts'
import { getActingReach, seesOrganization } from '../../db/visibility.ts'
import { checkExpression } from '../../domain/cel/index.ts'
import type { Block } from '../../domain/email/blocks/blocks.ts'
import { findConditionFaults, listConditions } from '../../domain/email/blocks/conditions.ts'
import { AppError, doesNotExist, type FieldError, fieldError, invalid } from '../../domain/errors.ts'
import type { EmailMessageType } from '../../domain/messaging/email-messages.ts'
import { findUser } from '../users/index.ts'
import type { PreviewEmailMessageInput } from './message-contract.ts'
import type { MessageDetailRow } from './queries.ts'

/**
 * The customers that conditions of the message can be about, as far as the caller sees them: an edition role sees what
 * its editions know, also through a template of the organisation.
 */
function buildScope(ctx: Ctx, { organization_id, edition_id, edition_timezone }: MessageDetailRow): ExpressionScope {
  const organizationId = organization_id ?? ''
  const reach = getActingReach(ctx.caller)
  const ownEditions = reach.all
    ? []
    : reach.editions.flatMap((grant) => (grant.organization_id === organizationId ? (grant.edition_id ?? []) : []))
  const visibleEditions = seesOrganization(ctx.caller, organizationId) ? null : ownEditions
  const editions = edition_id === null ? visibleEditions : [edition_id]
  return { organizationId, editionId: edition_id, timezone: edition_timezone, editions, now: ctx.now() }
}

/** Lists the faults of the conditions that a message has after a change, each at its block or at the changed type. */
export function listConditionFaults(
  ctx: Ctx,
  row: MessageDetailRow,
  { type, blocks }: { type: EmailMessageType; blocks: readonly Block[] | undefined },
): FieldError[] {
  if (blocks === undefined)
    return type === 'campaign' || listConditions(row.blocks).length === 0
      ? []
      : [
          fieldError(
            ['type'],
            'wrong_type',
            'Blocks of this message have conditions. Only messages of type `campaign` can.',
          ),
        ]
  const scope = buildScope(ctx, row)
  return findConditionFaults(blocks, type, (expression) => {
    try {
      buildPredicate(expression, scope)
      return null
    } catch (error) {
      if (error instanceof AppError) return 'The expression is too complex. Use a shorter one.'
      throw error
    }
  })
}

/** Lists which of the conditions the customer with this `seq` fulfils. */
export async function listFulfilledConditions(
  ctx: Pick<Ctx, 'db'>,
  scope: ExpressionScope,
  seq: number,
  conditions: readonly string[],
): Promise<ReadonlySet<string>> {
  if (conditions.length === 0) return new Set()
  const expressions = conditions.flatMap((condition) => {
    const checkResult = checkExpression(condition)
    return checkResult.ok ? [{ condition, expression: checkResult.expression }] : []
  })
  try {
    const results = await ctx.db.batch(
      expressions.map(({ expression }) => selectMatchingPeople(expression, scope, [seq])),
    )
    return new Set(expressions.flatMap(({ condition }, index) => (results[index]?.length ? [condition] : [])))
  } catch (error) {
    if (error instanceof AppError || !isStatementFailure(error)) throw error
    throw invalid(
      fieldError(['user_id'], 'not_renderable', 'The database refuses a condition of a block. Simplify it.'),
    )
  }
}

/** Evaluates conditions for a customer whom the caller sees. */
async function evaluateFor(
  ctx: Ctx,
  row: MessageDetailRow,
  userId: string,
  conditions: readonly string[],
): Promise<ReadonlySet<string>> {
  const user = await findUser(ctx, userId).catch((error: unknown) => {
    throw error instanceof AppError && error.code === 'not_found' ? doesNotExist('user_id') : error
  })
  if (user.organization_id !== row.organization_id) throw doesNotExist('user_id')
  return listFulfilledConditions(ctx, buildScope(ctx, row), user.seq, conditions)
}

/** The conditions that hold in a preview: all of them, those that the caller names, or those that a customer fulfils. */
export async function chooseConditions(
  ctx: Ctx,
  row: MessageDetailRow,
  blocks: readonly Block[],
  { user_id, conditions }: Pick<PreviewEmailMessageInput, 'user_id' | 'conditions'>,
): Promise<ReadonlySet<string>> {
  const allConditions = listConditions(blocks)
  if (user_id !== undefined && conditions !== undefined)
    throw invalid(fieldError(['conditions'], 'not_both', 'Send either `user_id` or `conditions`.'))
  if (user_id !== undefined) return evaluateFor(ctx, row, user_id, allConditions)
  if (conditions === undefined) return new Set(allConditions)
  const faults = conditions.flatMap((condition, index) =>
    allConditions.includes(condition)
      ? []
      : [fieldError(['conditions', index], 'does_not_exist', 'No block has this condition.')],
  )
  if (faults.length) throw invalid(...faults)
  return new Set(conditions)
}
