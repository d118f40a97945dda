import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { type Receiver, startReceiver } from '../../../scripts/support/receiver.ts'
import { createEdition, importOrders } from '../../support/console/edition.ts'
import { expectAccessible, readFigure, useConsole, waitForContent } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser
const api = createClient(service.url, service.rootToken)
const path = '/tickets'
const customerCount = 5

let receiver: Receiver
let edition = ''
let customers: string[] = []

beforeAll(async () => {
  receiver = await startReceiver()
  edition = await createEdition(service, 'Endpoint that fails')
  await importOrders(
    service,
    edition,
    Array.from({ length: customerCount }, (_, index) => ({
      external_id: `endpoint-${index}`,
      currency: 'dkk',
      customer: { email: `endpoint-${index}@nordlys.example`, first_name: 'Before' },
      items: [{ product: 'Day ticket', quantity: 1, unit_price: 100 }],
    })),
  )
  const { results } = await api.get<{ results: { id: string }[] }>(`/v1/user?edition_id=${edition}`)
  customers = results.map(({ id }) => id)
})
afterAll(() => receiver?.stop())

/** Changes customers, each of which makes an event. */
async function changeCustomers(ids: readonly string[], first_name: string): Promise<void> {
  for (const id of ids) await api.patch(`/v1/user/${id}`, { first_name })
}

async function createEndpoint(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New endpoint' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Ticket shop')
  await dialog.getByLabel('Address').fill(receiver.url(path))
  await dialog.getByRole('checkbox', { name: 'Customer changed' }).check()
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  const created = page.getByRole('dialog', { name: 'The endpoint is created' })
  const secret = created.getByText(/^whsec_/).first()
  await secret.waitFor()
  receiver.trust(path, (await secret.textContent()) ?? '')
  await created.getByRole('button', { name: 'Open the endpoint' }).click()
  await page.getByRole('heading', { level: 1, name: 'Ticket shop' }).waitFor()
}

describe('an endpoint that fails', () => {
  it('shows what waits and why, and gets everything once after it is repaired', async () => {
    receiver.respondWith(path, { status: 500, body: 'The stock is being counted.' })
    const page = await browser.openPage(`/editions/${edition}/webhooks`, { as: 'OA', expects: /status of 412/ })
    await createEndpoint(page)
    const endpoint = page.url().split('/').at(-1) ?? ''
    await changeCustomers(customers.slice(0, 3), 'Failed')
    await expect.poll(() => receiver.counts(path).size).toBe(3)

    // The list of endpoints and its own page say that it fails, and why.
    await page.goto(`/console/editions/${edition}/webhooks`)
    await page
      .getByRole('row', { name: /Ticket shop/ })
      .getByText('Failing')
      .waitFor()
    await page.getByRole('link', { name: 'Ticket shop' }).click()
    await page.getByText(/The endpoint answers 500\./).waitFor()
    await expect.poll(() => readFigure(page, 'Waiting')).toBe('3')

    // Among the deliveries of all endpoints, one shows its attempts with what the endpoint answered.
    await page.goto(`/console/editions/${edition}/webhook-deliveries?endpoint_id=${endpoint}&status=retrying`)
    await page.getByText('3 deliveries').waitFor()
    await page.getByRole('table').getByText('500').first().waitFor()
    await page
      .getByRole('table')
      .getByRole('link', { name: /Customer changed/ })
      .first()
      .click()
    const attempts = page.getByRole('group', { name: /^Attempts/ })
    await attempts.getByText('500 · refused').first().waitFor()
    await attempts.getByText('The stock is being counted.').first().waitFor()
    await expectAccessible(page, 'journey-delivery')

    // Its settings are saved although somebody makes a new secret meanwhile, which the form does not show.
    await page.goto(`/console/editions/${edition}/webhooks/${endpoint}?tab=settings`)
    await page.getByRole('textbox', { name: 'Name' }).fill('Ticket shop, second floor')
    await api.post(`/v1/webhooks/${endpoint}/rotate-secret`, {})
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await page.getByRole('heading', { level: 1, name: 'Ticket shop, second floor' }).waitFor()

    // Somebody switches it off, which gives up what waits. More happens meanwhile.
    await page.getByRole('button', { name: 'Switch off' }).click()
    await page.getByRole('dialog').getByText('3 deliveries that wait are given up.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('Somebody switched the endpoint off.').waitFor()
    await changeCustomers(customers.slice(3), 'Missed')
    const recover = page.getByRole('button', { name: 'Send again' })
    expect(await recover.getAttribute('aria-description')).toBe('Switch the endpoint on first.')

    // It is repaired, and gets everything.
    const ids = new Set(receiver.counts(path).keys())
    receiver.respondWith(path, 200)
    const before = receiver.posts(path).length
    await page.getByRole('button', { name: 'Switch on' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch on' }).click()
    await expect.poll(() => recover.getAttribute('aria-disabled')).toBeNull()
    await recover.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('3 deliveries without success are sent again').waitFor()
    await dialog.getByRole('checkbox', { name: 'Include missed events' }).check()
    await dialog.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('Sent again: 3 · Missed events: 2').waitFor()

    const arrived = () => receiver.posts(path).slice(before)
    await expect.poll(() => arrived().length).toBe(customerCount)
    await page.goto(`/console/editions/${edition}/webhooks/${endpoint}`)
    await waitForContent(page)
    await expect.poll(() => readFigure(page, 'Delivered')).toBe('100%')
    expect(await readFigure(page, 'Waiting')).toBe('0')
    expect(await readFigure(page, 'Given up')).toBe('0')
    await page.getByText('Switched on', { exact: true }).waitFor()

    // Each event came once since the repair, signed, and what had failed before has the same id.
    const received = arrived()
    expect(received).toHaveLength(customerCount)
    expect(new Set(received.map(({ id }) => id)).size).toBe(customerCount)
    expect(ids.isSubsetOf(new Set(received.map(({ id }) => id)))).toBe(true)
    expect(received.every(({ verified }) => verified.length === 1)).toBe(true)
  })
})
