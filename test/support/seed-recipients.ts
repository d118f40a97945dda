import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import type { CampaignRecord, RecipientOutcome } from '../../src/objects/campaign/schema.ts'
import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import { next } from './seed.ts'

/** Works on the recipients in a campaign's object. */
export const inRecipientStore = <Result>(
  campaignId: string,
  work: (store: RecipientStore) => Result,
): Promise<Result> =>
  runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(campaignId)), (_, state) => {
    const store = new RecipientStore(state.storage)
    store.open(campaignId)
    return work(store)
  })

/** Recipients of whom every third is sent, every third has failed, and one is left. */
export const seedRecipients = (campaignId: string, count: number, record: Partial<CampaignRecord> = {}) =>
  inRecipientStore(campaignId, (store) => {
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
      return { n, user_id: person.id, address, language: 'en' as const, person: JSON.stringify(person), reason: null }
    })
    store.transaction(() => {
      store.addRecipients(people)
      const endings = people.map(({ n }, index): [number, RecipientOutcome] =>
        index % 3 === 0
          ? [n, { to: 'sent', provider_id: `p-${n}`, at: 1_768_467_600_000 + (n % 5) * 1000 }]
          : [n, { to: 'failed', reason: 'unreachable', code: 'http_503', detail: '' }],
      )
      store.recordOutcomes(new Map(endings.filter((_, index) => index % 3 < 2)), false)
      store.change({ run: 1, status: 'sent', ...record })
    })
    return people
  })

/** Gives the object a run later than any that is started, so that it ignores every start. */
export const ignoreStarts = (campaignId: string) =>
  inRecipientStore(campaignId, (store) => store.change({ run: 1_000_000, status: 'failed' }))
