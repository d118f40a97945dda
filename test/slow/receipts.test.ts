import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../support/fake-provider.ts'
import { eventually, type MailingPlace, openMailing, sellWithReceipts } from '../support/mailing.ts'

let provider: FakeProvider
let place: MailingPlace
beforeAll(async () => {
  provider = await startFakeProvider()
  place = await openMailing({ EMAIL_PROVIDER: 'resend', EMAIL_API_BASE: provider.url, EMAIL_API_KEY: 're_key' })
})
afterAll(async () => {
  await place?.close()
  await provider?.stop()
})
beforeEach(() => {
  provider.forget()
  provider.respondWith('accept')
})

const waitForMails = (count: number, seconds?: number) =>
  eventually(
    place,
    () => provider.accepted().length,
    (length) => length >= count,
    seconds,
  )

describe('receipts over real queues to a real provider', () => {
  it('are delivered once each, in the language of the customer', async () => {
    const addresses = await sellWithReceipts(place, 40, 'plain')
    await waitForMails(40)
    const accepted = provider.accepted()
    expect(accepted.map(({ to }) => /<(.*)>/.exec(to)?.[1]).toSorted()).toEqual(addresses.toSorted())
    expect([...provider.counts().values()].every((times) => times === 1)).toBe(true)
    const danish = accepted.find(({ to }) => to.includes('plain-1@'))
    expect(danish?.body).toMatchObject({ subject: 'Din ordre plain-1', to: ['Astrid Holm <plain-1@example.com>'] })
    expect(danish?.body['html']).toContain('Tak, Astrid.')
    expect(danish?.body['text']).toContain('450,00\u00A0kr.')
    for (const { key, references } of provider.calls()) expect(references).toEqual([key])
  })

  it('are delivered once when the provider cuts connections after it accepted', async () => {
    provider.respondWith((_, nth) => (nth === 1 ? 'accept and cut' : 'accept'))
    await sellWithReceipts(place, 5, 'cut')
    await waitForMails(5)
    // Each receipt is sent again with the same key after half a minute, and the provider returns what it accepted.
    await eventually(
      place,
      () => provider.calls().length,
      (length) => length >= 10,
      90,
    )
    expect([...provider.counts().values()]).toEqual([1, 1, 1, 1, 1])
    expect(new Set(provider.calls().map(({ key }) => key)).size).toBe(5)
  })

  it('wait while the provider limits the rate', async () => {
    let isResting = true
    provider.respondWith(() =>
      isResting ? { status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '2' } } : 'accept',
    )
    await sellWithReceipts(place, 20, 'rest')
    await eventually(
      place,
      () => provider.calls().length,
      (length) => length >= 1,
    )
    isResting = false
    await waitForMails(20, 90)
    expect(provider.calls().length).toBeLessThanOrEqual(30)
    expect([...provider.counts().values()].every((times) => times === 1)).toBe(true)
  })
})
