import { ApiError } from '@event-commerce/client'
import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { findUses, judgeTicket, type Use } from '../src/pages/purchases/judgement'
import type * as Redeem from '../src/pages/purchases/redeem'
import type * as ScanStore from '../src/pages/purchases/scan-store'

const ticket = { status: 'active' as const, is_unlimited_use: false, available_uses: 1, valid_until: null }
const now = Date.parse('2026-11-29T10:00:00Z')

describe('judgeTicket', () => {
  it('lets in a ticket with uses left, and one without a limit', () => {
    expect(judgeTicket(ticket, now)).toEqual({ mayEnter: true })
    expect(judgeTicket({ ...ticket, is_unlimited_use: true, available_uses: 0 }, now)).toEqual({ mayEnter: true })
  })

  it('refuses a ticket that is used, over or not held', () => {
    expect(judgeTicket({ ...ticket, available_uses: 0 }, now)).toEqual({ mayEnter: false, reason: 'used' })
    expect(judgeTicket({ ...ticket, valid_until: '2026-11-29T10:00:00.000Z' }, now)).toEqual({
      mayEnter: false,
      reason: 'expired',
    })
    for (const status of ['pending', 'used', 'refunded', 'expired', 'cancelled'] as const)
      expect(judgeTicket({ ...ticket, status }, now)).toEqual({ mayEnter: false, reason: status })
  })
})

describe('findUses', () => {
  const use = (id: string, used_at: string, reverted_at: string | null = null) => ({ id, used_at, reverted_at }) as Use

  it('finds the first and the last use that were not reverted, whatever their order', () => {
    const uses = [
      use('c', '2026-11-29T09:00:00.000Z'),
      use('a', '2026-11-29T07:00:00.000Z', '2026-11-29T07:01:00.000Z'),
      use('b', '2026-11-29T08:00:00.000Z'),
    ]
    expect(findUses(uses)).toMatchObject({ first: { id: 'b' }, last: { id: 'c' } })
    expect(findUses(uses.slice(1, 2))).toBeNull()
  })
})

const problem = (code: string, status: number, more = {}) =>
  new ApiError({ code, status, errors: [], detail: '', title: '', type: '', ...more }, null)

/** A service with one ticket, which stores the answers of keys as the API does. */
function startService(limit: number) {
  const answers = new Map<string, { use: string; usedAt: string } | ApiError>()
  let uses = 0
  return {
    count: () => uses,
    isUsedBy: (key: string) => answers.has(key) && !(answers.get(key) instanceof ApiError),
    use(key: string) {
      const stored = answers.get(key)
      if (stored instanceof ApiError) throw stored
      if (stored) return stored
      if (uses === limit) {
        const refusal = problem('no_uses_left', 409)
        answers.set(key, refusal)
        throw refusal
      }
      uses++
      const answer = { use: `use_${uses}`, usedAt: '2026-11-29T10:00:01.000Z' }
      answers.set(key, answer)
      return answer
    },
  }
}

type Fault = 'none' | 'lost on the way' | 'answer lost' | 'fails'

describe('redeem', () => {
  let redeem: (typeof Redeem)['redeem']
  let listForgotten: (typeof Redeem)['listForgotten']
  let store: typeof ScanStore

  beforeAll(async () => {
    const items = new Map<string, string>()
    vi.stubGlobal('sessionStorage', {
      getItem: (key: string) => items.get(key) ?? null,
      setItem: (key: string, value: string) => items.set(key, value),
    })
    ;({ redeem, listForgotten } = await import('../src/pages/purchases/redeem'))
    store = await import('../src/pages/purchases/scan-store')
  })

  const isUnanswered = (error: unknown) => !(error instanceof ApiError) || error.status >= 500
  const pause = () => Promise.resolve()
  const addScan = (): ScanStore.Scan => {
    const scan: ScanStore.Scan = {
      id: crypto.randomUUID(),
      edition: 'edt_1',
      code: 'DAY-1',
      at: '2026-11-29T10:00:00.000Z',
      ticket: { id: 'pur_1', order: 'ord_1', product: 'Day ticket', holder: 'Astrid Holm' },
      outcome: 'waiting',
      reason: null,
      location: null,
      use: null,
    }
    store.addScan(scan)
    return scan
  }
  const findScan = (id: string) => store.readScans().find((scan) => scan.id === id)

  it('uses a ticket at most as often as it has uses, whatever is lost, and says so of each scan', async () => {
    const fault = constantFrom<Fault>('none', 'lost on the way', 'answer lost', 'fails')
    await assert(
      asyncProperty(
        integer({ min: 0, max: 3 }),
        array(array(fault, { maxLength: 4 }), { maxLength: 5 }),
        async (limit, scans) => {
          const service = startService(limit)
          const results = await Promise.all(
            scans.map((faults) => {
              const left = [...faults]
              const send = async ({ id }: ScanStore.Scan) => {
                const next = left.shift() ?? 'none'
                if (next === 'lost on the way') throw new TypeError('Failed to fetch')
                if (next === 'fails') throw problem('internal_error', 500)
                const answer = service.use(id)
                if (next === 'answer lost') throw new TypeError('Failed to fetch')
                return answer
              }
              return redeem(addScan(), { send, isUnanswered, pause })
            }),
          )
          const entered = results.filter(({ outcome }) => outcome === 'in')
          expect(entered).toHaveLength(Math.min(limit, scans.length))
          expect(service.count()).toBe(entered.length)
          for (const result of results) {
            expect(result.outcome === 'in').toBe(service.isUsedBy(result.id))
            expect(findScan(result.id)).toMatchObject({
              outcome: result.outcome,
              use: result.use,
              reason: result.reason,
            })
          }
          expect(results.filter(({ outcome, reason }) => outcome === 'refused' && reason !== 'used')).toEqual([])
        },
      ),
    )
  })

  it('says why the service refuses a ticket', async () => {
    const send = () => Promise.reject(problem('purchase_not_usable', 409, { current_status: 'refunded' }))
    expect(await redeem(addScan(), { send, isUnanswered, pause })).toMatchObject({
      outcome: 'refused',
      reason: 'refunded',
    })
  })

  it('keeps a scan waiting when the session ends, so that the next one sends it again', async () => {
    const scan = addScan()
    const send = vi.fn<() => Promise<never>>()
    send.mockRejectedValueOnce(new TypeError('Failed to fetch')).mockRejectedValue(problem('not_authenticated', 401))
    await expect(redeem(scan, { send, isUnanswered, pause })).rejects.toThrow(ApiError)
    expect(findScan(scan.id)?.outcome).toBe('waiting')
    expect(listForgotten()).toContainEqual(scan)
    store.changeScan(scan.id, { outcome: 'in' })
  })

  it('reports an error that says nothing about the ticket, and counts nothing as used', async () => {
    const scan = addScan()
    const send = () => Promise.reject(problem('permission_denied', 403))
    await expect(redeem(scan, { send, isUnanswered, pause })).rejects.toThrow(ApiError)
    expect(findScan(scan.id)?.outcome).toBe('failed')
  })

  it('forgets the scans of another person, and never one that waits because many came after it', () => {
    store.beginScans('usr_1')
    const waiting = addScan()
    for (let index = 0; index < 120; index++) store.changeScan(addScan().id, { outcome: 'in' })
    expect(findScan(waiting.id)).toBeDefined()
    expect(store.readScans()).toHaveLength(101)
    store.beginScans('usr_1')
    expect(store.readScans()).toHaveLength(101)
    store.beginScans('usr_2')
    expect(store.readScans()).toEqual([])
  })
})
