import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { createEdition } from '../../support/console/edition.ts'
import { expectAccessible, useConsole, waitForContent } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser
const api = createClient(service.url, service.rootToken)

/** A table as Excel writes it in Denmark. The quantity of the fourth order is a word. */
const table = [
  'Ordrenr.;Navn;E-mail;Billettype;Antal;Beløb;Købt den;Hold',
  'D-1001;Freja Nygård;freja@import.example;Dagsbillet;2;2.501,00;14-03-2026 12:30;rød',
  'D-1002;Søren Ødegaard;soeren@import.example;Dags-billet;1;899,50;15-03-2026 09:05;blå',
  'D-1003;"Lund; Åse";aase@import.example;VIP Lounge;1;1.999,95;28-03-2026 18:00;',
  'D-1004;Elif Bakker;elif@import.example;Dagsbillet;mange;895,00;16-03-2026 10:00;rød',
  'D-1005;Tomás Sjöberg;tomas@import.example;VIP Lounge;3;5.999,85;29-03-2026 12:15;blå',
].join('\r\n')

let edition = ''
beforeAll(async () => {
  edition = await createEdition(service, 'Orders of a file')
  await api.post('/v1/products', {
    organization_id: service.ids['nordlys'],
    edition_id: edition,
    name: 'Dagsbillet',
    price: 1250,
  })
})

const target = (page: Page, column: string) => page.locator(`input[aria-label="Becomes: ${column}"]`)
const row = (page: Page, name: string | RegExp) => page.getByRole('row', { name })
const tile = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`${name}$`) })

async function pasteTable(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New import' }).first().click()
  await page.getByRole('button', { name: 'Paste rows' }).click()
  await page.getByLabel(/^Rows with their header/).fill(table)
  await page.getByRole('button', { name: 'Use these rows' }).click()
  await page.waitForURL(/\/imports\/imp_/)
  await page.getByRole('group', { name: 'Columns' }).waitFor()
}

/** Corrects what the service could not know, which it asks for before it goes on. */
async function decideColumns(page: Page): Promise<void> {
  expect(await target(page, 'Ordrenr.').inputValue()).toBe('Order id')
  expect(await target(page, 'Antal').inputValue()).toBe('Quantity')
  await row(page, /^Ordrenr\./)
    .getByText('Its header')
    .waitFor()
  const next = page.getByRole('button', { name: 'Continue' })
  await expect.poll(() => next.getAttribute('aria-description')).toBe('Answer the open questions first.')
  await expectAccessible(page, 'journey-columns')
  await target(page, 'Beløb').fill('Line')
  await page.getByRole('option', { name: 'Line total' }).click()
  await row(page, /^Beløb/)
    .getByText('Chosen')
    .waitFor()
  await expect.poll(() => target(page, 'Beløb').inputValue()).toBe('Line total')
  await target(page, 'Hold').fill('Leave')
  await page.getByRole('option', { name: 'Leave this column out' }).click()
  await expect.poll(() => next.getAttribute('aria-disabled')).toBeNull()
  await next.click()
}

async function decideProducts(page: Page): Promise<void> {
  await page.getByText('1 product waits for your decision').waitFor()
  expect(await target(page, 'Dagsbillet').inputValue()).toBe('Dagsbillet')
  expect(await target(page, 'VIP Lounge').inputValue()).toBe('Create: VIP Lounge')
  await row(page, /^Dags-billet/)
    .getByText('Looks like “Dagsbillet”')
    .waitFor()
  await expectAccessible(page, 'journey-products')
  await target(page, 'Dags-billet').click()
  await page.getByRole('option', { name: 'It is: Dagsbillet' }).click()
}

async function startFromPreview(page: Page): Promise<void> {
  const start = page.getByRole('button', { name: 'Import 4 orders' })
  await start.waitFor()
  await row(page, /D-1001/)
    .getByText('2,501.00')
    .waitFor()
  await row(page, /D-1002/)
    .getByText('1 × Dagsbillet')
    .waitFor()
  await row(page, /D-1003/)
    .getByText('Lund; Åse')
    .waitFor()
  // The error is in its cell, in words.
  await tile(page, 'have errors').click()
  const cell = page.getByRole('cell', { name: /mange/ })
  await cell.getByRole('button').click()
  await page.getByRole('dialog').getByText(/mange/).first().waitFor()
  await page.keyboard.press('Escape')
  await expectAccessible(page, 'journey-preview')
  await start.click()
  const dialog = page.getByRole('dialog', { name: 'Start this import?' })
  await dialog.getByText('4 will be created').waitFor()
  await dialog.getByText('1 have errors').waitFor()
  await dialog.getByText('What has errors is not imported. You can download these rows afterwards.').waitFor()
  await dialog.getByRole('button', { name: 'Start' }).click()
}

describe('a file of another system', () => {
  it('becomes orders after a few decisions, and is undone', async () => {
    const page = await browser.openPage(`/editions/${edition}/imports`, { as: 'OM' })
    await pasteTable(page)
    await decideColumns(page)
    await decideProducts(page)
    await startFromPreview(page)

    // The report counts what became of each order.
    await page.getByText('Completed with errors').first().waitFor()
    const counts = () =>
      Promise.all(['Created', 'Changed', 'Skipped', 'With errors'].map((name) => tile(page, name).textContent()))
    await expect.poll(counts).toEqual(['4Created', '0Changed', '0Skipped', '1With errors'])
    const report = page.url()
    await expectAccessible(page, 'journey-report')

    // They are orders, with what the file says.
    await page.getByRole('link', { name: 'Show the orders' }).click()
    await page.waitForURL(/\/orders\?.*data_import_id=/)
    const orders = page.url()
    await page.getByText('4 orders', { exact: true }).waitFor()
    await row(page, /D-1005/)
      .getByText('5,999.85')
      .waitFor()
    await row(page, /D-1002/)
      .getByText('soeren@import.example')
      .waitFor()
    expect(await row(page, /D-1004/).count()).toBe(0)

    // After the undo they are gone.
    await page.goto(report)
    await page.getByRole('button', { name: 'Undo the import' }).click()
    const dialog = page.getByRole('dialog', { name: 'Undo this import?' })
    await dialog.getByText('4 orders that it created are deleted, with their tickets.').waitFor()
    await dialog.getByRole('button', { name: 'Undo the import' }).click()
    await page.getByText('Undone: 4 orders').waitFor()
    await page.goto(orders)
    await waitForContent(page)
    await page.getByRole('main').getByText('Nothing matches.').waitFor()
    const { count } = await api.get<{ count: number }>(`/v1/orders?edition_id=${edition}`)
    expect(count).toBe(0)
  })
})
