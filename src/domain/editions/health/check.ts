import type { Language, TranslatedDict } from '../../languages.ts'
import type { EditionFacts, FactSubject } from './facts.ts'

export const severities = ['critical', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

interface Rule {
  id: string
  /** Failed critical checks keep an edition from being published. */
  severity: Severity
  /** The text for a passed check. */
  rule: string
  /** The text for a failed check. */
  message: string
  suggestion: string
  /** True, or the faulty things, when the check fails. */
  fails: (facts: EditionFacts) => boolean | readonly FactSubject[]
}

export interface Check extends Rule {
  category: string
}

export const defineChecks = (category: string, rules: readonly Rule[]): Check[] =>
  rules.map((rule) => ({ ...rule, category, id: `${category}.${rule.id}` }))

/** True when one of the languages has no text. */
export const lacksText = (texts: TranslatedDict, languages: readonly Language[]): boolean =>
  languages.some((language) => !texts[language]?.trim())
