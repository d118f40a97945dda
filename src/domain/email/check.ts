import { type FieldError, fieldError, pointerTo } from '../errors.ts'
import { type Language, languages, type TranslatedDict } from '../languages.ts'
import {
  allBlocks,
  type Block,
  type Field,
  fieldsOf,
  maxBlocksInAll,
  maxSubjectLength,
  type PlainBlock,
} from './blocks.ts'
import { check, maxCharactersOfMessage, namesIn, type Parsed, piecesOf } from './liquid.ts'
import { maxStepsOfMessage } from './liquid-bounds.ts'
import { cleanRichText } from './rich-text.ts'
import { isAddress } from './urls.ts'
import { knownNames, nearestName, sampleContext } from './variables.ts'
import { languageFor, type Reader } from './words.ts'

type Path = readonly (string | number)[]

/** One text of a message: in a language, or in all when `language` is null. */
export interface Source {
  path: Path
  language: Language | null
  kind: Field['kind'] | 'subject'
  text: string
}

type Pick = (texts: TranslatedDict) => readonly Language[]

const byLanguage = (path: Path, kind: Source['kind'], texts: TranslatedDict, pick: Pick): Source[] =>
  pick(texts).flatMap((language) => {
    const text = texts[language]
    return text === undefined ? [] : [{ path: [...path, language], language, kind, text }]
  })

export interface Draft {
  subject?: TranslatedDict | undefined
  blocks?: readonly Block[] | undefined
}

function sourcesOf({ subject = {}, blocks = [] }: Draft, pick: Pick = () => languages): Source[] {
  const inBlocks = allBlocks(blocks).flatMap(({ block, path }) =>
    fieldsOf(block).flatMap(({ name, kind, value }): Source[] => {
      const at = [...path, 'data', ...name.split('.')]
      return typeof value === 'string'
        ? [{ path: at, language: null, kind, text: value }]
        : byLanguage(at, kind, value, pick)
    }),
  )
  return [...byLanguage(['subject'], 'subject', subject, pick), ...inBlocks]
}

/** The texts that somebody reads of a message. */
export const sourcesFor = (draft: Draft, reader: Reader): Source[] =>
  sourcesOf(draft, (texts) => [languageFor(texts, reader)].filter((language) => language !== null))

interface Judged {
  errors: FieldError[]
  steps: number
  /** Characters as it is written or as it is read, whichever are more. */
  length: number
  parsed: Parsed[]
}

/** Where nobody has run the Liquid, as in an editor, it must not be taken for a tag. */
const looksLikeMarkup = /<[a-z/!?]/i

