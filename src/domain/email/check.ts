import { type FieldError, fieldError } from '../errors.ts'
import { type Language, languages, type TranslatedDict } from '../languages.ts'
import {
  listBlocks,
  type Block,
  type BlockField,
  listLiquidFields,
  maxNestedBlocks,
  maxPreheaderLength,
  maxSubjectLength,
  type PlainBlock,
} from './blocks/blocks.ts'
import { cleanRichText, type RichText, TooDeep } from './blocks/rich-text.ts'
import { isAddress } from './blocks/urls.ts'
import { type TemplateFault, maxSteps } from './liquid/liquid-bounds.ts'
import {
  checkTemplate,
  type CheckedTemplate,
  maxSampleLength,
  readTemplate,
  renderSample,
  splitLiquid,
} from './liquid/liquid.ts'
import { buildSampleContext } from './liquid/variables.ts'
import { pickLanguage, type TextReader } from './messages/phrases.ts'

type TextPath = readonly (string | number)[]

/** The texts of a message that are one line. */
type Line = 'subject' | 'preheader'

/** One text of a message: in a language, or in all when `language` is null. */
export interface TextSource {
  path: TextPath
  language: Language | null
  kind: BlockField['kind'] | Line
  text: string
  /** True for a text of a block that not everyone sees. */
  is_conditional: boolean
}

type PickLanguages = (texts: TranslatedDict) => readonly Language[]

const splitByLanguage = (
  source: Pick<TextSource, 'path' | 'kind' | 'is_conditional'>,
  texts: TranslatedDict,
  pick: PickLanguages,
): TextSource[] =>
  pick(texts).flatMap((language) => {
    const text = texts[language]
    return text === undefined ? [] : [{ ...source, path: [...source.path, language], language, text }]
  })

const splitLine = (kind: Line, texts: TranslatedDict, pick: PickLanguages): TextSource[] =>
  splitByLanguage({ path: [kind], kind, is_conditional: false }, texts, pick)

export interface MessageDraft {
  subject?: TranslatedDict | undefined
  preheader?: TranslatedDict | undefined
  blocks?: readonly Block[] | undefined
}

function listTexts(draft: MessageDraft, pick: PickLanguages = () => languages): TextSource[] {
  const { subject = {}, preheader = {}, blocks = [] } = draft
  const blockTexts = listBlocks(blocks).flatMap(({ block, path, is_conditional }) =>
    listLiquidFields(block).flatMap(({ name, kind, value }): TextSource[] => {
      const source = { path: [...path, 'data', ...name.split('.')], kind, is_conditional }
      return typeof value === 'string'
        ? [{ ...source, language: null, text: value }]
        : splitByLanguage(source, value, pick)
    }),
  )
  return [...splitLine('subject', subject, pick), ...splitLine('preheader', preheader, pick), ...blockTexts]
}

/** The texts that a recipient reads, each in one language. */
export const listTextsFor = (draft: MessageDraft, reader: TextReader): TextSource[] =>
  listTexts(draft, (texts) => [pickLanguage(texts, reader)].filter((language) => language !== null))

interface RefusedText {
  ok: false
  fault: Omit<TemplateFault, 'code'> & { code: string }
}

interface TextCheck {
  errors: FieldError[]
  steps: number
  /** The length of the source or of the rendering, whichever is larger. */
  length: number
}

/** Editors show Liquid as text, so Liquid must not look like HTML. */
const looksLikeMarkup = /<[a-z/!?]/i

/** Refuses a text because of the part at `index`. */
function refuseText(code: string, detail: string, text = '', index = 0): RefusedText {
  const lines = text.slice(0, Math.max(0, index)).split('\n')
  return { ok: false, fault: { code, detail, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 } }
}

const maxShownAddress = 100
const allowedAddresses = 'Links can only use http, https, mailto and tel addresses.'

const refuseAddress = (text: string, address: string): RefusedText =>
  refuseText(
    'invalid_address',
    `\`${address.slice(0, maxShownAddress)}\` cannot be kept. ${allowedAddresses}`,
    text,
    text.indexOf(address),
  )

function cleanHtml(text: string): RichText | RefusedText {
  try {
    return cleanRichText(text)
  } catch (error) {
    if (error instanceof TooDeep) return refuseText('template_too_large', error.message)
    throw error
  }
}

