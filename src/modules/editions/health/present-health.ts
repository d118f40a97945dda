import type { z } from '@hono/zod-openapi'
import { type CheckResult, getHealthStatus, countFailures } from '../../../domain/editions/health/index.ts'
import { type EditionHealthCheck, type EditionHealthcheckResponse, maxRelatedObjects } from './health-contract.ts'

export const presentCheck = ({
  check,
  severity,
  message,
  hasPassed,
  subjects,
}: CheckResult): z.input<typeof EditionHealthCheck> => ({
  category: check.category,
  check_id: check.id,
  severity,
  passed: hasPassed,
  message,
  suggestion: hasPassed ? '' : check.suggestion,
  related_objects: subjects
    .filter(({ is_hidden }) => !is_hidden)
    .slice(0, maxRelatedObjects)
    .map(({ id, name }) => ({ id, name })),
})

export function presentHealth(health: {
  edition: { id: string; full_name: string }
  results: readonly CheckResult[]
}): z.input<typeof EditionHealthcheckResponse> {
  const summary = countFailures(health.results)
  return {
    edition_id: health.edition.id,
    edition_name: health.edition.full_name,
    status: getHealthStatus(summary),
    can_publish: summary.critical === 0,
    summary,
    checks: health.results.map(presentCheck),
  }
}
