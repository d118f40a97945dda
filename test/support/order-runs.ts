import { expect } from 'vitest'
import { rootToken } from './api.ts'
import { expectNumbers, idsOf, readAs } from './lists.ts'
import { matching, type OrderFilter, queryOf, sorted, type StoredOrder } from './many-orders.ts'

/** Orders of lists that runs serve. */
export const runFields = ['amount', 'modified', 'order_number'] as const

/** The pages of a list, by `next` and by numbers, are all its orders in the order, and each says how many there are. */
export async function expectWalk(
  { scope, filter, ordering }: { scope: Record<string, string>; filter: OrderFilter; ordering: string },
  { orders, size, token = rootToken }: { orders: readonly StoredOrder[]; size: number; token?: string },
): Promise<void> {
  const ids = sorted(matching(orders, filter), ordering).map(({ id }) => id)
  const query = queryOf({ ...scope, ...filter, ordering, page_size: String(size) })
  const found: string[] = []
  for (let next: string | null = `/v1/orders?${query}`; next !== null;) {
    const reply = await readAs(token, next)
    expect([query, reply.status, reply.body.count]).toEqual([query, 200, ids.length])
    found.push(...idsOf(reply))
    next = reply.body.next === null ? null : String(reply.body.next).replace(/^https?:\/\/[^/]+/, '')
  }
  expect([query, found]).toEqual([query, ids])
  const list = queryOf({ ...scope, ...filter, ordering })
  await expectNumbers(`/v1/orders?${list}`, ids, { size: 37, token })
}
