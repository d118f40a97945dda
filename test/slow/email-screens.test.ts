import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../src/domain/email/compile.ts'
import { buildSampleContext } from '../../src/domain/email/liquid/variables.ts'
import { personalise } from '../../src/domain/email/personalise.ts'
import { languages } from '../../src/domain/languages.ts'
import { renderSubscriptionPage } from '../../src/modules/message-events/unsubscribe-page.ts'
import { type Browser, openBrowser } from '../support/browser.ts'
import { aMessageOf, framing, oneOfEach } from '../support/messages.ts'
import { look } from '../support/screens.ts'

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser?.stop())

const picture = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="320"><rect width="640" height="320" fill="#0f766e"/></svg>',
)}`

const long = `<p>${'Averylongwordthatdoesnotend'.repeat(8)}</p><table><tr><td>One</td><td>Two</td></tr></table><p><a href="https://example.com/">A link</a></p>`

const message = aMessageOf(
  ...oneOfEach,
  { id: 'long', type: 'rich_text', data: { text: { en: long } } },
  { id: 'wide', type: 'image', data: { url: 'https://example.com/poster.png', alt: { en: 'Wide' }, width: 600 } },
)
const html = personalise(compile(message, 'en', framing), buildSampleContext()).html.replaceAll(
  'https://example.com/poster.png',
  picture,
)

describe.each([360, 800])('a message of all blocks on a screen of %i pixels', (width) => {
  it.each(['light', 'dark'])('is shown completely and can be read in %s mode', async (scheme) => {
    const view = await look(browser, html, { width, scheme, name: `${width}-${scheme}` })
    expect([view.seen, view.wide]).toEqual([width, width])
    const outside = [...view.texts, ...view.images].filter(({ left, right }) => left < 0 || right > width + 0.5)
    expect(outside).toEqual([])
    expect(view.texts.filter(({ height, size }) => height < 8 || size < 12)).toEqual([])
    expect(view.texts.filter(({ contrast }) => contrast < 4.5)).toEqual([])
    for (const text of [
      'Hello en Astrid',
      'Heading en & Nordlys',
      'Button en',
      'Left en',
      'Right en',
      'Day ticket',
      'DKK\u00A01,125.00',
      'Instagram',
      'Street 1',
      'Unsubscribe',
      'Nordlys ApS',
    ])
      expect(view.page).toContain(text)
    expect(view.images).toHaveLength(2)
  })
})

const subscriber = {
  campaign_id: 'cmp_1',
  n: 1,
  user_id: 'usr_1',
  address: 'a-very-long-address-of-somebody-who-reads-mails@festival-of-the-north.example.com',
  organization_id: 'org_1',
  organization_name: 'Nordlys & Friends of the Open Air ApS',
  edition_id: 'edt_1',
  channel: 'email',
} as const
const subscription = {
  consents: [{ title: 'Newsletter of the festival', channels: ['email' as const, 'sms' as const] }],
  tokens: { unsubscribe: 'out', resubscribe: 'back' },
  preferences: 'all',
}

describe.each([360, 800])('the page of a link to unsubscribe on a screen of %i pixels', (width) => {
  it.each(languages)('fits and is readable, in %s, before and after unsubscribing', async (language) => {
    for (const [scheme, suppression] of [
      ['light', null],
      ['dark', 'unsubscribed'],
    ] as const) {
      const document = renderSubscriptionPage({ ...subscriber, language }, { ...subscription, suppression }, false)
      const view = await look(browser, document, {
        width,
        scheme,
        name: `page-${width}-${language}-${suppression ?? 'ask'}`,
      })
      expect([view.seen, view.wide]).toEqual([width, width])
      expect(view.texts.filter(({ left, right }) => left < 0 || right > width + 0.5)).toEqual([])
      expect(view.texts.filter(({ height, size }) => height < 8 || size < 12)).toEqual([])
      for (const text of [subscriber.organization_name, subscriber.address, 'Newsletter of the festival'])
        expect(view.page).toContain(text)
    }
  })
})
