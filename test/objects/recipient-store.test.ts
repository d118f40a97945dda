import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import type { NewRecipient } from '../../src/domain/campaigns/sender.ts'
import { RecipientStore } from '../../src/objects/campaign/recipient-store.ts'
import { freshId } from '../support/seeding/rows.ts'

const buildRecipient = (n: number, address: string): NewRecipient => ({
  n,
  user_id: `usr_${n}`,
  address,
  language: 'en',
  person: JSON.stringify({ id: `usr_${n}`, email: null, phone_number: null, first_name: 'Astrid', last_name: 'Holm' }),
  conditions: 0,
  reason: null,
})

function withStore(work: (store: RecipientStore, storage: DurableObjectStorage) => void): Promise<void> {
  const id = freshId('campaign')
  return runInDurableObject(env.CAMPAIGN_SENDER.get(env.CAMPAIGN_SENDER.idFromName(id)), (_, state) => {
    const store = new RecipientStore(state.storage)
    store.ensureRecord(id)
    work(store, state.storage)
  })
}

const sent = { to: 'sent', provider_id: 'sms-1', at: 5 } as const

const listStates = (store: RecipientStore, numbers: readonly number[]) =>
  store.listRecipients(numbers, ['n', 'state', 'reason']).map(({ n, state, reason }) => [n, state, reason])

describe('an address', () => {
  it('belongs to one recipient, also when recipients are added in a later run', () =>
    withStore((store) => {
      store.addRecipients([buildRecipient(1, '+4520123456'), buildRecipient(2, '+4520123456')], 'sms')
      store.recordOutcomes(new Map([[1, sent]]), false)
      store.addRecipients([buildRecipient(3, '+4520123456'), buildRecipient(4, '+4520123457')], 'sms')
      expect(listStates(store, [1, 2, 3, 4])).toEqual([
        [1, 'sent', null],
        [2, 'skipped', 'duplicate_address'],
        [3, 'skipped', 'duplicate_address'],
        [4, 'pending', null],
      ])
    }))

  it('belongs to one recipient across pages, and after the object has started anew', () =>
    withStore((store, storage) => {
      store.addRecipients([buildRecipient(1, '+4520123456')], 'sms')
      store.addRecipients([buildRecipient(2, '+4520123456')], 'sms')
      const restarted = new RecipientStore(storage)
      restarted.addRecipients([buildRecipient(2, '+4520123456'), buildRecipient(3, '+4520123456')], 'sms')
      expect(listStates(restarted, [1, 2, 3])).toEqual([
        [1, 'pending', null],
        [2, 'skipped', 'duplicate_address'],
        [3, 'skipped', 'duplicate_address'],
      ])
      expect(restarted.readRecord()).toMatchObject({ total: 1, skipped: 2 })
    }))

  it('is free again when its recipient was skipped, removed or not added', () =>
    withStore((store) => {
      store.addRecipients([buildRecipient(1, '+4520123451'), buildRecipient(2, '+4520123452')], 'sms')
      const outcome = { to: 'skipped', reason: 'inactive', code: '', detail: '' } as const
      store.recordOutcomes(new Map([[1, outcome]]), false)
      store.addRecipients([buildRecipient(3, '+4520123451')], 'sms')
      expect(listStates(store, [1, 3])).toEqual([
        [1, 'skipped', 'inactive'],
        [3, 'pending', null],
      ])
      store.removeUnsent([])
      expect(() =>
        store.transaction(() => {
          store.addRecipients([buildRecipient(4, '+4520123454')], 'sms')
          throw new Error('a fault')
        }),
      ).toThrow('a fault')
      store.addRecipients([buildRecipient(5, '+4520123452'), buildRecipient(6, '+4520123454')], 'sms')
      expect(listStates(store, [1, 2, 3, 4, 5, 6])).toEqual([
        [5, 'pending', null],
        [6, 'pending', null],
      ])
    }))

  it('does not count when a known recipient has got it since', () =>
    withStore((store) => {
      store.addRecipients([buildRecipient(1, '+4520123451')], 'sms')
      store.recordOutcomes(new Map([[1, sent]]), false)
      store.addRecipients(
        [buildRecipient(1, '+4520123452'), buildRecipient(2, '+4520123452'), buildRecipient(3, '+4520123451')],
        'sms',
      )
      expect(listStates(store, [1, 2, 3])).toEqual([
        [1, 'sent', null],
        [2, 'pending', null],
        [3, 'skipped', 'duplicate_address'],
      ])
    }))
})

