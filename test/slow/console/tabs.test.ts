import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { useConsole } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser

const nobody = { as: null } as const
/** Chromium notes refused calls, and these tests cause some. */
const refused = (status: number) => new RegExp(`status of ${status}`)

const waitForOrders = (page: Page) => page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor()
const ordersPath = () => `/editions/${service.ids['nordlys.current']}/orders`

const readToken = (page: Page) => page.evaluate<string | null>("sessionStorage.getItem('ecm-token')")

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
})
