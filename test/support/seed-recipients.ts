import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import type { CampaignRecord, Settled } from '../../src/objects/campaign/schema.ts'
import { Ledger } from '../../src/objects/campaign/recipient-store.ts'
import { next } from './seed.ts'

/** Works in the books of a campaign's object. */
export const inBooks = <Result>(campaignId: string, work: (ledger: Ledger) => Result): Promise<Result> =>
  runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaignId)), (_, state) => {
    const ledger = new Ledger(state.storage)
    ledger.open(campaignId)
    return work(ledger)
  })

/** Recipients of whom every third is sent, every third has failed, and one is left. */
export const seedRecipients = (campaignId: string, count: number, record: Partial<CampaignRecord> = {}) =>
  inBooks(campaignId, (ledger) => {
    const people = Array.from({ length: count }, () => {
      const n = next()
      // Pairs share an address: their order is settled by the key.
      const address = `guest-${String(Math.floor(n / 2)).padStart(6, '0')}@example.test`
      const person = {
        id: `usr_${n}`,
        email: address,
        phone_number: null,
        first_name: 'Astrid',
        last_name: `Holm ${n}`,
      }
      return { n, user_id: person.id, address, language: 'en', person: JSON.stringify(person), reason: null }
    })
    ledger.together(() => {
      ledger.admit(people)
      const endings = people.map(({ n }, index): [number, Settled] =>
        index % 3 === 0
          ? [n, { to: 'sent', provider_id: `p-${n}`, at: 1_768_467_600_000 + (n % 5) * 1000 }]
          : [n, { to: 'failed', reason: 'unreachable', code: 'http_503', detail: '' }],
      )
      ledger.settle(new Map(endings.filter((_, index) => index % 3 < 2)), false)
      ledger.change({ run: 1, status: 'sent', ...record })
    })
    return people
  })

/** An object that believes in a later start than it is ever told of: messages that wake it do nothing. */
export const deafen = (campaignId: string) =>
  inBooks(campaignId, (ledger) => ledger.change({ run: 1_000_000, status: 'failed' }))
