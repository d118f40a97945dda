import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { createEdition, importOrders } from '../../support/console/edition.ts'
import { expectAccessible, useConsole } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser
const api = createClient(service.url, service.rootToken)

/** The amounts that the customers have paid. Four of them get the campaign. */
const amounts = [900, 800, 700, 600, 300, 100]
const recipientCount = 4
const openers = [0, 2]
const addressOf = (index: number) => `reader-${index}@campaign.example`
const subject = 'The programme is here'

/** Visits within two seconds count as those of programs. */
const prefetchMs = 2000
const browserAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'

let edition = ''
beforeAll(async () => {
  edition = await createEdition(service, 'Readers and others')
  await importOrders(
    service,
    edition,
    amounts.map((unit_price, index) => ({
      external_id: `reader-${index}`,
      currency: 'dkk',
      status: 'completed',
      customer: { email: addressOf(index), first_name: `Reader ${index}` },
      items: [{ product: 'Day ticket', quantity: 1, unit_price }],
    })),
  )
  const tenant = { organization_id: service.ids['nordlys'], edition_id: edition }
  const { id } = await api.post<{ id: string }>('/v1/email-messages', {
    ...tenant,
    title: 'Programme',
    type: 'campaign',
    subject: { en: subject, da: 'Programmet er her' },
  })
  const text = { en: '<p>Hello {{ customer.first_name }}</p>', da: '<p>Hej {{ customer.first_name }}</p>' }
  await api.patch(`/v1/email-messages/${id}`, { blocks: [{ type: 'rich_text', data: { text } }] })
})

/** The captured e-mails to an address, the newest first. */
async function listMails(to: string) {
  const response = await fetch(`${service.url}/dev/outbox.json?to=${encodeURIComponent(to)}`)
  const { results } = (await response.json()) as { results: { id: string; subject: string }[] }
  return results
}

/** Loads the image by which an e-mail says that it was opened. */
async function openMail(to: string): Promise<void> {
  const [mail] = await listMails(to)
  const response = await fetch(`${service.url}/dev/outbox/${mail?.id}.json`)
  const { html } = (await response.json()) as { html: string }
  const image = /"(http[^"]+\/t\/o\/[^"]+)"/.exec(html)?.[1] ?? ''
  expect((await fetch(image, { headers: { 'user-agent': browserAgent } })).status).toBe(200)
}

const add = async (page: Page, name: string) => {
  await page.getByRole('button', { name: 'Add a condition' }).click()
  await page.getByRole('menuitem', { name, exact: true }).click()
}

/** Reads the number that stands before these words. */
const readCount = async (page: Page, words: RegExp) =>
  Number(/\d+/.exec((await page.getByText(words).first().textContent()) ?? '')?.[0])

async function createSegment(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New segment' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New segment' })
  await dialog.getByLabel('Name').fill('Spent most')
  await dialog.getByRole('combobox', { name: 'Kind of message' }).click()
  await page.getByRole('option', { name: 'Transactional' }).click()
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL(/\/segments\/seg_/)

  // Two rows. The number follows what is typed, and is the one of the API.
  const met = /people meet it and can be written to/
  await expect.poll(() => readCount(page, met)).toBe(amounts.length)
  await add(page, 'E-mail')
  await page.getByRole('combobox', { name: 'E-mail: Comparison' }).click()
  await page.getByRole('option', { name: 'ends with' }).click()
  await page.getByRole('textbox', { name: 'E-mail', exact: true }).fill('@campaign.example')
  await add(page, 'Total spent')
  await page.getByRole('textbox', { name: 'Total spent', exact: true }).fill('600')
  await expect.poll(() => readCount(page, met)).toBe(recipientCount)
  await expectAccessible(page, 'journey-segment')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  const segment = page.url().split('/').at(-1) ?? ''
  const { expression } = await api.get<{ expression: string }>(`/v1/segments/${segment}`)
  const audience = { communication_type: 'transactional', communication_channel: 'email' }
  const check = await api.post<{ estimated_user_count: number }>('/v1/segments/validate-cel', {
    edition_id: edition,
    expression,
    ...audience,
  })
  expect(check.estimated_user_count).toBe(recipientCount)
  await calculate(page)
}

