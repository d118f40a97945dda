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

function withStore(work: (store: RecipientStore, storage: DurableObjectStorage) => void): Promise<void> {
  const id = freshId('campaign')
  return runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(id)), (_, state) => {
    const store = new RecipientStore(state.storage)
    store.open(id)
    work(store, state.storage)
  })
}

const sent = { to: 'sent', provider_id: 'sms-1', at: 5 } as const

const statesOf = (store: RecipientStore, numbers: readonly number[]) =>
  store.recipients(numbers).map(({ n, state, reason }) => [n, state, reason])

describe('unique addresses', () => {
  it('are required of recipients who are added in a later run, too', () =>
    withStore((store) => {
      store.addRecipients([aRecipient(1, '+4520123456'), aRecipient(2, '+4520123456')], 'sms')
      store.recordOutcomes(new Map([[1, sent]]), false)
      store.addRecipients([aRecipient(3, '+4520123456'), aRecipient(4, '+4520123457')], 'sms')
      expect(statesOf(store, [1, 2, 3, 4])).toEqual([
        [1, 'sent', null],
        [2, 'skipped', 'duplicate_address'],
        [3, 'skipped', 'duplicate_address'],
        [4, 'pending', null],
      ])
    }))

  it('are required across pages, and after the object has started anew', () =>
    withStore((store, storage) => {
      store.addRecipients([aRecipient(1, '+4520123456')], 'sms')
      store.addRecipients([aRecipient(2, '+4520123456')], 'sms')
      const anew = new RecipientStore(storage)
      anew.addRecipients([aRecipient(2, '+4520123456'), aRecipient(3, '+4520123456')], 'sms')
      expect(statesOf(anew, [1, 2, 3])).toEqual([
        [1, 'pending', null],
        [2, 'skipped', 'duplicate_address'],
        [3, 'skipped', 'duplicate_address'],
      ])
      expect(anew.record()).toMatchObject({ total: 1, skipped: 2 })
    }))

  it('are free again when their recipient was skipped, removed or not added', () =>
    withStore((store) => {
      store.addRecipients([aRecipient(1, '+4520123451'), aRecipient(2, '+4520123452')], 'sms')
      const outcome = { to: 'skipped', reason: 'inactive', code: '', detail: '' } as const
      store.recordOutcomes(new Map([[1, outcome]]), false)
      store.addRecipients([aRecipient(3, '+4520123451')], 'sms')
      store.removeUnsent([])
      expect(() =>
        store.transaction(() => {
          store.addRecipients([aRecipient(4, '+4520123454')], 'sms')
          throw new Error('a fault')
        }),
      ).toThrow('a fault')
      store.addRecipients([aRecipient(5, '+4520123452'), aRecipient(6, '+4520123454')], 'sms')
      expect(statesOf(store, [1, 2, 3, 4, 5, 6])).toEqual([
        [5, 'pending', null],
        [6, 'pending', null],
      ])
    }))

  it('are not those that a known recipient has got since', () =>
    withStore((store) => {
      store.addRecipients([aRecipient(1, '+4520123451')], 'sms')
      store.recordOutcomes(new Map([[1, sent]]), false)
      store.addRecipients(
        [aRecipient(1, '+4520123452'), aRecipient(2, '+4520123452'), aRecipient(3, '+4520123451')],
        'sms',
      )
      expect(statesOf(store, [1, 2, 3])).toEqual([
        [1, 'sent', null],
        [2, 'pending', null],
        [3, 'skipped', 'duplicate_address'],
      ])
    }))

  it('cost no row', () =>
    withStore((store, { sql }) => {
      const indexes = sql.exec("select name from sqlite_master where type = 'index' and tbl_name = 'recipients'")
      expect(indexes.toArray()).toEqual([{ name: 'recipients_apart' }])
      store.addRecipients([aRecipient(1, '+4520123456')], 'sms')
      const cursor = sql.exec("update recipients set state = 'sent' where n = 1")
      cursor.toArray()
      expect(cursor.rowsWritten).toBe(1)
    }))
})
