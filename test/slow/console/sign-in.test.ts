import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { expectAccessible, schemes, useConsole, waitForContent, widths } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser
const root = () => createClient(service.url, service.rootToken)

const nobody = { as: null } as const
/** Chromium notes refused calls, and these tests cause some. */
const refused = (status: number) => new RegExp(`status of ${status}`)

const waitForOrders = (page: Page) => page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
const ordersPath = () => `/editions/${service.ids['nordlys.current']}/orders`

const readToken = (page: Page) => page.evaluate<string | null>("sessionStorage.getItem('ecm-token')")
const readAddress = (page: Page) => page.evaluate<string>('location.pathname + location.search + location.hash')

const waitForSignIn = (page: Page) => page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()

async function readPerson(token: string | null) {
  const response = await fetch(`${service.url}/v1/auth/user-info`, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, body: (await response.json()) as { full_name: string; token: { kind: string } } }
}

/** The e-mail of Mikkel Bruun, a manager of the demonstration data. */
const email = 'om@nordlys.example'

async function readCode(after: number): Promise<string> {
  let code: string | undefined
  await expect
    .poll(async () => {
      const response = await fetch(`${service.url}/dev/outbox.json?to=${encodeURIComponent(email)}`)
      const { results } = (await response.json()) as { results: { id: string; created: string }[] }
      const [newest] = results.filter(({ created }) => Date.parse(created) >= after)
      if (!newest) return null
      const page = await (await fetch(`${service.url}/dev/outbox/${newest.id}`)).text()
      code = /\b\d{8}\b/.exec(page)?.[0]
      return code ?? null
    })
    .not.toBeNull()
  return code ?? ''
}

async function signInByCode(page: Page): Promise<void> {
  const since = Date.now() - 1000
  await page.getByLabel('E-mail').fill(email)
  await page.getByRole('button', { name: 'Send a code' }).click()
  await page.getByLabel('Code').fill(await readCode(since))
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click()
}

describe('the page to sign in', () => {
  it.for(widths.flatMap((width) => schemes.map((scheme) => ({ width, scheme }))))(
    'is accessible at $width pixels, $scheme',
    async ({ width, scheme }) => {
      const page = await browser.openPage('/', { ...nobody, width, scheme })
      await page.getByLabel('E-mail').waitFor()
      await expectAccessible(page, `sign-in-${width}-${scheme}`)
      await page.getByRole('button', { name: 'Use an access token' }).click()
      await expectAccessible(page, `sign-in-token-${width}-${scheme}`)
    },
  )

  it('signs in by a code, and leads to the page that was asked for', async () => {
    const page = await browser.openPage(`${ordersPath()}?status=completed`, { ...nobody, expects: refused(401) })
    await waitForSignIn(page)
    await page.getByLabel('E-mail').fill(email)
    await page.getByRole('button', { name: 'Send a code' }).click()
    await page.getByLabel('Code').fill('00000000')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('This code is wrong, was used, or has expired.').waitFor()
    // A phone closes the page while its person reads the e-mail.
    await page.reload()
    await page.getByRole('button', { name: 'Use another address' }).click()
    await signInByCode(page)
    await waitForOrders(page)
    expect(await readAddress(page)).toBe(`/console${ordersPath()}?status=completed`)
    const { body } = await readPerson(await readToken(page))
    expect([body.full_name, body.token.kind]).toEqual(['Mikkel Bruun', 'session'])
  })

  it('signs in at the identity provider, and comes back', async () => {
    const page = await browser.openPage(ordersPath(), nobody)
    await page.getByRole('button', { name: /^Sign in with 127\.0\.0\.1/ }).click()
    await page.getByLabel('Your address').fill('ov@nordlys.example')
    await page.getByRole('button', { name: 'Continue' }).click()
    await waitForOrders(page)
    expect(await readAddress(page)).toBe(`/console${ordersPath()}`)
    const { body } = await readPerson(await readToken(page))
    expect([body.full_name, body.token.kind]).toEqual(['Ægir Lund', 'session'])
  })

  it('says so when the identity provider refuses, or knows nobody', async () => {
    const page = await browser.openPage('/', { ...nobody, expects: refused(401) })
    await page.getByRole('button', { name: /^Sign in with 127/ }).click()
    await page.getByRole('button', { name: 'Refuse' }).click()
    await page.getByText('The identity provider refused to sign you in.').waitFor()
    expect(await readAddress(page)).toBe('/console/sign-in')
    await page.getByRole('button', { name: 'Sign in another way' }).click()
    await page.getByRole('button', { name: /^Sign in with 127/ }).click()
    await page.getByLabel('Your address').fill('stranger@example.com')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('sign_in_failed').waitFor()
    expect(await readToken(page)).toBeNull()
  })

  it('refuses the answer to a sign-in that this tab did not begin', async () => {
    const context = await browser.openContext(nobody)
    const begun = await context.newPage()
    await begun.goto('/console/')
    await begun.getByRole('button', { name: /^Sign in with 127/ }).click()
    await begun.getByLabel('Your address').waitFor()
    // The address of the answer reaches another tab.
    const form = await begun.evaluate<Record<string, string>>('Object.fromEntries(new FormData(document.forms[0]))')
    const body = new URLSearchParams({ ...form, person: 'ov@nordlys.example', answer: 'yes' })
    const approved = await fetch(`${service.issuer}/approve`, { method: 'POST', body, redirect: 'manual' })
    const answer = approved.headers.get('location') ?? ''
    expect(answer).toContain('code=')
    const other = await context.newPage()
    await other.goto(answer)
    await other.getByText('This sign-in began in another tab, or is over.').waitFor()
    expect([await readToken(other), await readAddress(other)]).toEqual([null, '/console/sign-in'])
  })

  it('accepts an access token, and stores none that the service refuses', async () => {
    const page = await browser.openPage('/', { ...nobody, expects: refused(401) })
    await page.getByRole('button', { name: 'Use an access token' }).click()
    await page.getByLabel('Access token').fill('ecm_wrong')
    await page.getByRole('button', { name: 'Sign in with the token' }).click()
    await page.getByText('This token is not accepted.').waitFor()
    expect(await readToken(page)).toBeNull()
    await page.getByLabel('Access token').fill(` ${service.tokens['OV']} `)
    await page.getByRole('button', { name: 'Sign in with the token' }).click()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    expect(await readToken(page)).toBe(service.tokens['OV'])
  })

  it('is shown in another language after a choice, and stays in it', async () => {
    const page = await browser.openPage('/', nobody)
    await page.getByLabel('Language').selectOption('da')
    await page.getByRole('button', { name: 'Send en kode' }).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('da')
    await page.reload()
    await page.getByRole('button', { name: 'Send en kode' }).waitFor()
  })

  it('speaks the language of the browser', async () => {
    const page = await browser.openPage('/', { ...nobody, locale: 'pl-PL' })
    await page.getByRole('button', { name: 'Wyślij kod' }).waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe('pl')
  })
})

