import { html } from 'hono/html'
import { dateText } from '../../domain/email/messages/dates.ts'
import { isSafeAddress } from '../../domain/email/blocks/urls.ts'
import { toBcp47, type Language, languages } from '../../domain/languages.ts'
import { isDeadAddress } from '../../domain/messaging/suppressions.ts'
import { ownNames, pageWords, type ShownStatus } from './words.ts'

/** A page as language, title and content. The routes add the frame. */
export interface LinkPage {
  language: string
  title: string
  content: ReturnType<typeof html>
}

/** A consent as the person sees it. */
export interface ShownConsent {
  id: string
  /** Null for a consent of the whole organisation. */
  edition_name: string | null
  /** The version of the shown wording. */
  wording_version: number
  title: string
  text: string
  link_url: string
  /** The language that title and text are in. */
  language: Language
  status: ShownStatus
  /** When the answer got this status. */
  since: number | null
  until: number | null
  /** Whether the person can change it here. */
  is_open: boolean
}

export interface Preferences {
  language: Language
  organization_name: string
  address: string
  /** Why marketing does not go to the address. */
  suppression: string | null
  consents: readonly ShownConsent[]
}

export type FormOutcome = 'saved' | 'unchanged' | 'stale'

const zone = 'UTC'

const titleId = (index: number): string => `consent-${index}`

/** A consent as the page showed it, in a field of the form: `<id> <version of the wording> <1 where it was given>`. */
const shownValue = ({ id, wording_version, status }: ShownConsent): string =>
  `${id} ${wording_version} ${status === 'given' ? 1 : 0}`

export function shownIn(value: string): { id: string; wording_version: number; wasGiven: boolean } | null {
  const [, id = '', version, given] = /^(\w{1,40}) (\d{1,9}) ([01])$/.exec(value) ?? []
  return version === undefined ? null : { id, wording_version: Number(version), wasGiven: given === '1' }
}

function statusText({ status, since, until }: ShownConsent, language: Language): string {
  const words = pageWords[language]
  const day = (at: number | null) => dateText(at, language, zone, 'day')
  const ends = status === 'given' && until !== null ? ` ${words.until(day(until))}` : ''
  return words.status[status](day(since)) + ends
}

const lines = (text: string) =>
  text
    .split(/\n+/)
    .filter((line) => line.trim())
    .map((line) => html`<p>${line}</p>`)

/** Longer texts are collapsed, so that a page with many consents stays readable. */
const maxOpenLength = 600

function wordingOf(
  { text, link_url, language: own }: Pick<ShownConsent, 'text' | 'link_url' | 'language'>,
  language: Language,
) {
  const words = pageWords[language]
  const link = isSafeAddress(link_url)
    ? html`<p><a href="${link_url}" rel="noopener noreferrer nofollow">${words.more}</a></p>`
    : ''
  const whole = html`<div lang="${toBcp47(own)}">${lines(text)}</div>`
  const folded = html`<details>
    <summary>${words.wording}</summary>
    ${whole}
  </details>`
  return html`${text.length > maxOpenLength ? folded : whole}${link}`
}

function consentCard(consent: ShownConsent, index: number, language: Language) {
  const words = pageWords[language]
  const own = toBcp47(consent.language)
  const stands = html`<small class="soft" id="${titleId(index)}-state"
    >${consent.edition_name === null ? '' : `${consent.edition_name}. `}${statusText(consent, language)}</small
  >`
  if (!consent.is_open)
    return html`<section class="card" aria-labelledby="${titleId(index)}">
      <h2 id="${titleId(index)}" lang="${own}">${consent.title}</h2>
      <p>${stands}</p>
      <p class="soft"><small>${words.fixed}</small></p>
      ${wordingOf(consent, language)}
    </section>`
  const checked = consent.status === 'given' ? html` checked` : ''
  return html`<section class="card">
    <label class="choice"
      ><input
        type="checkbox"
        name="given"
        value="${consent.id}"
        aria-describedby="${titleId(index)}-state"
        ${checked}
      /><strong lang="${own}">${consent.title}</strong></label
    >
    <input type="hidden" name="shown" value="${shownValue(consent)}" />
    <p>${stands}</p>
    ${wordingOf(consent, language)}
  </section>`
}

const languageLinks = (language: Language) =>
  html`<nav class="languages" aria-label="${pageWords[language].languages}">
    ${languages.map((one) =>
      one === language
        ? html`<span aria-current="true" lang="${toBcp47(one)}">${ownNames[one]}</span>`
        : html`<a href="?language=${one}" lang="${toBcp47(one)}" hreflang="${toBcp47(one)}">${ownNames[one]}</a>`,
    )}
  </nav>`

function suppressionNotice({ suppression, address, language }: Preferences) {
  if (suppression === null) return ''
  const words = pageWords[language]
  const isFinal = isDeadAddress(suppression) || suppression === 'complaint'
  return html`<p class="notice">${isFinal ? words.unreachable(address) : words.unsubscribed(address)}</p>`
}

function outcomeNotice(outcome: FormOutcome | undefined, language: Language) {
  if (!outcome) return ''
  return html`<p class="notice" role="${outcome === 'stale' ? 'alert' : 'status'}">${pageWords[language][outcome]}</p>`
}

/** All consents that a person has given or can give, in one form. */
export function preferencesPage(preferences: Preferences, outcome?: FormOutcome): LinkPage {
  const { language, organization_name, address, consents } = preferences
  const words = pageWords[language]
  const cards = consents.map((consent, index) => consentCard(consent, index, language))
  const save = consents.some(({ is_open }) => is_open) ? html`<button>${words.save}</button>` : ''
  const content = html`<h1>${words.title}</h1>
    ${outcomeNotice(outcome, language)}
    <p>${words.intro(organization_name, address)}</p>
    ${suppressionNotice(preferences)}
    ${consents.length ? html`<form method="post">${cards}${save}</form>` : html`<p>${words.nothing}</p>`}
    <p class="soft"><small>${words.stays}</small></p>
    ${languageLinks(language)}`
  return { language: toBcp47(language), title: words.title, content }
}

export interface Confirmable {
  language: Language
  organization_name: string
  consent: Pick<ShownConsent, 'title' | 'text' | 'link_url' | 'language'>
  is_confirmed: boolean
  /** The link to the page with all consents. */
  preferences: string
}

/** One answer that the person has yet to confirm. */
export function confirmationPage({
  language,
  organization_name,
  consent,
  is_confirmed,
  preferences,
}: Confirmable): LinkPage {
  const words = pageWords[language]
  const content = html`<h1>${words.confirmTitle}</h1>
    ${
      is_confirmed
        ? html`<p class="notice" role="status">${words.confirmed(organization_name)}</p>`
        : html`<p>${words.confirmIntro(organization_name)}</p>`
    }
    <section class="card">
      <h2 lang="${toBcp47(consent.language)}">${consent.title}</h2>
      ${wordingOf(consent, language)}
    </section>
    ${is_confirmed ? '' : html`<form method="post"><button name="confirm" value="1">${words.confirm}</button></form>`}
    <p><a href="${preferences}">${words.all}</a></p>
    ${languageLinks(language)}`
  return { language: toBcp47(language), title: words.confirmTitle, content }
}

/** The same page for every invalid link. */
export const unknownPage = (): LinkPage => ({
  language: 'en',
  title: 'Not found',
  content: html`<h1>Not found</h1>
    <p>This link is not complete, it is too old, or it was never made.</p>`,
})
