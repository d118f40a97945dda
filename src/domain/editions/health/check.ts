import type { Language, TranslatedDict } from '../../languages.ts'
import type { EditionFacts, FactSubject } from './facts.ts'
import type { FixOperation } from './fixes.ts'

export const severities = ['critical', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

interface Rule {
  id: string
  /** The operation that fixes what the check finds. Null: no operation does; `suggestion` says what to do. */
  fix: FixOperation | null
  /** A failed critical check prevents publishing. */
  severity: Severity
  /** True if a failure is critical for this edition, whatever `severity` says. */
  isCritical?: (facts: EditionFacts) => boolean
  /** The message of a passed check. */
  rule: string
  /** The message of a failed check. */
  message: string
  /** Replaces `message` where the facts say more. */
  explain?: (facts: EditionFacts) => string
  suggestion: string
  /** True if the check fails, or a list of what is at fault. */
  fails: (facts: EditionFacts) => boolean | readonly FactSubject[]
}

export interface Check extends Rule {
  category: string
}

export const defineChecks = (category: string, rules: readonly Rule[]): Check[] =>
  rules.map((rule) => ({ ...rule, category, id: `${category}.${rule.id}` }))

/** True if a language has no text. */
export const lacksText = (texts: TranslatedDict, languages: readonly Language[]): boolean =>
  languages.some((language) => !texts[language]?.trim())