describe('a sign-in link', () => {
  const givenLink = async () => {
    const members = await root().get<{ results: { id: string; user: { email: string } }[] }>(
      `/v1/organizations/${service.ids['nordlys']}/members?page_size=500`,
    )
    const member_id = service.ids['nordlys.EA'] ?? members.results[0]?.id
    return (await root().post<{ sign_in_url: string }>('/v1/auth/sign-in-links', { member_id })).sign_in_url
  }

  it('asks first, signs in once, and is gone from the address', async () => {
    const link = await givenLink()
    const page = await (await browser.openContext({ ...nobody, expects: refused(401) })).newPage()
    await page.goto(link)
    await page.getByText('Sign in with the link that you opened?').waitFor()
    expect(await page.evaluate('location.href')).not.toContain('link=')
    await expectAccessible(page, 'sign-in-link')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    expect((await readPerson(await readToken(page))).body.full_name).toBe('Sofie Friis')
    const again = await (await browser.openContext({ ...nobody, expects: refused(401) })).newPage()
    await again.goto(link)
    await again.getByRole('button', { name: 'Sign in', exact: true }).click()
    await again.getByText('sign_in_failed').waitFor()
  })

  it('does not replace the session of somebody without a question', async () => {
    const page = await (await browser.openContext({ as: 'OA' })).newPage()
    await page.goto(await givenLink())
    await page.getByText('You are signed in as Ingrid Holm').waitFor()
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    expect(await readToken(page)).toBe(service.tokens['OA'])
  })
})

describe('a token in the address', () => {
  it('signs in on a server for development, and is gone from the address', async () => {
    const page = await browser.openPage(`#token=${service.tokens['OM']}`, nobody)
    await page.getByRole('button', { name: 'Account' }).waitFor()
    expect(await readToken(page)).toBe(service.tokens['OM'])
    expect(await page.evaluate('location.href')).not.toContain('token')
  })

  it('asks before it replaces somebody else', async () => {
    const page = await browser.openPage(`#token=${service.tokens['OM']}`, { as: 'OA' })
    await page.getByText('You are signed in as Ingrid Holm').waitFor()
    await page.getByText('Sign in as Mikkel Bruun?').waitFor()
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    expect(await readToken(page)).toBe(service.tokens['OM'])
  })

  it('is ignored in production, and does not stay in the address', async () => {
    const context = await browser.openContext(nobody)
    await context.route('**/console/**', async (route) => {
      if (route.request().resourceType() !== 'document') return route.fallback()
      const response = await route.fetch()
      const body = (await response.text()).replace('content="development"', 'content="production"')
      return route.fulfill({ response, body })
    })
    const page = await context.newPage()
    await page.goto(`/console/#token=${service.tokens['OM']}`)
    await waitForSignIn(page)
    expect(await readToken(page)).toBeNull()
    expect(await page.evaluate('location.href')).not.toContain(service.tokens['OM'])
  })
})

