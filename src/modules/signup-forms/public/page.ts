import { html } from 'hono/html'
import { chooseWording } from '../../../domain/consents/consents.ts'
import { type Language, toBcp47 } from '../../../domain/languages.ts'
import { type LinkPage, renderLanguageLinks, renderWording } from '../../consent-pages/index.ts'
import type { FormConsent, PublicForm } from './form.ts'
import { requiredMark, signupWords } from './words.ts'

/** What a visitor has typed and chosen, for a page that shows it again. */
export interface SignupEntries {
  email: string
  consentIds: readonly string[]
}

/** People do not see this field. Robots fill it, and nothing is stored then. */
export const trapField = 'homepage'

const getTitle = ({ title }: PublicForm, language: Language): string =>
  title[language]?.trim() || signupWords[language].title

const renderLines = (text: string) =>
  text
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => html`<p>${line}</p>`)

function renderConsent(form: PublicForm, consent: FormConsent, language: Language, entries: SignupEntries | undefined) {
  const wording = chooseWording(consent, language, form.languages[0] ?? 'en')
  const checkedAttribute = entries?.consentIds.includes(consent.id) ? html` checked` : ''
  const requiredAttribute = consent.is_required ? html` required` : ''
  const mark = consent.is_required ? html` <span class="soft">(${requiredMark[language]})</span>` : ''
  return html`<section class="card">
    <label class="choice"
      ><input type="checkbox" name="consent" value="${consent.id}" ${checkedAttribute}${requiredAttribute} /><span
        ><strong lang="${toBcp47(wording.language)}">${wording.title}</strong>${mark}</span
      ></label
    >
    ${renderWording(wording, language)}
  </section>`
}

interface SignupPage {
  entries?: SignupEntries
  /** What is wrong with the form that was sent. */
  notice?: string
}

/** Renders the form. With `notice` it shows what was sent again. */
export function renderSignupPage(form: PublicForm, language: Language, { entries, notice }: SignupPage = {}): LinkPage {
  const words = signupWords[language]
  const title = getTitle(form, language)
  const content = html`<h1>${title}</h1>
    ${notice === undefined ? '' : html`<p class="notice" role="alert">${notice}</p>`}
    ${renderLines(form.text[language] ?? '')}
    <form method="post" action="?language=${language}">
      <label class="field"
        >${words.email}<input
          type="email"
          name="email"
          value="${entries?.email ?? ''}"
          autocomplete="email"
          maxlength="254"
          required
      /></label>
      <p>${words.intro(form.organization_name)}</p>
      ${form.consents.map((consent) => renderConsent(form, consent, language, entries))}
      <div class="trap" aria-hidden="true">
        <input name="${trapField}" aria-label="${words.trap}" tabindex="-1" autocomplete="off" />
      </div>
      <p class="soft"><small>${words.next}</small></p>
      <button>${words.send}</button>
    </form>
    ${form.languages.length > 1 ? renderLanguageLinks(language, form.languages) : ''}`
  return { language: toBcp47(language), title, content }
}

/** Renders the page after every request. It does not depend on the address. */
export function renderSentPage(language: Language): LinkPage {
  const words = signupWords[language]
  const content = html`<h1>${words.sentTitle}</h1>
    <p class="notice" role="status">${words.sent}</p>
    <p>${words.noMail}</p>
    <p><a href="?language=${language}">${words.back}</a></p>`
  return { language: toBcp47(language), title: words.sentTitle, content }
}

/** Renders the page of a form that accepts no requests. */
export function renderClosedPage(form: PublicForm, language: Language): LinkPage {
  const title = getTitle(form, language)
  const content = html`<h1>${title}</h1>
    <p class="notice" role="alert">${signupWords[language].closed}</p>`
  return { language: toBcp47(language), title, content }
}

export {
  type LinkPage,
  parsePageLanguage,
  renderConfirmationPage,
  renderInvalidLinkPage,
} from '../../consent-pages/index.ts'
