import { html } from 'hono/html'
import type { LocalWording } from '../../domain/consents/consents.ts'
import { isSafeAddress } from '../../domain/email/blocks/urls.ts'
import { formatDate } from '../../domain/email/messages/phrases.ts'
import { toBcp47, type Language, languageNames, languages } from '../../domain/languages.ts'
import { isDeadAddress } from '../../domain/messaging/suppressions.ts'
import { pageWords, type PageStatus } from './words.ts'

/** The language, title and content of a page. The routes add the frame. */
export interface LinkPage {
  language: string
  title: string
  content: ReturnType<typeof html>
}

/** A consent as the page shows it to the person. */
export interface PageConsent extends LocalWording {
  id: string
  /** Null for a consent of the whole organisation. */
  edition_name: string | null
  wording_version: number
  status: PageStatus
  /** The time at which the answer got this status. */
  since: number | null
  until: number | null
  /** True if the e-mail that asks to confirm the answer waits for the provider. */
  email_waits: boolean
  /** True if the person can change the answer on the page. */
  is_changeable: boolean
}

export interface Preferences {
  language: Language
  organization_name: string
  address: string
  /** Why marketing does not go to the address. */
  suppression: string | null
  consents: readonly PageConsent[]
}

export type FormOutcome = 'saved' | 'unchanged' | 'stale'

const zone = 'UTC'

const buildConsentId = (index: number): string => `consent-${index}`

/**
 * Formats a field of the form that says what the page showed: `<id> <version of the wording> <1 when given, else 0>`.
 */
const formatShownValue = ({ id, wording_version, status }: PageConsent): string =>
  `${id} ${wording_version} ${status === 'given' ? 1 : 0}`

export function parseShownValue(value: string): { id: string; wording_version: number; wasGiven: boolean } | null {
  const [, id = '', version, givenMark] = /^(\w{1,40}) (\d{1,9}) ([01])$/.exec(value) ?? []
  return version === undefined ? null : { id, wording_version: Number(version), wasGiven: givenMark === '1' }
}

function describeStatus({ status, since, until, email_waits }: PageConsent, language: Language): string {
  const words = pageWords[language]
  const formatDay = (at: number | null) => formatDate(at, language, zone, 'day')
  const validity = status === 'given' && until !== null ? ` ${words.until(formatDay(until))}` : ''
  const notice = email_waits ? ` ${words.emailWaits}` : ''
  return words.status[status](formatDay(since)) + validity + notice
}

const renderLines = (text: string) =>
  text
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => html`<p>${line}</p>`)

/** Longer texts are collapsed, so that a page with many consents stays readable. */
const maxOpenLength = 600

export function renderWording({ text, link_url, language: textLanguage }: LocalWording, language: Language) {
  const words = pageWords[language]
  const link = isSafeAddress(link_url)
    ? html`<p><a href="${link_url}" target="_blank" rel="noopener noreferrer nofollow">${words.more}</a></p>`
    : ''
  const fullText = html`<div lang="${toBcp47(textLanguage)}">${renderLines(text)}</div>`
  const collapsedText = html`<details>
    <summary>${words.wording}</summary>
    ${fullText}
  </details>`
  return html`${text.length > maxOpenLength ? collapsedText : fullText}${link}`
}

function renderConsent(consent: PageConsent, index: number, language: Language) {
  const words = pageWords[language]
  const consentLanguage = toBcp47(consent.language)
  const state = html`<small class="soft" id="${buildConsentId(index)}-state"
    >${consent.edition_name === null ? '' : `${consent.edition_name}. `}${describeStatus(consent, language)}</small
  >`
  if (!consent.is_changeable)
    return html`<section class="card" aria-labelledby="${buildConsentId(index)}">
      <h2 id="${buildConsentId(index)}" lang="${consentLanguage}">${consent.title}</h2>
      <p>${state}</p>
      <p class="soft"><small>${words.notChangeable}</small></p>
      ${renderWording(consent, language)}
    </section>`
  const checkedAttribute = consent.status === 'given' ? html` checked` : ''
  return html`<section class="card">
    <label class="choice"
      ><input
        type="checkbox"
        name="given"
        value="${consent.id}"
        aria-describedby="${buildConsentId(index)}-state"
        ${checkedAttribute}
      /><strong lang="${consentLanguage}">${consent.title}</strong></label
    >
    <input type="hidden" name="shown" value="${formatShownValue(consent)}" />
    <p>${state}</p>
    ${renderWording(consent, language)}
  </section>`
}

