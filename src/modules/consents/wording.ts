import { contentHash } from '../../domain/consents/consent-records.ts'
import { languagesOf, type Wording } from '../../domain/consents/consents.ts'
import { type FieldError, fieldError } from '../../domain/errors.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'

/** The columns of a wording, with its hash. */
export const wordingColumns = async (wording: Wording) => ({ ...wording, content_hash: await contentHash(wording) })

/**
 * A text needs the language that people get when theirs is missing: the default language of the edition. A consent of
 * the organisation needs any language.
 */
export function textFaults(text: TranslatedDict, defaultLanguage: Language | null): FieldError[] {
  const known = languagesOf(text)
  if (defaultLanguage === null ? known.length > 0 : known.includes(defaultLanguage)) return []
  const needed =
    defaultLanguage === null
      ? 'The text is needed in at least one language.'
      : `The text is needed in ${defaultLanguage}, the default language of the edition.`
  return [fieldError(['text'], 'text_missing_default_language', needed)]
}
