import { cleanKey } from '../../../text/invisible.ts'
import { areNearWords } from '../../../text/nearest.ts'
import { type ColumnStatistics, getShare } from '../columns/statistics.ts'
import type { SuggestionReason, ValueMap } from '../mapping.ts'
import {
  type Alias,
  loadAliases,
  type AliasRank,
  buildHeaderKey,
  marketingKeys,
  otherKeys,
  removeAddedWords,
  removeBrackets,
  splitHeader,
  splitName,
} from '../targets/aliases.ts'
import { buildConsentTarget, findTargetField, type KnownConsent } from '../targets/fields.ts'
import { areCodes, arePeople, contradicts, checkFit, buildPaidMap } from './fits.ts'

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
  /** Set if the header says more about the values than the target does. */
  value_map?: ValueMap
}

export interface CandidateContext {
  consents: readonly KnownConsent[]
  /** Earlier targets by header key; null for a header that was left out. */
  earlierTargets: ReadonlyMap<string, string | null>
}

interface AliasMatch {
  alias: Alias
  confidence: number
  reason: SuggestionReason
}

/** Spaces, invisible characters and capitals do not count. */
const toExactHeader = (header: string): string => cleanKey(header.trim()).toLowerCase()

const minNearLength = 8
const maxNearLength = 40

const joinInitials = (words: readonly string[]): string => words.map((word) => word[0]).join('')

/** Groups aliases by the first letters of their words. Similar headers have the same ones. */
const groupByInitials = () =>
  Map.groupBy(
    [...loadAliases().byKey.values()].map((alias) => ({ alias, words: splitName(alias.text) })),
    ({ words }) => joinInitials(words),
  )

let aliasesByInitials: ReturnType<typeof groupByInitials> | null = null

/** Finds an alias with a similar spelling. Returns null when such aliases mean different targets. */
function findNearAlias(header: string): Alias | null {
  const words = splitHeader(header)
  const { length } = words.join('')
  if (length < minNearLength || length > maxNearLength) return null
  aliasesByInitials ??= groupByInitials()
  const ofInitials = aliasesByInitials.get(joinInitials(words)) ?? []
  const nearAliases = ofInitials.filter((one) => areNearWords(words, one.words)).map(({ alias }) => alias)
  return new Set(nearAliases.map(({ target }) => target)).size === 1 ? (nearAliases[0] ?? null) : null
}

/** Finds the alias of `Attendee name: First name`: the field of the person whose name stands before the colon. */
function findPathAlias(header: string): Alias | null {
  const colon = Math.max(header.lastIndexOf(':'), header.lastIndexOf('–'))
  const person = loadAliases().byKey.get(buildHeaderKey(header.slice(0, Math.max(0, colon))))
  const field = loadAliases().byKey.get(buildHeaderKey(header.slice(colon + 1)))
  if (!person?.target.endsWith('.full_name') || !field?.target.startsWith('customer.')) return null
  const target = `${person.target.replace(/full_name$/, '')}${field.target.replace('customer.', '')}`
  return { ...person, target }
}

const findKnownAlias = (header: string): Alias | undefined => {
  const key = buildHeaderKey(header)
  return otherKeys.has(key) ? undefined : loadAliases().byKey.get(key)
}

/** Finds the alias of `Phone / Mobile`, whose names all mean the same. */
function findAlternativeAlias(header: string): Alias | undefined {
  const [first, ...others] = header.split('/').map(findKnownAlias)
  const isSame = others.every((one) => one !== undefined && one.target === first?.target && one.part === first.part)
  return others.length > 0 && isSame ? first : undefined
}

/** Finds the alias without words that change nothing, or without brackets. */
function findShorterAlias(header: string): AliasMatch | null {
  const shorterAlias = findKnownAlias(removeAddedWords(header)) ?? findPathAlias(header) ?? findAlternativeAlias(header)
  if (shorterAlias) return { alias: shorterAlias, confidence: 0.9, reason: 'normalised' }
  const bracketless = removeBrackets(header)
  const outerAlias = findKnownAlias(bracketless) ?? findKnownAlias(removeAddedWords(bracketless))
  return outerAlias ? { alias: outerAlias, confidence: 0.86, reason: 'normalised' } : null
}

