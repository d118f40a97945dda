import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, openBrowser } from '../support/chromium.ts'
import { eventually, type MailingPlace, openMailing, sellWithReceipts } from '../support/mailing.ts'

interface OutboxPage {
  count: number
  results: { id: string; subject: string; to: string }[]
}

let place: MailingPlace
let browser: Browser
let service: OutboxPage
beforeAll(async () => {
  browser = await openBrowser(process.env['PICTURES'])
  place = await openMailing({})
  await sellWithReceipts(place, 60, 'look')
  service = await eventually(
    place,
    async (): Promise<OutboxPage> => (await fetch(`${place.url}/dev/outbox.json`)).json(),
    ({ count }) => count === 60,
  )
})
afterAll(async () => {
  await browser?.close()
  await place?.close()
})

const listForeignRequests = (requests: string[]) =>
  requests.filter((url) => !url.startsWith(place.url) && !url.startsWith('data:'))

describe('/dev/outbox in a browser', () => {
  it.for([360, 800])('lists the messages, %i pixels wide', async (width) => {
    const view = await browser.look(`${place.url}/dev/outbox`, width, `outbox-${width}`)
    expect(view.text).toContain('60 messages')
    for (const { subject } of service.results.slice(0, 50)) expect(view.text).toContain(subject)
    expect(view.text).toContain('Older')
    expect(view.scrollWidth).toBeLessThanOrEqual(width)
    expect(listForeignRequests(view.requests)).toEqual([])
    expect(view.complaints).toEqual([])
  })

  it.for([360, 800])('shows a message, %i pixels wide', async (width) => {
    const [message] = service.results
    const view = await browser.look(`${place.url}/dev/outbox/${message?.id}`, width, `message-${width}`)
    expect(view.title).toBe(message?.subject)
    expect(view.text).toContain(message?.to ?? 'nobody')
    expect(view.text).toContain('450,00\u00A0kr.')
    expect(view.scrollWidth).toBeLessThanOrEqual(width)
    expect(listForeignRequests(view.requests)).toEqual([])
    expect(view.complaints).toEqual([])
  })

  it('filters its messages', async () => {
    const view = await browser.look(`${place.url}/dev/outbox?channel=email&to=look-7%40`, 360, 'filtered')
    expect(view.text).toContain('1 message,')
    expect((await browser.look(`${place.url}/dev/outbox?channel=sms`, 360, 'empty')).text).toContain(
      'There are no messages yet.',
    )
  })
})
