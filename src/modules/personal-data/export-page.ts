import { html } from 'hono/html'
import { formatDate } from '../../domain/email/messages/phrases.ts'
import { toBcp47, type Language, languageNames, languages, parseLanguage } from '../../domain/languages.ts'
import type { SectionName } from './export-sections.ts'
import { exportWords } from './export-words.ts'
import type { ExportedRow } from './public-row.ts'

interface ExportPage {
  exportedAt: string
  language: Language
  sections: readonly { name: SectionName; rows: AsyncIterable<ExportedRow> }[]
}

/** Chooses the language that the request asks for, else the customer's, else English. */
export function chooseExportPage({ locale }: { locale: string }, requestedLanguage: Language | undefined) {
  const language = requestedLanguage ?? parseLanguage(locale) ?? 'en'
  return { language, tag: toBcp47(language), title: exportWords[language].title }
}

const zone = 'UTC'
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const formatInstant = (text: string, language: Language): string =>
  `${formatDate(Date.parse(text), language, zone, 'minute')} ${zone}`

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

function renderValue(value: unknown, language: Language) {
  if (typeof value === 'boolean') return value ? exportWords[language].yes : exportWords[language].no
  if (typeof value === 'object') return html`<pre>${JSON.stringify(value, null, 2)}</pre>`
  if (typeof value === 'string') return instant.test(value) ? formatInstant(value, language) : value
  return JSON.stringify(value)
}

function renderRow(row: ExportedRow, language: Language) {
  const labels: Readonly<Record<string, string>> = exportWords[language].fields
  const fields = Object.entries(row).filter(([, value]) => !isEmpty(value))
  return html`<ul class="codes plain">
    ${fields.map(
      ([name, value]) =>
        html`<li><span class="soft">${labels[name] ?? name}</span><span>${renderValue(value, language)}</span></li>`,
    )}
  </ul>`
}

const renderLanguages = (pageLanguage: Language) =>
  html`<p class="soft">
    ${exportWords[pageLanguage].languages}:
    ${languages.map((language) =>
      language === pageLanguage
        ? html`<span>${languageNames[language]}</span> `
        : html`<a lang="${toBcp47(language)}" href="?format=html&amp;language=${language}"
            >${languageNames[language]}</a
          > `,
    )}
  </p>`

/** Writes the content of the page part by part, because a customer may have many rows. Every value is escaped. */
export async function* formatPage({ exportedAt, language, sections }: ExportPage): AsyncGenerator<string, void> {
  const words = exportWords[language]
  yield String(
    await html`<h1>${words.title}</h1>
      <p>${words.intro(formatInstant(exportedAt, language))}</p>
      ${renderLanguages(language)}`,
  )
  for (const { name, rows } of sections) {
    yield String(await html`<h2>${words.sections[name]}</h2>`)
    let isFirst = true
    for await (const row of rows) {
      isFirst = false
      yield String(await renderRow(row, language))
    }
    if (isFirst) yield String(await html`<p class="soft">${words.nothing}</p>`)
  }
}
