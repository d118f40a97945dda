import { env } from 'cloudflare:workers'
import { runInDurableObject } from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { NewRecipient } from '../../src/domain/campaigns/sender.ts'
import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import { freshId } from '../support/seeding/rows.ts'

const aRecipient = (n: number, address: string): NewRecipient => ({
  n,
  user_id: `usr_${n}`,
  address,
  language: 'en',
  person: '{}',
  reason: null,
})

function withStore(work: (store: RecipientStore) => void): Promise<void> {
  const id = freshId('campaign')
  return runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(id)), (_, state) => {
    const store = new RecipientStore(state.storage)
    store.open(id)
    work(store)
  })
}

const statesOf = (store: RecipientStore, numbers: readonly number[]) =>
  store.recipients(numbers).map(({ n, state, reason }) => [n, state, reason])

describe('unique addresses', () => {
  it('are required of recipients who are added in a later run, too', () =>
    withStore((store) => {
      store.requireUniqueAddresses()
      store.addRecipients([aRecipient(1, '+4520123456'), aRecipient(2, '+4520123456')])
      store.releaseUniqueAddresses()
      store.recordOutcomes(new Map([[1, { to: 'sent', provider_id: 'sms-1', at: 5 }]]), false)
      store.requireUniqueAddresses()
      store.addRecipients([aRecipient(3, '+4520123456'), aRecipient(4, '+4520123457')])
      expect(statesOf(store, [1, 2, 3, 4])).toEqual([
        [1, 'sent', null],
        [2, 'skipped', 'duplicate_address'],
        [3, 'skipped', 'duplicate_address'],
        [4, 'pending', null],
      ])
    }))

  it('cost nothing more for a result once they are released', () =>
    withStore((store) => {
      const rowsOf = (n: number): number => {
        const cursor = store.storage.sql.exec("update recipients set state = 'sent' where n = ?", n)
        cursor.toArray()
        return cursor.rowsWritten
      }
      store.requireUniqueAddresses()
      store.addRecipients([aRecipient(1, '+4520123456'), aRecipient(2, '+4520123457')])
      expect(rowsOf(1)).toBe(2)
      store.releaseUniqueAddresses()
      expect(rowsOf(2)).toBe(1)
    }))
})
