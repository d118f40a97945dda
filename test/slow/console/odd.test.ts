import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { cancelledTotal, createLargeEdition, numberAt } from '../../support/console/many-orders.ts'
import { expectAccessible, useConsole, waitForContent } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser
const api = createClient(service.url, service.rootToken)

/** The pages in the navigation, with their names. */
async function listPages(page: Page): Promise<{ name: string; path: string }[]> {
  await waitForContent(page)
  const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
  const names = await links.allTextContents()
  const paths = await Promise.all(names.map((_, index) => links.nth(index).getAttribute('href')))
  return names.map((name, index) => ({ name, path: paths[index] ?? '' }))
}

/** Opens a page as a link does, without loading the console again. */
async function openInside(page: Page, path: string): Promise<void> {
  await page.evaluate(`__TSR_ROUTER__.navigate({ to: ${JSON.stringify(path.replace(/^\/console/, ''))} })`)
  await waitForContent(page)
}

describe('an organisation with nothing in it', () => {
  let edition = ''
  let token = ''
  beforeAll(async () => {
    const organization = await api.post<{ id: string }>('/v1/organizations', { name: 'Brand new' })
    const event = await api.post<{ id: string }>('/v1/events', { organization_id: organization.id, name: 'First' })
    const now = Date.now()
    const created = await api.post<{ id: string }>('/v1/editions', {
      organization_id: organization.id,
      event_id: event.id,
      name: 'First',
      start_date: new Date(now + 30 * 86_400_000).toISOString(),
      end_date: new Date(now + 31 * 86_400_000).toISOString(),
      timezone: 'Europe/Copenhagen',
      default_country_code: '+45',
      default_language: 'da',
      enabled_languages: ['da'],
      tax_type: 'vat',
    })
    edition = created.id
    const member = await api.post<{ id: string }>(`/v1/organizations/${organization.id}/members`, {
      email: 'first@brand-new.example',
      first_name: 'Vera',
      last_name: 'Ny',
      role: 'admin',
      edition_id: null,
    })
    const access = { name: 'First token', member_id: member.id, expires_at: null }
    token = (await api.post<{ token: string }>('/v1/auth/tokens', access)).token
  })

  it('has no page with an error, and each says what to do', async () => {
    const page = await browser.openPage(`/editions/${edition}`, { token })
    const pages = await listPages(page)
    expect(pages.length).toBeGreaterThan(20)
    for (const { name, path } of pages) {
      await openInside(page, path)
      const main = page.getByRole('main')
      const text = await main.innerText()
      expect(text, name).not.toMatch(/That did not work|There is no such page|undefined|\bNaN\b|\[object/)
      // A person finds something to do: a button, a link or a field.
      const actions = main.locator('button:not([aria-disabled="true"]):not(:disabled), a[href], input:not(:disabled)')
      expect(await actions.count(), name).toBeGreaterThan(0)
      expect(text.length, `${name} explains itself`).toBeGreaterThan(60)
    }
  })
})

/** True for requests that read although they are no GET, such as the check of an expression. */
const isReading = (url: string): boolean => /validate-cel|explain|preview|\/validate$/.test(new URL(url).pathname)

describe('a viewer', () => {
  it('sees every page without a refused call, and can send no change', async () => {
    const edition = service.ids['nordlys.current'] ?? ''
    const page = await browser.openPage(`/editions/${edition}`, { as: 'OV' })
    const changes: string[] = []
    const refusals: string[] = []
    page.on('request', (request) => {
      const isChange = request.url().includes('/v1/') && request.method() !== 'GET' && !isReading(request.url())
      if (isChange) changes.push(`${request.method()} ${request.url()}`)
    })
    page.on('response', (response) => {
      if (response.status() === 403) refusals.push(response.url())
    })
    let explained = 0
    for (const { name, path } of await listPages(page)) {
      await openInside(page, path)
      explained += await pressAll(page, name)
    }
    expect(changes).toEqual([])
    expect(refusals).toEqual([])
    expect(explained).toBeGreaterThan(10)
  })
})

/** Presses each button of the page that is not disabled, and returns how many are, each with its reason. */
async function pressAll(page: Page, name: string): Promise<number> {
  const main = page.getByRole('main')
  const address = page.url()
  const disabled = main.locator('button[aria-disabled="true"]')
  for (const button of await disabled.all())
    expect(await button.getAttribute('aria-description'), `${name}: ${await button.textContent()}`).toBeTruthy()
  const explained = await disabled.count()
  const pressable = main.locator('button:not([aria-disabled="true"]):not(:disabled):not(th button):not([role="tab"])')
  const labels = new Set<string>()
  for (let index = 0; index < (await pressable.count()); index++) {
    const button = pressable.nth(index)
    const label = (await button.getAttribute('aria-label')) ?? (await button.textContent()) ?? ''
    if (labels.has(label) || !(await button.isVisible())) continue
    labels.add(label)
    await button.click()
    const form = page.locator('[role="dialog"] button[type="submit"]:not([aria-disabled="true"])')
    expect(await form.count(), `${name}: “${label}” opens a form`).toBe(0)
    await page.keyboard.press('Escape')
    if (page.url() !== address) {
      await page.goto(address)
      await waitForContent(page)
    }
  }
  return explained
}

describe('an edition with 100,000 orders', () => {
  let edition = ''
  beforeAll(async () => {
    edition = await createLargeEdition(service)
  })

  it('is counted, sorted, searched and turned page by page', async () => {
    const page = await browser.openPage(`/editions/${edition}/orders`, { as: 'OA' })
    const rows = page.getByRole('table').getByRole('row')
    const expectFirst = async (place: number) =>
      await expect.poll(() => rows.nth(1).getByRole('link').first().textContent()).toBe(numberAt(place))
    const expectPage = (number: string) => page.getByText(`Page ${number} / 2,000`, { exact: true }).waitFor()
    await page.getByText('100,000 orders', { exact: true }).waitFor()
    await expectPage('1')
    await expectFirst(0)

    // The next pages have the next orders, and their address says where they are.
    const next = page.getByRole('button', { name: 'Next' })
    for (const number of [2, 3, 4]) {
      await next.click()
      await expectPage(String(number))
      await expectFirst(50 * (number - 1))
    }
    await page.reload()
    await expectPage('4')
    await expectFirst(150)
    await page.getByRole('button', { name: 'Previous' }).click()
    await expectFirst(100)
    await page.goto(`/console/editions/${edition}/orders?page=1999`)
    await expectPage('1,999')
    await expectFirst(99_900)
    await next.click()
    await expectPage('2,000')
    await expectFirst(99_950)
    expect(await next.isDisabled()).toBe(true)

    // Sorted by amount, and the other way round.
    const header = page.getByRole('columnheader', { name: 'Amount' })
    const amount = () => rows.nth(1).getByText(/^DKK/).textContent()
    await header.getByRole('button').click()
    await expect.poll(amount).toMatch(/\D1\.00$/)
    expect(await header.getAttribute('aria-sort')).toBe('ascending')
    await expectPage('1')
    await header.getByRole('button').click()
    await expect.poll(amount).toMatch(/\D1,000\.00$/)
    expect(await header.getAttribute('aria-sort')).toBe('descending')

    // The search finds one by its number, and a filter counts exactly.
    const search = page.getByRole('main').getByRole('searchbox', { name: 'Search' })
    await search.fill(numberAt(54_321))
    await page.getByText('1 order', { exact: true }).waitFor()
    await expectFirst(54_321)
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('100,000 orders', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'Cancelled' }).click()
    await page.getByText(`${cancelledTotal.toLocaleString('en-GB')} orders`, { exact: true }).waitFor()
  })
})

describe('a service that holds everything that goes out', () => {
  it('says so on each page', async () => {
    const page = await browser.openPage('/system', { as: 'root' })
    await waitForContent(page)
    const notice = page.getByRole('alert').filter({ hasText: 'OUTGOING=hold' })
    expect(await notice.count()).toBe(0)
    await page.route(/\/console\b/, async (route) => {
      if (route.request().resourceType() !== 'document') return route.fallback()
      const response = await route.fetch()
      const body = (await response.text()).replace('content="sending"', 'content="held"')
      await route.fulfill({ response, body })
    })
    for (const path of ['/system', '/']) {
      await page.goto(`/console${path}`)
      await waitForContent(page)
      await notice.getByText('Nothing is sent, posted or paid now').waitFor()
      await expectAccessible(page, path)
    }
  })
})
