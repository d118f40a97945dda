import { type Check, severities, type Severity, communication, imports, integrations, payments, tax, fulfilment, products, basics, schedule, branding, consents, localization } from './checks.ts'
import type { EditionFacts, FactSubject } from './facts.ts'

export { type Check, severities, type Severity }
export type { EditionFacts }

/** All checks in the order of the answer. */
export const checks: readonly Check[] = [
  ...basics,
  ...schedule,
  ...localization,
  ...payments,
  ...tax,
  ...products,
  ...fulfilment,
  ...communication,
  ...consents,
  ...branding,
  ...integrations,
  ...imports,
]

export const healthStatuses = ['healthy', 'warning', 'critical'] as const
export type HealthStatus = (typeof healthStatuses)[number]

export interface CheckResult {
  check: Check
  passed: boolean
  related: readonly FactSubject[]
}

export function runChecks(facts: EditionFacts): CheckResult[] {
  return checks.map((check) => {
    const fault = check.fails(facts)
    const related = typeof fault === 'boolean' ? [] : fault
    return { check, passed: fault === false || (fault !== true && related.length === 0), related }
  })
}

/** The number of failed checks of each severity. */
export const countFailures = (results: readonly CheckResult[]): Record<Severity, number> => {
  const failed = results.filter(({ passed }) => !passed)
  const count = (severity: Severity) => failed.filter(({ check }) => check.severity === severity).length
  return { critical: count('critical'), warning: count('warning'), info: count('info') }
}

/** The most severe failed check; informative checks do not count. */
export function getHealthStatus({ critical, warning }: Record<Severity, number>): HealthStatus {
  if (critical) return 'critical'
  return warning ? 'warning' : 'healthy'
}

/** The failed checks that prevent publishing. */
export const listObstacles = (results: readonly CheckResult[]): CheckResult[] =>
  results.filter(({ check, passed }) => !passed && check.severity === 'critical')
