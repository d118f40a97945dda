import { contentHash } from '../../domain/consents/consent-records.ts'
import { languagesOf, type Wording } from '../../domain/consents/consents.ts'
import { type FieldError, fieldError } from '../../domain/errors.ts'
import type { Language, TranslatedDict } from '../../domain/languages.ts'
import type { DefinitionRow } from './queries.ts'

/** The columns of a wording; its hash says what it was. */
export async function wordingColumns(wording: Wording) {
  return {
    title: JSON.stringify(wording.title),
    text: JSON.stringify(wording.text),
    link_url: JSON.stringify(wording.link_url),
    legal_basis: wording.legal_basis,
    content_hash: await contentHash(wording),
  }
}

export const wordingOf = (row: Pick<DefinitionRow, 'title' | 'text' | 'link_url' | 'legal_basis'>): Wording => ({
  title: JSON.parse(row.title) as TranslatedDict,
  text: JSON.parse(row.text) as TranslatedDict,
  link_url: JSON.parse(row.link_url) as TranslatedDict,
  legal_basis: row.legal_basis,
})

/** What people are shown when their language is missing: of the whole organisation, any language that exists. */
export function textFaults(text: TranslatedDict, defaultLanguage: Language | null): FieldError[] {
  const known = languagesOf(text)
  if (defaultLanguage === null ? known.length > 0 : known.includes(defaultLanguage)) return []
  const needed =
    defaultLanguage === null
      ? 'The text is needed in at least one language.'
      : `The text is needed in ${defaultLanguage}, the default language of the edition.`
  return [fieldError(['text'], 'text_missing_default_language', needed)]
}