function judge({ path, kind, text }: Source, sample: object): Judged {
  const limit = kind === 'subject' ? maxSubjectLength : undefined
  const refused = (code: string, detail: string, place: { line: number; column: number }): Judged => ({
    errors: [{ ...fieldError(path, code, detail), line: place.line, column: place.column }],
    steps: 0,
    length: 0,
    parsed: [],
  })
  const start = { line: 1, column: 1 }
  const checked = check(text, sample, { limit })
  if (!checked.ok) return refused(checked.fault.code, checked.fault.detail, checked.fault)
  if (kind === 'address' && !isAddress(text))
    return refused('invalid_address', 'No address that a link may go to: http, https, mailto or tel.', start)
  if (kind === 'subject' && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
    return refused('invalid_characters', 'A subject is one line.', start)
  if (kind === 'html') {
    if (piecesOf(text).some((piece) => piece.isLiquid && looksLikeMarkup.test(piece.text)))
      return refused('misplaced_liquid', 'Markup stands between Liquid, not inside it.', start)
    const clean = check(cleanRichText(text).html, sample, { limit: Number.POSITIVE_INFINITY })
    if (!clean.ok)
      return refused('misplaced_liquid', 'Liquid tags stand between the tags of HTML, not inside them.', start)
  }
  const { steps, parsed } = checked
  return { errors: [], steps, length: Math.max(text.length, checked.length), parsed }
}

function duplicateIds(blocks: readonly Block[]): FieldError[] {
  const seen = new Set<string>()
  return allBlocks(blocks).flatMap(({ block, path }) => {
    if (block.id === '' || !seen.has(block.id)) {
      seen.add(block.id)
      return []
    }
    return [fieldError([...path, 'id'], 'duplicate', 'Another block has this id.')]
  })
}

/** All that is wrong with the texts, addresses and ids of a message, each with its place. */
export function faultsOf(draft: Draft): FieldError[] {
  const sample = sampleContext()
  const judged = sourcesOf(draft).map((source) => ({ source, ...judge(source, sample) }))
  const errors = [...judged.flatMap((one) => one.errors), ...duplicateIds(draft.blocks ?? [])]
  if (errors.length) return errors
  if (allBlocks(draft.blocks ?? []).length > maxBlocksInAll)
    return [
      fieldError(['blocks'], 'template_too_large', `At most ${maxBlocksInAll} blocks, those in columns included.`),
    ]
  for (const language of languages) {
    const ours = judged.filter(({ source }) => source.language === null || source.language === language)
    const steps = ours.reduce((sum, one) => sum + one.steps, 0)
    const characters = ours.reduce((sum, { length }) => sum + length, 0)
    if (steps > maxStepsOfMessage || characters > maxCharactersOfMessage)
      return [fieldError(['blocks'], 'template_too_large', `The message is too large in ${language}.`)]
  }
  return []
}

export interface UnknownVariable {
  variable: string
  suggestion: string | null
}

const isKnown = (name: string): boolean =>
  knownNames.has(name) || knownNames.has(name.replace(/\.(size|first|last)$/, ''))

/** Names that nothing fills in, of the texts in this language. For a draft without faults. */
export function unknownVariables(draft: Draft, language: Language): UnknownVariable[] {
  const sample = sampleContext()
  const names = sourcesOf(draft)
    .filter((source) => source.language === null || source.language === language)
    .flatMap((source) => {
      const checked = check(source.text, sample)
      return checked.ok ? namesIn(checked.parsed) : []
    })
  return [...new Set(names)]
    .filter((name) => !isKnown(name))
    .map((variable) => ({ variable, suggestion: nearestName(variable) }))
}

export interface MissingTranslation {
  pointer: string
  language: Language
  /** What is read instead; null when nothing is. */
  fallback: Language | null
}

/** Texts that this language lacks, and what stands in for them. A text that nobody has written misses nothing. */
export function missingTranslations(draft: Draft, reader: Reader): MissingTranslation[] {
  const texts = [
    { path: ['subject'] as Path, value: draft.subject ?? {} },
    ...allBlocks(draft.blocks ?? []).flatMap(({ block, path }) =>
      fieldsOf(block).flatMap(({ name, value }) =>
        typeof value === 'string' ? [] : [{ path: [...path, 'data', name], value }],
      ),
    ),
  ]
  return texts.flatMap(({ path, value }) => {
    const isWritten = languages.some((language) => value[language]?.trim())
    if (!isWritten || value[reader.language]?.trim()) return []
    return [{ pointer: pointerTo(path), language: reader.language, fallback: languageFor(value, reader) }]
  })
}

/** The blocks as they are kept: markup cleaned. */
export const cleaned = (blocks: readonly Block[]): Block[] =>
  blocks.map((block) => {
    if (block.type === 'columns') {
      const columns = block.data.columns.map((column) => ({
        ...column,
        blocks: cleaned(column.blocks) as PlainBlock[],
      }))
      return { ...block, data: { ...block.data, columns } }
    }
    if (block.type !== 'rich_text' && block.type !== 'footer') return block
    const texts = Object.entries(block.data.text).map(([language, text]) => [language, cleanRichText(text).html])
    return { ...block, data: { ...block.data, text: Object.fromEntries(texts) } }
  })
