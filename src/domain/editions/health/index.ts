import { type Check, severities, type Severity } from './check.ts'
import { checks } from './checks.ts'
import type { EditionFacts, FactSubject } from './facts.ts'

export { type CheckedEdition, type RelatedObject, relateFix } from './fixes.ts'
export { checks, severities, type Severity }
export type { EditionFacts }

export const healthStatuses = ['healthy', 'warning', 'critical'] as const
export type HealthStatus = (typeof healthStatuses)[number]

export interface CheckResult {
  check: Check
  severity: Severity
  /** The rule of a passed check, or the fault. */
  message: string
  hasPassed: boolean
  subjects: readonly FactSubject[]
}

export function runChecks(facts: EditionFacts): CheckResult[] {
  return checks.map((check) => {
    const fault = check.fails(facts)
    const subjects = typeof fault === 'boolean' ? [] : fault
    const severity = check.isCritical?.(facts) ? 'critical' : check.severity
    const hasPassed = fault === false || (fault !== true && subjects.length === 0)
    return {
      check,
      severity,
      hasPassed,
      message: hasPassed ? check.rule : (check.explain?.(facts) ?? check.message),
      subjects,
    }
  })
}

/** The number of failed checks of each severity. */
export const countFailures = (results: readonly CheckResult[]): Record<Severity, number> => {
  const failures = results.filter(({ hasPassed }) => !hasPassed)
  const count = (severity: Severity) => failures.filter((result) => result.severity === severity).length
  return { critical: count('critical'), warning: count('warning'), info: count('info') }
}

/** The status by the most severe failed check. Checks of severity `info` do not count. */
export function getHealthStatus({ critical, warning }: Record<Severity, number>): HealthStatus {
  if (critical) return 'critical'
  return warning ? 'warning' : 'healthy'
}

/** The failed checks that prevent publishing. */
export const listObstacles = (results: readonly CheckResult[]): CheckResult[] =>
  results.filter(({ severity, hasPassed }) => !hasPassed && severity === 'critical')
