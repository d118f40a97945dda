import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { languages } from '../../src/domain/languages.ts'
import { formPage } from '../../src/http/pages/html-page.ts'
import {
  renderConfirmationPage,
  type LinkPage,
  type Preferences,
  renderPreferencesPage,
  type PageConsent,
  renderInvalidLinkPage,
} from '../../src/modules/consent-pages/page.ts'
import { renderClosedPage, renderSentPage, renderSignupPage } from '../../src/modules/signup-forms/public/page.ts'
import { signupWords } from '../../src/modules/signup-forms/public/words.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { aPublicForm } from '../support/public-form.ts'
import { look } from '../support/screens.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.stop())

const at = Date.parse('2026-06-01T12:00:00Z')
const long =
  'A wording with Averylongwordthatdoesnotendaverylongwordthatdoesnotend in it.\n\nAnd a second paragraph of it.'
const consent = (id: string, more: Partial<PageConsent> = {}): PageConsent => ({
  id: `con_${id}`,
  edition_name: null,
  wording_version: 1,
  title: `The consent ${id} of the festival of the north`,
  text: long,
  link_url: 'https://example.com/privacy',
  language: 'en',
  status: 'none',
  since: at,
  until: null,
  email_waits: false,
  is_changeable: true,
  ...more,
})
const consents = [
  consent('given', { status: 'given', until: at + 86_400_000_000 }),
  consent('outdated', { status: 'outdated', link_url: '', text: long.repeat(8) }),
  consent('withdrawn', { status: 'withdrawn', text: '' }),
  consent('pending', { status: 'pending', email_waits: true }),
  consent('none', { edition_name: 'Nordlys Festival 2026' }),
  consent('terms', { status: 'given', is_changeable: false }),
]
const base: Omit<Preferences, 'language'> = {
  organization_name: 'Nordlys & Friends of the Open Air ApS',
  address: 'a-very-long-address-of-somebody-who-reads-mails@festival-of-the-north.example.com',
  suppression: 'unsubscribed',
  consents,
}

const renderPage = async (page: LinkPage): Promise<string> => (await formPage(page)).toString()

const expectReadable = async (page: LinkPage, width: number, scheme: string, name: string) => {
  const view = await look(browser, await renderPage(page), { width, scheme, name })
  expect([view.seen, view.wide]).toEqual([width, width])
  expect(view.texts.filter(({ left, right }) => left < 0 || right > width + 0.5)).toEqual([])
  expect(view.texts.filter(({ height, size }) => height < 8 || size < 12)).toEqual([])
  expect(view.texts.filter(({ contrast }) => contrast < 4.5)).toEqual([])
  return view
}

/** Reads the accessible name of a box, and the size of the area to press. */
const controls = `[...document.querySelectorAll('input[type=checkbox], button')].map((one) => ({
  name: (one.labels?.[0] ?? one).textContent.trim(),
  describedBy: document.getElementById(one.getAttribute('aria-describedby') ?? '')?.textContent ?? '',
  height: (one.labels?.[0] ?? one).getBoundingClientRect().height,
}))`

describe.each([320, 360, 800])('the page of a person’s consents on a screen of %i pixels', (width) => {
  it.each(languages)('fits and is readable, in %s, in light and in dark mode', async (language) => {
    for (const scheme of ['light', 'dark']) {
      const page = renderPreferencesPage({ ...base, language }, scheme === 'light' ? undefined : 'saved')
      const view = await expectReadable(page, width, scheme, `consents-${width}-${language}-${scheme}`)
      for (const text of [base.organization_name, base.address, ...consents.map(({ title }) => title)])
        expect(view.page).toContain(text)
      const boxes = await browser.evaluate<{ name: string; describedBy: string; height: number }[]>(controls)
      const boxCount = consents.filter(({ is_changeable }) => is_changeable).length
      expect(boxes).toHaveLength(boxCount + 1)
      for (const { name, height } of boxes) expect([name.length > 2, height >= 44]).toEqual([true, true])
      expect(boxes.slice(0, -1).every(({ describedBy }) => describedBy.length > 3)).toBe(true)
    }
  })

  it.each(languages)('fits when it confirms a consent, in %s', async (language) => {
    for (const [scheme, is_confirmed] of [
      ['light', false],
      ['dark', true],
    ] as const) {
      const page = renderConfirmationPage({
        language,
        organization_name: base.organization_name,
        consents: [consent('newsletter')],
        is_confirmed,
        preferences: '../x',
      })
      await expectReadable(page, width, scheme, `confirm-${width}-${language}-${scheme}`)
    }
  })

  it('fits when its link is invalid', async () => {
    for (const scheme of ['light', 'dark'])
      await expectReadable(renderInvalidLinkPage(), width, scheme, `unknown-${width}-${scheme}`)
  })
})

describe.each([320, 360, 800])('the pages of a sign-up form on a screen of %i pixels', (width) => {
  it.each(languages)('fit and are readable, in %s, in light and in dark mode', async (language) => {
    const entries = { email: base.address, consentIds: ['con_1'] }
    const notice = signupWords[language].faults.consent_required
    for (const scheme of ['light', 'dark']) {
      const page = renderSignupPage(aPublicForm, language, scheme === 'light' ? {} : { entries, notice })
      const view = await expectReadable(page, width, scheme, `signup-${width}-${language}-${scheme}`)
      expect(view.page).toContain(aPublicForm.organization_name)
      const fields = await browser.evaluate<{ name: string; height: number }[]>(controls)
      expect(fields).toHaveLength(3)
      for (const { name, height } of fields) expect([name.length > 2, height >= 44]).toEqual([true, true])
      const isTrapSeen = await browser.evaluate<boolean>(
        `document.querySelector('input[name=homepage]').getBoundingClientRect().right > 0`,
      )
      expect(isTrapSeen).toBe(false)
      await expectReadable(renderSentPage(language), width, scheme, `signup-sent-${width}-${language}-${scheme}`)
      const closed = renderClosedPage(aPublicForm, language)
      await expectReadable(closed, width, scheme, `signup-closed-${width}-${language}-${scheme}`)
    }
  })
})