function findAlias(header: string): AliasMatch | null {
  const key = buildHeaderKey(header)
  if (key === '' || otherKeys.has(key)) return null
  const alias = loadAliases().byKey.get(key)
  if (alias) {
    const isSame = toExactHeader(header) === alias.text
    return { alias, confidence: isSame ? 0.95 : 0.92, reason: isSame ? 'alias' : 'normalised' }
  }
  const shorterAlias = findShorterAlias(header)
  if (shorterAlias) return shorterAlias
  const nearAliases = findNearAlias(header)
  return nearAliases && { alias: nearAliases, confidence: 0.8, reason: 'near' }
}

function findConsent(key: string, consents: readonly KnownConsent[]): { target: string; confidence: number } | null {
  const matches = consents.filter(
    (consent) => buildHeaderKey(consent.key) === key || buildHeaderKey(consent.name) === key,
  )
  if (matches.length === 1 && matches[0]) return { target: buildConsentTarget(matches[0].key), confidence: 0.92 }
  const marketingConsents = consents.filter(({ type }) => type === 'marketing')
  const onlyConsent = marketingConsents.length === 1 && marketingKeys.has(key) ? marketingConsents[0] : undefined
  return onlyConsent ? { target: buildConsentTarget(onlyConsent.key), confidence: 0.82 } : null
}

const rankConfidence: Record<AliasRank, number> = {
  specific: 0,
  usual: 0,
  plain: -0.01,
  indirect: -0.06,
  vague: -0.14,
}

/** Finds the target that the header of a column suggests. Returns null when the values contradict it. */
export function findCandidate(column: ImportColumn, index: number, context: CandidateContext): Candidate | null {
  const key = buildHeaderKey(column.header)
  const buildCertainCandidate = (target: string, confidence: number, reason: SuggestionReason): Candidate | null =>
    findTargetField(target, context.consents)
      ? { column: index, target, rank: 'certain', confidence, reason, part: null }
      : null
  const exactCandidate = buildCertainCandidate(toExactHeader(column.header), 1, 'exact')
  if (exactCandidate) return exactCandidate
  const earlierTarget = key === '' ? undefined : context.earlierTargets.get(key)
  if (earlierTarget === null) return null
  const earlierField = earlierTarget === undefined ? null : findTargetField(earlierTarget, context.consents)
  if (earlierField && !contradicts(earlierField.type, column.statistics))
    return buildCertainCandidate(earlierField.key, 0.98, 'history')
  const consent = findConsent(key, context.consents)
  if (consent)
    return checkFit('boolean', column.statistics) === 'no'
      ? null
      : buildCertainCandidate(consent.target, consent.confidence, 'alias')
  const match = findAlias(column.header)
  const field = match && findTargetField(match.alias.target)
  if (!match || !field) return null
  const { rank, target, values } = match.alias
  // A column called a time may have whole dates.
  const isDate = column.statistics !== null && getShare(column.statistics, 'date') >= 0.8
  const part = isDate ? undefined : match.alias.part
  const value_map = values === 'paid' ? buildPaidMap(column.statistics) : null
  // A vague or similar header means its target only if the cells say so too.
  const isNamed = rank !== 'vague' && match.reason !== 'near' && values === undefined
  const fit = part === 'time' || value_map ? 'yes' : checkFit(field.type, column.statistics, isNamed)
  if (values !== undefined && (fit !== 'yes' || !column.statistics)) return null
  if (values === 'people' && column.statistics && !arePeople(column.statistics)) return null
  const areIds = values === 'codes' || values === 'numbers'
  if (areIds && column.statistics && !areCodes(column.statistics)) return null
  if (values === 'numbers' && column.statistics && getShare(column.statistics, 'phone') > 0.5) return null
  if (fit === 'no' || (rank === 'vague' && (fit !== 'yes' || match.reason === 'near'))) return null
  const confidence = Math.round((match.confidence + rankConfidence[rank]) * 100) / 100
  const candidate = { column: index, target, rank, confidence, reason: match.reason, part: part ?? null }
  return value_map ? { ...candidate, value_map } : candidate
}