export const renderLanguageLinks = (language: Language, offeredLanguages: readonly Language[] = languages) =>
  html`<nav class="languages" aria-label="${pageWords[language].languages}">
    ${offeredLanguages.map((one) =>
      one === language
        ? html`<span aria-current="true" lang="${toBcp47(one)}">${languageNames[one]}</span>`
        : html`<a href="?language=${one}" lang="${toBcp47(one)}" hreflang="${toBcp47(one)}">${languageNames[one]}</a>`,
    )}
  </nav>`

function renderSuppressionNotice({ suppression, address, language }: Preferences) {
  if (suppression === null) return ''
  const words = pageWords[language]
  const isFinal = isDeadAddress(suppression) || suppression === 'complaint'
  return html`<p class="notice">${isFinal ? words.unreachable(address) : words.unsubscribedNotice(address)}</p>`
}

function renderOutcomeNotice(outcome: FormOutcome | undefined, language: Language) {
  if (!outcome) return ''
  return html`<p class="notice" role="${outcome === 'stale' ? 'alert' : 'status'}">${pageWords[language][outcome]}</p>`
}

/** Renders a form with all consents that the person has given or can give. */
export function renderPreferencesPage(preferences: Preferences, outcome?: FormOutcome): LinkPage {
  const { language, organization_name, address, consents } = preferences
  const words = pageWords[language]
  const cards = consents.map((consent, index) => renderConsent(consent, index, language))
  const save = consents.some(({ is_changeable }) => is_changeable) ? html`<button>${words.save}</button>` : ''
  const content = html`<h1>${words.title}</h1>
    ${renderOutcomeNotice(outcome, language)}
    <p>${words.intro(organization_name, address)}</p>
    ${renderSuppressionNotice(preferences)}
    ${consents.length ? html`<form method="post">${cards}${save}</form>` : html`<p>${words.noConsents}</p>`}
    <p class="soft"><small>${words.otherMessages}</small></p>
    ${renderLanguageLinks(language)}`
  return { language: toBcp47(language), title: words.title, content }
}

export interface ConfirmationContent {
  language: Language
  organization_name: string
  consents: readonly LocalWording[]
  is_confirmed: boolean
  /** The link to the page with all consents. Null: the person has no such page yet. */
  preferences: string | null
}

/** Renders the page on which the person confirms answers. */
export function renderConfirmationPage({
  language,
  organization_name,
  consents,
  is_confirmed,
  preferences,
}: ConfirmationContent): LinkPage {
  const words = pageWords[language]
  const content = html`<h1>${words.confirmTitle}</h1>
    ${
      is_confirmed
        ? html`<p class="notice" role="status">${words.confirmedNotice(organization_name)}</p>`
        : html`<p>${words.confirmIntro(organization_name)}</p>`
    }
    ${consents.map(
      (consent) =>
        html`<section class="card">
          <h2 lang="${toBcp47(consent.language)}">${consent.title}</h2>
          ${renderWording(consent, language)}
        </section>`,
    )}
    ${is_confirmed ? '' : html`<form method="post"><button name="confirm" value="1">${words.confirm}</button></form>`}
    ${preferences === null ? '' : html`<p><a href="${preferences}">${words.allConsents}</a></p>`}
    ${renderLanguageLinks(language)}`
  return { language: toBcp47(language), title: words.confirmTitle, content }
}

/** Renders the page of every invalid link. */
export const renderInvalidLinkPage = (): LinkPage => ({
  language: 'en',
  title: 'Not found',
  content: html`<h1>Not found</h1>
    <p>This link is incomplete or has expired, or it never existed.</p>`,
})
