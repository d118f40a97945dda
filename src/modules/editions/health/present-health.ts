import type { z } from '@hono/zod-openapi'
import {
  type CheckedEdition,
  type CheckResult,
  getHealthStatus,
  countFailures,
  relateFix,
} from '../../../domain/editions/health/index.ts'
import { maxRelatedObjects } from '../../../domain/errors.ts'
import { type EditionHealthCheck, type EditionHealthcheckResponse } from './health-contract.ts'

/** A check that finds fault with nothing in particular is about the edition. */
const listFaulty = ({ hasPassed, subjects }: CheckResult, { id, full_name }: CheckedEdition) =>
  hasPassed || subjects.length > 0
    ? subjects.filter(({ is_hidden }) => !is_hidden).slice(0, maxRelatedObjects)
    : [{ id, name: full_name, is_hidden: false }]

export function presentCheck(result: CheckResult, edition: CheckedEdition): z.input<typeof EditionHealthCheck> {
  const { check, severity, message, hasPassed } = result
  return {
    category: check.category,
    check_id: check.id,
    severity,
    passed: hasPassed,
    message,
    suggestion: hasPassed ? '' : check.suggestion,
    related_objects: listFaulty(result, edition).map((subject) => relateFix(subject, edition, check.fix)),
  }
}

export function presentHealth(health: {
  edition: CheckedEdition
  results: readonly CheckResult[]
}): z.input<typeof EditionHealthcheckResponse> {
  const summary = countFailures(health.results)
  return {
    edition_id: health.edition.id,
    edition_name: health.edition.full_name,
    status: getHealthStatus(summary),
    can_publish: summary.critical === 0,
    summary,
    checks: health.results.map((result) => presentCheck(result, health.edition)),
  }
}
