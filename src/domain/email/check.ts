import type { EmailMessageType } from '../messaging/email-messages.ts'
import { type FieldError, fieldError } from '../errors.ts'
import { type Language, languages, type TranslatedDict } from '../languages.ts'
import {
  allBlocks,
  type Block,
  type BlockField,
  fieldsOf,
  maxBlocksInAll,
  maxSubjectLength,
  type PlainBlock,
} from './blocks/blocks.ts'
import { check, type CheckedTemplate, maxCharactersOfMessage, namesIn, piecesOf, read, run } from './liquid/liquid.ts'
import { type TemplateFault, maxSteps } from './liquid/liquid-bounds.ts'
import { cleanRichText, TooDeep } from './blocks/rich-text.ts'
import { isAddress } from './blocks/urls.ts'
import { nearestName } from './liquid/nearest-name.ts'
import { knownNames, sampleContext, withheldFrom, writtenName } from './liquid/variables.ts'
import { languageFor, type TextReader } from './messages/words.ts'

type TextPath = readonly (string | number)[]

/** One text of a message: in a language, or in all when `language` is null. */
export interface TextSource {
  path: TextPath
  language: Language | null
  kind: BlockField['kind'] | 'subject'
  text: string
}

type Pick = (texts: TranslatedDict) => readonly Language[]

const byLanguage = (path: TextPath, kind: TextSource['kind'], texts: TranslatedDict, pick: Pick): TextSource[] =>
  pick(texts).flatMap((language) => {
    const text = texts[language]
    return text === undefined ? [] : [{ path: [...path, language], language, kind, text }]
  })

export interface MessageDraft {
  subject?: TranslatedDict | undefined
  blocks?: readonly Block[] | undefined
}

function sourcesOf({ subject = {}, blocks = [] }: MessageDraft, pick: Pick = () => languages): TextSource[] {
  const inBlocks = allBlocks(blocks).flatMap(({ block, path }) =>
    fieldsOf(block).flatMap(({ name, kind, value }): TextSource[] => {
      const at = [...path, 'data', ...name.split('.')]
      return typeof value === 'string'
        ? [{ path: at, language: null, kind, text: value }]
        : byLanguage(at, kind, value, pick)
    }),
  )
  return [...byLanguage(['subject'], 'subject', subject, pick), ...inBlocks]
}

/** The texts of a message that recipients read. */
export const sourcesFor = (draft: MessageDraft, reader: TextReader): TextSource[] =>
  sourcesOf(draft, (texts) => [languageFor(texts, reader)].filter((language) => language !== null))

interface Refused {
  ok: false
  fault: Omit<TemplateFault, 'code'> & { code: string }
}

interface Judged {
  errors: FieldError[]
  steps: number
  /** The characters of the source or of the rendering, whichever are more. */
  length: number
}

/** An editor does not render Liquid, so Liquid must not look like a tag of HTML there. */
const looksLikeMarkup = /<[a-z/!?]/i

const refused = (code: string, detail: string): Refused => ({
  ok: false,
  fault: { code, detail, line: 1, column: 1 },
})

function cleanedHtml(text: string): string | Refused {
  try {
    return cleanRichText(text).html
  } catch (error) {
    if (error instanceof TooDeep) return refused('template_too_large', error.message)
    throw error
  }
}

/** Markup is run as it will be stored. Where that has a fault, what was written says the place of it. */
function checkHtml(text: string, sample: object): CheckedTemplate | Refused {
  const written = read(text)
  if (!written.ok) return written
  if (piecesOf(text).some((piece) => piece.isLiquid && looksLikeMarkup.test(piece.text)))
    return refused('misplaced_liquid', 'Markup stands between Liquid, not inside it.')
  const html = cleanedHtml(text)
  if (typeof html !== 'string') return html
  const clean = html === text ? written : read(html, Number.POSITIVE_INFINITY)
  const checked = clean.ok ? run(clean, sample) : clean
  if (checked.ok || html === text) return checked
  const whole = run(written, sample)
  if (!whole.ok) return whole
  return checked.fault.code === 'template_too_large'
    ? refused('template_too_large', checked.fault.detail)
    : refused('misplaced_liquid', 'Liquid tags stand between the tags of HTML, not inside them.')
}

function checkPlain({ kind, text }: TextSource, sample: object): CheckedTemplate | Refused {
  const checked = check(text, sample, { limit: kind === 'subject' ? maxSubjectLength : undefined })
  if (!checked.ok) return checked
  if (kind === 'address' && !isAddress(text))
    return refused('invalid_address', 'A link may lead to an http, https, mailto or tel address only.')
  if (kind === 'subject' && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
    return refused('invalid_characters', 'A subject is one line.')
  return checked
}

function judge(source: TextSource, sample: object): Judged {
  const { path, kind, text } = source
  const checked = kind === 'html' ? checkHtml(text, sample) : checkPlain(source, sample)
  if (checked.ok) return { errors: [], steps: checked.steps, length: Math.max(text.length, checked.length) }
  const { code, detail, line, column } = checked.fault
  return { errors: [{ ...fieldError(path, code, detail), line, column }], steps: 0, length: 0 }
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

/** All faults of the texts, addresses and ids of a message, each with its place. */
export function faultsOf(draft: MessageDraft): FieldError[] {
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
    if (steps > maxSteps || characters > maxCharactersOfMessage)
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

/**
 * Names that nothing fills in for messages of this type, of the texts that this reader gets. For a draft without
 * faults.
 */
export function unknownVariables(draft: MessageDraft, reader: TextReader, type: EmailMessageType): UnknownVariable[] {
  const withheld = withheldFrom(type).map(({ category, name }) => `${category}.${name}`)
  const names = sourcesFor(draft, reader).flatMap((source) => {
    const written = read(source.text)
    return written.ok ? namesIn(written.parsed) : []
  })
  const unknown = names.filter((name) => !isKnown(name) || withheld.includes(name)).map(writtenName)
  return [...new Set(unknown)].map((variable) => ({ variable, suggestion: nearestName(variable) }))
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
