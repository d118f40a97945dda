import { pointerTo } from '../../errors.ts'
import { type Language, languages, type TranslatedDict } from '../../languages.ts'
import { listBlocks, listLiquidFields } from '../blocks/blocks.ts'
import type { MessageDraft } from '../check.ts'
import { pickLanguage, type TextReader, buildReader } from '../messages/phrases.ts'

/** A text in several languages. */
interface TranslatedText {
  path: readonly (string | number)[]
  value: TranslatedDict
  /** Null for the subject and the preheader. */
  block_id: string | null
  field: string
}

const hasText = ({ value }: TranslatedText, language: Language): boolean => Boolean(value[language]?.trim())

/** The texts of a message that exist in any language. */
const listTexts = (draft: MessageDraft): TranslatedText[] =>
  [
    { path: ['subject'], value: draft.subject ?? {}, block_id: null, field: 'subject' },
    { path: ['preheader'], value: draft.preheader ?? {}, block_id: null, field: 'preheader' },
    ...listBlocks(draft.blocks ?? []).flatMap(({ block, path }) =>
      listLiquidFields(block).flatMap(({ name, value }) =>
        typeof value === 'string' ? [] : [{ path: [...path, 'data', name], value, block_id: block.id, field: name }],
      ),
    ),
  ].filter((text) => languages.some((language) => hasText(text, language)))

/**
 * Chooses the one language in which a message is read: the first of the requested language, the default language,
 * English and the others in which no text is missing. When every language lacks texts, it is the one that lacks the
 * fewest.
 */
export function chooseReader(draft: MessageDraft, language: Language, defaultLanguage: Language): TextReader {
  const texts = listTexts(draft)
  const countMissing = (candidate: Language) => texts.filter((text) => !hasText(text, candidate)).length
  const candidates = [language, defaultLanguage, 'en' as const, ...languages].map((candidate) => ({
    language: candidate,
    missingCount: countMissing(candidate),
  }))
  const [bestCandidate] = candidates.toSorted((a, b) => a.missingCount - b.missingCount)
  return buildReader(bestCandidate?.language ?? language, defaultLanguage)
}

export interface MissingTranslation {
  pointer: string
  language: Language
  /** The language that replaces it. */
  fallback: Language | null
}

/**
 * Texts that the requested language lacks, and what this reader gets for them. A text without any language is not
 * missing.
 */
export const findMissingTranslations = (
  draft: MessageDraft,
  language: Language,
  reader: TextReader,
): MissingTranslation[] =>
  listTexts(draft)
    .filter((text) => !hasText(text, language))
    .map(({ path, value }) => ({ pointer: pointerTo(path), language, fallback: pickLanguage(value, reader) }))

/** The texts that a language lacks. `null` when it has none at all. */
export function listMissingTexts(draft: MessageDraft, language: Language): TranslatedText[] | null {
  const texts = listTexts(draft)
  const missingTexts = texts.filter((text) => !hasText(text, language))
  return missingTexts.length === texts.length ? null : missingTexts
}
