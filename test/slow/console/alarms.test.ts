import { expect, it } from 'vitest'
import { expectAccessible, useConsole, waitForContent } from '../../support/console/pages.ts'

const browser = useConsole()

const alarm = {
  subject: 'refunds',
  resource_id: null,
  message: 'Messages of the queue refunds failed at every attempt.',
  action: 'Read them.',
  guide: 'docs/operating.md#messages-that-died',
  since: '2026-07-03T21:14:00.000Z',
  is_present: true,
  ended_at: null,
  notified_at: null,
  notification_error: null,
}
const alarms = [
  { ...alarm, kind: 'dead_messages', notified_at: '2026-07-03T21:15:00.000Z' },
  { ...alarm, kind: 'sweeps_late', subject: null, notification_error: 'The receiver answers 500.' },
  { ...alarm, kind: 'sweep_failing', is_present: false },
  { ...alarm, kind: 'provider_failing', subject: 'payments', resource_id: 'mac_01JZ8V6S2E8Y0H1M3K5N7P9QRS' },
  { ...alarm, kind: 'database_full', subject: null, is_present: false, ended_at: '2026-07-03T21:16:00.000Z' },
]

it('the page of the system shows alarms first, with what to do, and is accessible', async () => {
  const page = await browser.openPage('/system', { as: 'root' })
  await page.route('**/v1/system/status', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), alarms } })
  })
  await page.reload()
  await waitForContent(page)
  const [first] = await page.getByRole('main').getByRole('region').all()
  const text = (await first?.textContent()) ?? ''
  for (const words of [
    'Alarms',
    'Late sweeps',
    'A provider that fails: Payment provider',
    'mac_01JZ8V6S2E8Y0H1M3K5N7P9QRS',
    'Not posted',
    'The receiver answers 500.',
    'It ends when the cause stays away for ten minutes.',
    'Check that the cron trigger runs',
  ])
    expect(text).toContain(words)
  expect(await page.getByText('2 problems').count()).toBe(1)
  await page.setViewportSize({ width: 390, height: 860 })
  await expectAccessible(page, 'alarms-390')
})