describe('waiting recipients', () => {
  const buildRecipients = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => buildRecipient(first + index, `a${first + index}@example.dk`))

  it('are found even when they came in another order, and are added once', () =>
    withStore((store) => {
      store.addRecipients([buildRecipient(7, 'g'), buildRecipient(3, 'c')], 'email')
      store.addRecipients([buildRecipient(5, 'e'), buildRecipient(7, 'other'), buildRecipient(9, 'i')], 'email')
      expect(store.listRecipients([3, 5, 7, 9], ['n', 'address']).map(({ n, address }) => [n, address])).toEqual([
        [3, 'c'],
        [5, 'e'],
        [7, 'g'],
        [9, 'i'],
      ])
      expect(store.readRecord()).toMatchObject({ total: 4 })
    }))

  it('are claimed in the order of their numbers', () =>
    withStore((store) => {
      store.addRecipients(buildRecipients(1, 130), 'email')
      const record = store.readRecord()
      if (!record) throw new Error('no record')
      const after = (chunked_up_to: number, limit: number) => {
        const numbers = store.listPending({ ...record, chunked_up_to }, limit)
        return [numbers[0], numbers.at(-1), numbers.length]
      }
      expect([after(0, 100), after(100, 100), after(70, 9), after(130, 1)]).toEqual([
        [1, 100, 100],
        [101, 130, 30],
        [71, 79, 9],
        [undefined, undefined, 0],
      ])
      store.recordOutcomes(new Map([[60, sent]]), false)
      expect([after(0, 100), after(50, 100)]).toEqual([
        [1, 101, 100],
        [51, 130, 79],
      ])
      expect(store.findRecipient(60)).toMatchObject({ state: 'sent', provider_id: 'sms-1', sent_at: 5, attempts: 1 })
      expect(store.readRecord()).toMatchObject({ total: 130, sent: 1 })
    }))

  it('are as before after a fault, and new after they were replaced', () =>
    withStore((store) => {
      const listAddresses = (n: number) => store.listRecipients([n], ['address']).map(({ address }) => address)
      const fail = (work: () => void) =>
        expect(() =>
          store.transaction(() => {
            work()
            throw new Error('a fault')
          }),
        ).toThrow('a fault')
      fail(() => {
        store.addRecipients([buildRecipient(1, 'first')], 'email')
        expect(listAddresses(1)).toEqual(['first'])
      })
      store.addRecipients([buildRecipient(1, 'second')], 'email')
      expect(listAddresses(1)).toEqual(['second'])
      fail(() => store.recordOutcomes(new Map([[1, sent]]), false))
      expect(listStates(store, [1])).toEqual([[1, 'pending', null]])
      store.removeUnsent([])
      expect(listAddresses(1)).toEqual([])
      store.addRecipients([buildRecipient(1, 'third')], 'email')
      expect(listAddresses(1)).toEqual(['third'])
    }))

  it('are claimed together with those of an earlier run whose numbers lie between theirs', () =>
    withStore((store) => {
      store.addRecipients(buildRecipients(1, 10), 'email')
      store.recordOutcomes(new Map([[5, { to: 'failed', reason: 'unreachable', code: '', detail: '' }]]), false)
      store.removeUnsent([])
      store.addRecipients(buildRecipients(1, 10), 'email')
      store.reopen(['unreachable'])
      const record = store.readRecord()
      expect(record && store.listPending(record, 100)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      expect(record && store.listPending({ ...record, chunked_up_to: 3 }, 3)).toEqual([4, 5, 6])
    }))
})

describe('the outcome of a recipient', () => {
  const failed = { to: 'failed', reason: 'unreachable', code: 'c', detail: 'd' } as const
  const skipped = { to: 'skipped', reason: 'inactive', code: '', detail: '' } as const

  it('is final once the message was sent, and wins over every other', () =>
    withStore((store) => {
      store.addRecipients(
        [1, 2, 3, 4].map((n) => buildRecipient(n, `a${n}`)),
        'email',
      )
      const outcomes = [
        [sent, failed, skipped, { ...sent, at: 9, provider_id: 'other' }],
        [failed, sent],
        [skipped, sent],
        [skipped, failed],
      ] as const
      for (const [index, each] of outcomes.entries())
        for (const outcome of each) store.recordOutcomes(new Map([[index + 1, outcome]]), false)
      expect([1, 2, 3, 4].map((n) => store.findRecipient(n))).toMatchObject([
        { state: 'sent', reason: null, sent_at: 5, provider_id: 'sms-1', attempts: 1 },
        { state: 'sent', reason: null, sent_at: 5, code: '', detail: '', attempts: 2 },
        { state: 'sent', reason: null, sent_at: 5, attempts: 1 },
        { state: 'skipped', reason: 'inactive', attempts: 0 },
      ])
      expect(store.readRecord()).toMatchObject({ total: 3, sent: 3, failed: 0, skipped: 1 })
    }))
})