/** Calculates the segment of the page, unless that happens already. */
async function calculate(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Calculate' }).click()
  const members = page.getByRole('region', { name: 'Members' })
  await members.getByText(/^Calculated/).waitFor()
  await page.getByText('Ready', { exact: true }).waitFor()
}

async function composeCampaign(page: Page): Promise<void> {
  await page.goto(`/console/editions/${edition}/campaigns`)
  await page.getByRole('button', { name: 'New campaign' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New campaign' })
  await dialog.getByLabel('Name').fill('Programme')
  await dialog.getByRole('combobox', { name: 'Segment' }).click()
  await page.getByRole('option', { name: /Spent most/ }).click()
  await dialog.getByRole('button', { name: 'New campaign' }).click()
  await page.waitForURL(/\/campaigns\/cmp_.*step=content/)

  await page.getByRole('combobox', { name: 'Message' }).click()
  await page.getByRole('option', { name: 'Programme' }).click()
  await page.getByText('The draft is saved.').waitFor()
  await page.getByRole('button', { name: 'Next: Test' }).click()
  await page.getByRole('button', { name: 'Send 1 test' }).click()
  await page.getByRole('group', { name: 'Tests' }).getByText('oa@nordlys.example').waitFor()
  await expect
    .poll(async () => (await listMails('oa@nordlys.example')).map((mail) => mail.subject))
    .toContainEqual(expect.stringContaining(subject))
  await page.getByRole('button', { name: 'Next: When' }).click()
}

/** Starts the campaign, and waits until all parts of its bar together are the total. */
async function send(page: Page): Promise<void> {
  const plan = page.getByRole('region', { name: 'If you send now' })
  await plan.getByText(`of ${recipientCount} in the segment`).waitFor()
  await plan.getByText('people get it').waitFor()
  await page.getByRole('button', { name: 'Send now…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send now' })
  await dialog.getByText('4 people get the message now.').waitFor()
  await dialog.getByRole('button', { name: 'Send to 4 people' }).click()
  const delivery = page.getByRole('region', { name: 'Delivery' })
  await delivery.getByText('of 4 recipients have it').waitFor()
  await expect.poll(() => delivery.getByRole('img').getAttribute('aria-label')).toBe(`Sent ${recipientCount}, Failed 0`)
  await delivery.getByText(/= 4 recipients/).waitFor()
}

describe('a segment', () => {
  it('becomes a campaign with live numbers, and a segment of those who did not open', async () => {
    const page = await browser.openPage(`/editions/${edition}/segments`, { as: 'OA' })
    await createSegment(page)
    await composeCampaign(page)
    await send(page)
    await page.getByText('Sent', { exact: true }).first().waitFor()

    // Some people open it, which the page shows by itself.
    const addresses = amounts.slice(0, recipientCount).map((_, index) => addressOf(index))
    for (const address of addresses) await expect.poll(() => listMails(address)).toHaveLength(1)
    await wait(prefetchMs + 100)
    for (const index of openers) await openMail(addressOf(index))
    const engagement = page.getByRole('region', { name: 'Engagement' })
    const count = async (name: string) =>
      engagement
        .getByRole('row', { name: new RegExp(`^${name}`) })
        .locator('td')
        .nth(2)
        .textContent()
    await expect.poll(() => count('Opened')).toBe(String(openers.length))
    await expect.poll(() => count('Not opened')).toBe(String(recipientCount - openers.length))
    await expectAccessible(page, 'journey-campaign')

    // The people who did not open become a segment of their own.
    await engagement.getByRole('button', { name: 'Segment of these: Did not open' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create the segment' }).click()
    await page.waitForURL(/\/segments\/seg_/)
    const segment = page.url().split('/').at(-1) ?? ''
    await page.getByRole('heading', { level: 1, name: 'Did not open · Programme' }).waitFor()
    await calculate(page)
    await page.getByRole('tab', { name: 'Members' }).click()
    await page.getByText('2 members', { exact: true }).waitFor()
    const { results } = await api.get<{ results: { email: string }[] }>(`/v1/segments/${segment}/users`)
    expect(results.map(({ email }) => email).toSorted()).toEqual(
      addresses.filter((_, index) => !openers.includes(index)),
    )
  })
})
