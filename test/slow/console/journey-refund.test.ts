import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { createEdition, importOrders } from '../../support/console/edition.ts'
import { expectAccessible, readFigure, useConsole, waitForContent } from '../../support/console/pages.ts'

const browser = useConsole()
const { service } = browser
const api = createClient(service.url, service.rootToken)
const organization = service.ids['nordlys'] ?? ''

interface Order {
  refunded_amount: number
  pending_refund_amount: number
  max_available_refund_amount: number
  transactions: { type: string; amount: number }[]
}

let edition = ''
let order = ''

beforeAll(async () => {
  const account = await api.post<{ id: string }>('/v1/merchant-accounts', {
    organization_id: organization,
    name: 'Account of the refund',
    type: 'test',
    supported_currencies: ['dkk'],
  })
  edition = await createEdition(service, 'Refund by two people', { merchant_account_id: account.id })
  const [id = ''] = await importOrders(service, edition, [
    {
      external_id: 'refunded',
      currency: 'dkk',
      status: 'completed',
      customer: { email: 'wrong-day@nordlys.example', first_name: 'Maja', last_name: 'Lind' },
      items: [{ product: 'Day ticket', quantity: 2, unit_price: 400 }],
      payment: { service: 'test', reference: 'payment-of-maja' },
    },
  ])
  order = id
})

const readOrder = () => api.get<Order>(`/v1/orders/${order}`)

const approveButton = (page: Page) => page.getByRole('button', { name: 'Approve', exact: true })
const openApproval = async (page: Page) => {
  await approveButton(page).click()
  await page.getByRole('dialog').getByLabel('Amount').waitFor()
}

/** Confirms the dialog, and returns the status with which the service answers. */
async function approve(page: Page): Promise<number> {
  const answer = page.waitForResponse((response) => response.url().endsWith('/approve'))
  await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
  return (await answer).status()
}

async function demandTwoPeople(): Promise<void> {
  const page = await browser.openPage(`/organizations/${organization}`, { as: 'OA' })
  await page.getByRole('switch', { name: 'Two people for each refund' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  const { refund_policy } = await api.get<{ refund_policy: { four_eyes: boolean } }>(
    `/v1/organizations/${organization}`,
  )
  expect(refund_policy.four_eyes).toBe(true)
}

/** Requests a part of the order, and returns the page of the request. */
async function requestRefund(): Promise<Page> {
  const page = await browser.openPage(`/editions/${edition}/orders/${order}`, { as: 'OM' })
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog
    .getByText(/Maximum.*800\.00|At most.*800\.00|800\.00/)
    .first()
    .waitFor()
  await dialog.getByLabel('Amount').fill('99.5')
  await dialog.getByLabel('Comment').fill('Bought on the wrong day')
  await dialog.getByRole('button', { name: 'Request refund' }).click()
  await page.waitForURL(/\/refunds\/rfr_/)
  return page
}

describe('a refund by two people', () => {
  it('is requested by one, approved by another, and paid once', async () => {
    await demandTwoPeople()
    const manager = await requestRefund()
    const refund = manager.url().split('/').at(-1) ?? ''

    // The person who asked cannot approve, and reads why.
    await approveButton(manager).waitFor()
    const reason = 'You asked for this refund. Somebody else has to approve it.'
    await expect.poll(() => approveButton(manager).getAttribute('aria-description')).toBe(reason)
    expect(await approveButton(manager).getAttribute('aria-disabled')).toBe('true')
    await manager.getByRole('link', { name: 'Maja Lind' }).focus()
    await manager.keyboard.press('Tab')
    await manager.getByRole('tooltip').getByText(reason).waitFor()
    await manager.getByText('Every manager and admin except the one who asked.').waitFor()
    expect(await readOrder()).toMatchObject({ refunded_amount: 0, pending_refund_amount: 99.5 })

    // Another person finds it in the queue.
    const lost = { as: 'OA', expects: /status of 409/ }
    const first = await browser.openPage(`/editions/${edition}/refunds`, lost)
    const queue = first.getByRole('region', { name: 'Waits for approval' })
    await queue.getByRole('cell', { name: 'Maja Lind' }).waitFor()
    await queue.locator(`a[href$="/refunds/${refund}"]:visible`).click()
    await first.waitForURL(new RegExp(refund))
    await waitForContent(first)
    await expectAccessible(first, 'journey-refund')

    // The same person approves in two windows at the same time.
    const second = await browser.openPage(`/editions/${edition}/refunds/${refund}`, lost)
    await Promise.all([openApproval(first), openApproval(second)])
    const statuses = await Promise.all([approve(first), approve(second)])
    expect(statuses.toSorted()).toEqual([200, 409])
    await (statuses[0] === 409 ? first : second).getByRole('alert').first().waitFor()
    await (statuses[0] === 200 ? first : second).getByText('Paid back', { exact: true }).first().waitFor()

    await expect.poll(readOrder).toMatchObject({ refunded_amount: 99.5, pending_refund_amount: 0 })
    const { transactions } = await readOrder()
    expect(transactions.filter(({ type }) => type === 'refund').map(({ amount }) => amount)).toEqual([99.5])

    // The page of the order has the numbers after it.
    await manager.goto(`/console/editions/${edition}/orders/${order}`)
    await waitForContent(manager)
    expect(await readFigure(manager, 'Refunded')).toContain('99.50')
    expect(await readFigure(manager, 'Can be refunded')).toContain('700.50')
  })
})