/** Renders the markup as it will be stored. A fault is located in the text that the editor wrote. */
function checkHtml(text: string, sample: object): CheckedTemplate | RefusedText {
  const template = readTemplate(text)
  if (!template.ok) return template
  if (splitLiquid(text).some((piece) => piece.isLiquid && looksLikeMarkup.test(piece.text)))
    return refuseText('misplaced_liquid', 'HTML tags cannot stand inside Liquid.')
  const cleanText = cleanHtml(text)
  if ('fault' in cleanText) return cleanText
  const { html, refusedAddresses } = cleanText
  const storedTemplate = html === text ? template : readTemplate(html, Number.POSITIVE_INFINITY)
  const checkResult = storedTemplate.ok ? renderSample(storedTemplate, sample) : storedTemplate
  const [address] = refusedAddresses
  if (checkResult.ok && address !== undefined) return refuseAddress(text, address)
  if (checkResult.ok || html === text) return checkResult
  const draftCheck = renderSample(template, sample)
  if (!draftCheck.ok) return draftCheck
  return checkResult.fault.code === 'template_too_large'
    ? refuseText('template_too_large', checkResult.fault.detail)
    : refuseText('misplaced_liquid', 'Liquid tags cannot stand inside HTML tags.')
}

const maxLineLengths: Partial<Record<TextSource['kind'], number>> = {
  subject: maxSubjectLength,
  preheader: maxPreheaderLength,
}

function checkPlain({ kind, text }: TextSource, sample: object): CheckedTemplate | RefusedText {
  const maxLength = maxLineLengths[kind]
  const checkResult = checkTemplate(text, sample, { maxLength })
  if (!checkResult.ok) return checkResult
  if (kind === 'address' && !isAddress(text)) return refuseText('invalid_address', allowedAddresses)
  if (maxLength !== undefined && /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text))
    return refuseText('invalid_characters', `The ${kind} must be one line.`)
  return checkResult
}

function checkText(source: TextSource, sample: object): TextCheck {
  const { path, kind, text } = source
  const checkResult = kind === 'html' ? checkHtml(text, sample) : checkPlain(source, sample)
  if (checkResult.ok) return { errors: [], steps: checkResult.steps, length: Math.max(text.length, checkResult.length) }
  const { code, detail, line, column } = checkResult.fault
  return { errors: [{ ...fieldError(path, code, detail), line, column }], steps: 0, length: 0 }
}

function findDuplicateIds(blocks: readonly Block[]): FieldError[] {
  const ids = new Set<string>()
  return listBlocks(blocks).flatMap(({ block, path }) => {
    if (block.id === '' || !ids.has(block.id)) {
      ids.add(block.id)
      return []
    }
    return [fieldError([...path, 'id'], 'duplicate', 'Another block has this id.')]
  })
}

/** Every fault in the texts, addresses and ids of a message, with its place. */
export function findMessageFaults(draft: MessageDraft): FieldError[] {
  const sample = buildSampleContext()
  const checks = listTexts(draft).map((source) => ({ source, ...checkText(source, sample) }))
  const errors = [...checks.flatMap((check) => check.errors), ...findDuplicateIds(draft.blocks ?? [])]
  if (errors.length) return errors
  if (listBlocks(draft.blocks ?? []).length > maxNestedBlocks)
    return [
      fieldError(['blocks'], 'template_too_large', `At most ${maxNestedBlocks} blocks, including those in columns.`),
    ]
  for (const language of languages) {
    const texts = checks.filter(({ source }) => source.language === null || source.language === language)
    const steps = texts.reduce((sum, text) => sum + text.steps, 0)
    const characters = texts.reduce((sum, { length }) => sum + length, 0)
    if (steps > maxSteps || characters > maxSampleLength)
      return [fieldError(['blocks'], 'template_too_large', `The message is too large in ${language}.`)]
  }
  return []
}

/** Blocks with cleaned markup, as they are stored. */
export const cleanBlocks = (blocks: readonly Block[]): Block[] =>
  blocks.map((block) => {
    if (block.type === 'columns') {
      const columns = block.data.columns.map((column) => ({
        ...column,
        blocks: cleanBlocks(column.blocks) as PlainBlock[],
      }))
      return { ...block, data: { ...block.data, columns } }
    }
    if (block.type !== 'rich_text' && block.type !== 'footer') return block
    const texts = Object.entries(block.data.text).map(([language, text]) => [language, cleanRichText(text).html])
    return { ...block, data: { ...block.data, text: Object.fromEntries(texts) } }
  })
