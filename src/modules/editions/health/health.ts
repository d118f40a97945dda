import type { Ctx } from '../../../context.ts'
import { type CheckResult, runChecks, listObstacles } from '../../../domain/editions/health/index.ts'
import { AppError } from '../../../domain/errors.ts'
import type { EditionRow } from '../queries.ts'
import { loadFacts } from './health-facts.ts'
import { presentCheck } from './present-health.ts'

export async function examineEdition<Edition extends EditionRow>(
  ctx: Ctx,
  edition: Edition,
): Promise<{ edition: Edition; results: CheckResult[] }> {
  return { edition, results: runChecks(await loadFacts(ctx, edition)) }
}

/** Throws if the edition, as it would be published, fails a critical check. */
export async function checkPublishable(ctx: Ctx, edition: EditionRow): Promise<void> {
  const failedChecks = listObstacles((await examineEdition(ctx, edition)).results)
  if (failedChecks.length === 0) return
  const count = failedChecks.length === 1 ? '1 critical check fails' : `${failedChecks.length} critical checks fail`
  throw new AppError(
    'edition_not_publishable',
    `This edition cannot be published: ${count}. Fix what \`checks\` lists.`,
    {
      extra: { checks: failedChecks.map((result) => presentCheck(result, edition)) },
    },
  )
}