describe('the page after the sign-in', () => {
  it.for(['https://evil.example/', '//evil.example', '/console/../docs', 'javascript:alert(1)', '/\\evil.example'])(
    'is one of the console: %s',
    async (to) => {
      const page = await browser.openPage(`/sign-in?to=${encodeURIComponent(to)}`, nobody)
      await page.getByRole('button', { name: 'Use an access token' }).click()
      await page.getByLabel('Access token').fill(service.tokens['OA'] ?? '')
      await page.getByRole('button', { name: 'Sign in with the token' }).click()
      await page.getByRole('button', { name: 'Account' }).waitFor()
      expect(new URL(page.url()).origin).toBe(service.url)
      expect(new URL(page.url()).pathname).toMatch(/^\/console\//)
    },
  )
})

describe('several tabs', () => {
  it('share a session, and are signed out together, at the service too', async () => {
    const context = await browser.openContext({ ...nobody, expects: refused(401) })
    const first = await context.newPage()
    await first.goto(`/console${ordersPath()}`)
    await signInByCode(first)
    await waitForOrders(first)
    const token = await readToken(first)
    const second = await context.newPage()
    await second.goto(`/console${ordersPath()}`)
    await waitForOrders(second)
    expect(await readToken(second)).toBe(token)
    await openMenu(second)
    await second.getByRole('menuitem', { name: 'Sign out' }).click()
    await waitForSignIn(second)
    await waitForSignIn(first)
    expect([await readToken(first), await readToken(second)]).toEqual([null, null])
    expect((await readPerson(token)).status).toBe(401)
    // One sign-in is enough for both, and each comes back to its page.
    await signInByCode(second)
    await waitForOrders(first)
  })

  it('share a session although the open one is busy', async () => {
    const context = await browser.openContext(nobody)
    const first = await context.newPage()
    await first.goto(`/console${ordersPath()}#token=${service.tokens['OA']}`)
    await waitForOrders(first)
    const second = await context.newPage()
    // The answer comes after the second tab has turned to the page to sign in, and before that page is there.
    await second.route(/\/assets\/sign-in-/, async (route) => {
      await expect.poll(() => readToken(second)).not.toBeNull()
      await route.continue()
    })
    await first.evaluate('setTimeout(() => { for (const end = Date.now() + 3000; Date.now() < end; ); }, 50)')
    await second.goto(`/console${ordersPath()}`)
    await waitForOrders(second)
  })

  it('do not lose an access token that somebody pasted', async () => {
    const page = await browser.openPage(ordersPath(), { as: 'OV' })
    await waitForOrders(page)
    await openMenu(page)
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await waitForSignIn(page)
    expect((await readPerson(service.tokens['OV'] ?? '')).status).toBe(200)
  })

  it('of somebody else are not signed out', async () => {
    const context = await browser.openContext(nobody)
    const [first, second] = [await context.newPage(), await context.newPage()]
    await first.goto(`/console${ordersPath()}#token=${service.tokens['OA']}`)
    await waitForOrders(first)
    await second.goto(`/console${ordersPath()}#token=${service.tokens['OV']}`)
    await second.getByRole('button', { name: 'Account' }).or(second.getByText('Sign in as')).first().waitFor()
    expect(await readToken(second)).toBe(service.tokens['OV'])
    await openMenu(second)
    await second.getByRole('menuitem', { name: 'Sign out' }).click()
    await waitForSignIn(second)
    expect(await readToken(first)).toBe(service.tokens['OA'])
    await waitForOrders(first)
  })
})

describe('a session that ended', () => {
  it('leads to the sign-in, and back to the page', async () => {
    const created = await root().post<{ id: string; token: string }>('/v1/auth/tokens', {
      name: 'Ends soon',
      member_id: service.ids['nordlys.OM'],
    })
    const page = await browser.openPage(`${ordersPath()}?ordering=-amount`, {
      token: created.token,
      expects: refused(401),
    })
    await waitForOrders(page)
    const revoked = await fetch(`${service.url}/v1/auth/tokens/${created.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${created.token}` },
    })
    expect(revoked.status).toBe(204)
    await page.reload()
    await waitForSignIn(page)
    expect(await readToken(page)).toBeNull()
    await page.getByRole('button', { name: 'Use an access token' }).click()
    await page.getByLabel('Access token').fill(service.tokens['OM'] ?? '')
    await page.getByRole('button', { name: 'Sign in with the token' }).click()
    await waitForOrders(page)
    expect(await readAddress(page)).toBe(`/console${ordersPath()}?ordering=-amount`)
    await waitForContent(page)
  })
})

describe('the language of the console', () => {
  it('changes in the menu of the person', async () => {
    const page = await browser.openPage(ordersPath(), { as: 'OA' })
    await waitForOrders(page)
    await openMenu(page)
    await page.getByRole('menuitem', { name: 'Svenska' }).click()
    await expect.poll(() => page.evaluate('document.documentElement.lang')).toBe('sv')
  })
})
