import type { Page, Request } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { useConsole, waitForContent } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser
const root = createClient(service.url, service.rootToken)
const { nordlys: organization = '', 'nordlys.current': edition = '', 'kanal.current': otherEdition = '' } = service.ids

/** Chromium notes refused and lost calls, and these tests cause some. */
const failures = /Failed to load resource/

interface Customer {
  id: string
  email: string
  first_name: string
}
const listCustomers = async (search: string, id = edition): Promise<Customer[]> =>
  (await root.get<{ results: Customer[] }>(`/v1/user?edition_id=${id}&search=${encodeURIComponent(search)}`)).results
const addCustomer = (fields: object) =>
  root.post<Customer>('/v1/user', { organization_id: organization, edition_id: edition, ...fields })

const readKey = (request: Request): string => request.headers()['idempotency-key'] ?? ''
const customers = `/editions/${edition}/customers`
const isCreation = (request: Request) => request.method() === 'POST' && request.url().endsWith('/v1/user')

async function openAddDialog(page: Page, email: string) {
  await waitForContent(page)
  await page.getByRole('button', { name: 'Add a customer' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill(email)
  return { dialog, add: dialog.getByRole('button', { name: 'Add', exact: true }) }
}

describe('a form', () => {
  it('makes nothing twice when its answers are lost', async () => {
    const page = await browser.openPage(customers, { expects: failures })
    const { dialog, add } = await openAddDialog(page, 'lost-answer@example.com')
    const keys: string[] = []
    page.on('request', (request) => isCreation(request) && keys.push(readKey(request)))
    await page.route('**/v1/user', async (route) => {
      if (isCreation(route.request())) await route.fetch()
      await route.abort()
    })
    await add.click()
    await dialog.getByRole('alert').waitFor()
    await page.unroute('**/v1/user')
    await add.click()
    await page.getByRole('heading', { level: 1, name: 'lost-answer@example.com' }).waitFor()
    expect(keys.length).toBeGreaterThan(1)
    expect(new Set(keys).size).toBe(1)
    expect(await listCustomers('lost-answer@example.com')).toHaveLength(1)
  })

  it('is sent anew after a refusal, although its values are the same', async () => {
    const page = await browser.openPage(customers, { expects: failures })
    const { dialog, add } = await openAddDialog(page, 'refused@example.com')
    const keys: string[] = []
    page.on('request', (request) => isCreation(request) && keys.push(readKey(request)))
    await dialog.getByLabel('Phone').fill('12')
    for (let sent = 1; sent <= 2; sent++) {
      await add.click()
      await expect.poll(() => keys.length).toBe(sent)
      await expect.poll(() => add.getAttribute('data-loading')).toBeNull()
    }
    expect(new Set(keys).size).toBe(2)
    expect(await listCustomers('refused@example.com')).toEqual([])
  })

  it('keeps what was typed when somebody else has changed the resource', async () => {
    const customer = await addCustomer({ email: 'two-people@example.com', first_name: 'Ada' })
    const page = await browser.openPage(`${customers}/${customer.id}`, { expects: failures })
    await waitForContent(page)
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Last name').fill('Lovelace')
    await root.patch(`/v1/user/${customer.id}`, { first_name: 'Augusta' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Somebody else has changed this').waitFor()
    await dialog.getByRole('button', { name: 'Keep my changes' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await root.get(`/v1/user/${customer.id}`)).toMatchObject({ first_name: 'Augusta', last_name: 'Lovelace' })
  })

  it('keeps what was typed when the session expires, and goes on after a sign-in in another tab', async () => {
    const session = await root.post<{ id: string; token: string }>('/v1/auth/tokens', {
      name: 'Ends soon',
      member_id: service.ids['nordlys.OA'],
    })
    const context = await browser.openContext({ token: session.token, expects: failures })
    const page = await context.newPage()
    await page.goto(`/console${customers}`)
    const { dialog, add } = await openAddDialog(page, 'expired@example.com')
    await fetch(`${service.url}/v1/auth/tokens/${session.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${session.token}` },
    })
    await add.click()
    const notice = page.getByRole('dialog', { name: 'Your session has ended' })
    const opened = context.waitForEvent('page')
    await notice.getByRole('link', { name: 'Sign in in a new tab' }).click()
    const tab = await opened
    await tab.evaluate("sessionStorage.removeItem('ecm-token')")
    await tab.goto('/console/sign-in')
    await tab.getByRole('button', { name: 'Use an access token' }).click()
    await tab.getByLabel('Access token').fill(service.tokens['OA'] ?? '')
    await tab.getByRole('button', { name: 'Sign in with the token' }).click()
    await notice.waitFor({ state: 'hidden' })
    expect(await dialog.getByLabel('E-mail').inputValue()).toBe('expired@example.com')
    await add.click()
    await page.getByRole('heading', { level: 1, name: 'expired@example.com' }).waitFor()
    expect(await listCustomers('expired@example.com')).toHaveLength(1)
  })
})

describe('a list', () => {
  const problem = (status: number, code: string) => ({
    status,
    headers: { 'retry-after': '60' },
    contentType: 'application/problem+json',
    body: JSON.stringify({ type: 'about:blank', title: code, status, code, detail: `It is ${code}.`, errors: [] }),
  })

  it.for([
    [429, 'rate_limited'],
    [503, 'overloaded'],
  ] as const)('says that it was refused with %i, and loads when it is asked again', async ([status, code]) => {
    const page = await browser.openPage('/access-tokens', { expects: failures })
    await waitForContent(page)
    await page.route('**/v1/user?**', (route) => route.fulfill(problem(status, code)))
    await page.goto(`/console${customers}`)
    await page.getByText(`It is ${code}.`).waitFor()
    await page.unroute('**/v1/user?**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(1)
  })

  it('says that there is no connection, instead of waiting unseen', async () => {
    const page = await browser.openPage(customers, { expects: failures })
    await waitForContent(page)
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'E-mail' }).click()
    const alert = page.getByRole('main').getByRole('alert')
    await alert.first().waitFor()
    await page.context().setOffline(false)
    await alert.first().getByRole('button', { name: 'Try again' }).click()
    await expect.poll(() => alert.count()).toBe(0)
    await page.getByRole('table').waitFor()
  })

  it.for([
    '?ordering=%3Cscript%3E&page=-1&search=%7B%22a%22%3A1%7D',
    '?page=1e99&cursor=nonsense&search=%00%E2%80%AE',
    '?search=%5B%22a%22%5D&scope=__proto__&page=NaN',
  ])('opens whatever its address says: %s', async (search) => {
    const page = await browser.openPage(customers + search, { expects: failures })
    await waitForContent(page)
    expect(await page.getByRole('main').textContent()).toContain('Customers')
    expect(await page.getByText('TypeError').count()).toBe(0)
  })
})

describe('texts of customers', () => {
  it('are shown as they are, run nothing, and do not break the page', async () => {
    const markup = '<img src=x onerror="document.title=1"><b>'
    const names = [
      { first_name: markup, last_name: '=HYPERLINK("https://evil.example")' },
      { first_name: '\u202Egnp.exe', last_name: 'W'.repeat(80) },
    ]
    const ids: string[] = []
    for (const [index, name] of names.entries())
      ids.push((await addCustomer({ ...name, email: `hostile-${index}@example.com` })).id)
    const page = await browser.openPage(`${customers}?search=hostile-`, { width: 390 })
    await waitForContent(page)
    for (const address of [null, ...ids]) {
      if (address !== null) {
        await page.goto(`/console${customers}/${address}`)
        await waitForContent(page)
      }
      expect(await page.title()).not.toBe('1')
      expect(await page.locator('main img').count()).toBe(0)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    }
    await page.goto(`/console${customers}/${ids[0]}`)
    await page.getByRole('heading', { level: 1, name: markup }).waitFor()
  })
})

describe('somebody else’s resources', () => {
  it('are not there, whether their ids exist or not', async () => {
    const [stranger] = await listCustomers('', otherEdition)
    const answers = []
    for (const id of [stranger?.id ?? '', 'usr_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8']) {
      const page = await browser.openPage(`${customers}/${id}`, { expects: failures })
      await page.getByRole('main').getByRole('alert').first().waitFor()
      const text = (await page.getByRole('main').textContent()) ?? ''
      answers.push(text.replaceAll(/req_\w+/g, '').replaceAll(id, ''))
      expect(text).not.toContain(stranger?.email)
    }
    expect(answers[0]).toBe(answers[1])
    const page = await browser.openPage(`/editions/${otherEdition}/orders`, { expects: failures })
    await page.getByRole('heading', { level: 1, name: 'There is no such page' }).waitFor()
    expect(await page.getByRole('table').count()).toBe(0)
  })
})

describe('a token with the scope "read"', () => {
  it('shows each change disabled, with the reason', async () => {
    const { token } = await root.post<{ token: string }>('/v1/auth/tokens', {
      name: 'Reads',
      member_id: service.ids['nordlys.OA'],
      scopes: ['read'],
    })
    const page = await browser.openPage(customers, { token })
    await waitForContent(page)
    const add = page.getByRole('button', { name: 'Add a customer' })
    expect(await add.getAttribute('aria-disabled')).toBe('true')
    await add.focus()
    await page.getByRole('tooltip').waitFor()
    await page.keyboard.press('Enter')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })
})
