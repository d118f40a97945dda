import { countEdits } from '../../../text/nearest.ts'
import type { ColumnStatistics } from '../columns/statistics.ts'
import type { SuggestionReason, ValueMap } from '../mapping.ts'
import type { Alias, AliasRank } from '../targets/alias.ts'
import { aliasesByKey, otherKeys } from '../targets/catalogue.ts'
import { consentTarget, targetFieldOf, type KnownConsent } from '../targets/fields.ts'
import { headerKey, headerWords, withoutBrackets } from '../targets/headers.ts'
import { marketingAliases } from '../targets/item-aliases.ts'
import { arePeople, contradicts, fitOf, paidMap } from './fits.ts'

export interface ImportColumn {
  header: string
  statistics: ColumnStatistics | null
}

export interface Candidate {
  column: number
  target: string
  rank: AliasRank | 'certain'
  confidence: number
  reason: SuggestionReason
  part: 'time' | null
  /** A value map, when the header says more about the values than their target. */
  value_map?: ValueMap
}

export interface CandidateContext {
  consents: readonly KnownConsent[]
  /** The organisation's earlier targets by `headerKey`; null for a header that was left out. */
  history: ReadonlyMap<string, string | null>
}

interface FoundAlias {
  alias: Alias
  confidence: number
  reason: SuggestionReason
}

const shortestNear = 8
const longestNear = 40
const longWord = 5

/** Words that are alike: short ones and numbers are equal, long ones differ by a letter and begin alike. */
function areNear(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false
  let wrong = 0
  for (const [index, word] of one.entries()) {
    const against = other[index] ?? ''
    if (word === against) continue
    const isShort = Math.min(word.length, against.length) < longWord
    if (isShort || word[0] !== against[0] || /\d/.test(word + against) || countEdits(word, against) > 1) return false
    wrong++
  }
  return wrong === 1
}

const aliasWords = [...aliasesByKey.values()].map((alias) => ({ alias, words: headerWords(alias.text) }))

/** The alias that a misspelt header means, where all that are near mean the same target. */
function nearAlias(header: string): Alias | null {
  const words = headerWords(header)
  const { length } = words.join('')
  if (length < shortestNear || length > longestNear) return null
  const near = aliasWords.filter((one) => areNear(words, one.words)).map(({ alias }) => alias)
  return new Set(near.map(({ target }) => target)).size === 1 ? (near[0] ?? null) : null
}

function findAlias(header: string): FoundAlias | null {
  const key = headerKey(header)
  if (key === '' || otherKeys.has(key)) return null
  const alias = aliasesByKey.get(key)
  if (alias) {
    const isSame = header.trim().toLowerCase() === alias.text
    return { alias, confidence: isSame ? 0.95 : 0.92, reason: isSame ? 'alias' : 'normalised' }
  }
  const outer = headerKey(withoutBrackets(header))
  const bracketless = outer === key || otherKeys.has(outer) ? undefined : aliasesByKey.get(outer)
  if (bracketless) return { alias: bracketless, confidence: 0.86, reason: 'normalised' }
  const near = nearAlias(header)
  return near && { alias: near, confidence: 0.8, reason: 'near' }
}

const marketingKeys: ReadonlySet<string> = new Set(marketingAliases.map(headerKey))

function consentCandidate(
  key: string,
  consents: readonly KnownConsent[],
): { target: string; confidence: number } | null {
  const named = consents.filter((consent) => headerKey(consent.key) === key || headerKey(consent.name) === key)
  if (named.length === 1 && named[0]) return { target: consentTarget(named[0].key), confidence: 0.92 }
  const marketing = consents.filter(({ type }) => type === 'marketing')
  const only = marketing.length === 1 && marketingKeys.has(key) ? marketing[0] : undefined
  return only ? { target: consentTarget(only.key), confidence: 0.82 } : null
}

const rankConfidence: Record<AliasRank, number> = { specific: 0, plain: -0.01, indirect: -0.06, vague: -0.14 }

/** The possible targets of a column by its header, unless its values contradict them. */
export function candidateOf(column: ImportColumn, index: number, context: CandidateContext): Candidate | null {
  const key = headerKey(column.header)
  const certain = (target: string, confidence: number, reason: SuggestionReason): Candidate | null =>
    targetFieldOf(target, context.consents)
      ? { column: index, target, rank: 'certain', confidence, reason, part: null }
      : null
  const exact = certain(column.header.trim().toLowerCase(), 1, 'exact')
  if (exact) return exact
  const before = key === '' ? undefined : context.history.get(key)
  if (before === null) return null
  const remembered = before === undefined ? null : targetFieldOf(before, context.consents)
  if (remembered && !contradicts(remembered.type, column.statistics)) return certain(remembered.key, 0.98, 'history')
  const consent = consentCandidate(key, context.consents)
  if (consent)
    return fitOf('boolean', column.statistics) === 'no' ? null : certain(consent.target, consent.confidence, 'alias')
  const found = findAlias(column.header)
  const field = found && targetFieldOf(found.alias.target)
  if (!found || !field) return null
  const { rank, target, part, values } = found.alias
  const value_map = values === 'paid' ? paidMap(column.statistics) : null
  const fit = part === 'time' || value_map ? 'yes' : fitOf(field.type, column.statistics)
  if (values !== undefined && (fit !== 'yes' || !column.statistics)) return null
  if (values === 'people' && column.statistics && !arePeople(column.statistics)) return null
  if (fit === 'no' || (rank === 'vague' && (fit !== 'yes' || found.reason === 'near'))) return null
  const confidence = Math.round((found.confidence + rankConfidence[rank]) * 100) / 100
  const candidate = { column: index, target, rank, confidence, reason: found.reason, part: part ?? null }
  return value_map ? { ...candidate, value_map } : candidate
}
