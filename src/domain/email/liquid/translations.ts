import { pointerTo } from '../../errors.ts'
import { type Language, languages, type TranslatedDict } from '../../languages.ts'
import { listBlocks, listLiquidFields } from '../blocks/blocks.ts'
import type { MessageDraft } from '../check.ts'
import { pickLanguage, type TextReader, buildReader } from '../messages/phrases.ts'

interface Text {
  path: readonly (string | number)[]
  value: TranslatedDict
}

const isIn = ({ value }: Text, language: Language): boolean => Boolean(value[language]?.trim())

/** The texts of a message that exist in any language. */
const writtenTexts = (draft: MessageDraft): Text[] =>
  [
    { path: ['subject'], value: draft.subject ?? {} },
    ...listBlocks(draft.blocks ?? []).flatMap(({ block, path }) =>
      listLiquidFields(block).flatMap(({ name, value }) =>
        typeof value === 'string' ? [] : [{ path: [...path, 'data', name], value }],
      ),
    ),
  ].filter((text) => languages.some((language) => isIn(text, language)))

/**
 * The one language that a message is read in: the requested one, else the default one, English, any other, the first in
 * which no text is missing. Where each lacks some, the one that lacks the fewest.
 */
export function chooseReader(draft: MessageDraft, asked: Language, defaultLanguage: Language): TextReader {
  const texts = writtenTexts(draft)
  const missing = (language: Language) => texts.filter((text) => !isIn(text, language)).length
  const candidates = [asked, defaultLanguage, 'en' as const, ...languages].map((language) => ({
    language,
    lacks: missing(language),
  }))
  const [best] = candidates.toSorted((a, b) => a.lacks - b.lacks)
  return buildReader(best?.language ?? asked, defaultLanguage)
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
  asked: Language,
  reader: TextReader,
): MissingTranslation[] =>
  writtenTexts(draft)
    .filter((text) => !isIn(text, asked))
    .map(({ path, value }) => ({ pointer: pointerTo(path), language: asked, fallback: pickLanguage(value, reader) }))
