import { expect } from 'vitest'
import { rootToken } from './api.ts'
import { queryOf } from './list-spans.ts'
import { byCodePoint, expectNumbers, idsOf, readAs } from './lists.ts'
import type { StoredRefund } from './refund-intervals.ts'

export interface RefundFilter {
  status?: string
  reason?: string
  source?: string
  created_after?: string
  created_before?: string
}

const matching = (requests: readonly StoredRefund[], filter: RefundFilter): StoredRefund[] =>
  requests.filter(
    (one) =>
      (['status', 'reason', 'source'] as const).every((facet) => !filter[facet] || one[facet] === filter[facet]) &&
      (!filter.created_after || one.created >= Date.parse(filter.created_after)) &&
      (!filter.created_before || one.created <= Date.parse(filter.created_before)),
  )

/** Requests in the order of a list, by sorting all of them. */
function sorted(requests: readonly StoredRefund[], ordering: string): StoredRefund[] {
  const direction = ordering.startsWith('-') ? -1 : 1
  const field = ordering.replace('-', '') as 'modified' | 'requested_amount' | 'status' | 'created'
  const keys = field === 'status' ? (['status', 'created', 'id'] as const) : ([field, 'id'] as const)
  return requests.toSorted((one, other) => {
    for (const key of keys) {
      const compared = byCodePoint(one[key], other[key])
      if (compared !== 0) return direction * compared
    }
    return 0
  })
}

interface AskedList {
  scope: Record<string, string>
  filter: RefundFilter
  ordering: string
}

/** The pages of a list, by `next` and by numbers, are all its requests in the order, and each says how many there are. */
export async function expectRefundWalk(
  { scope, filter, ordering }: AskedList,
  {
    requests,
    size,
    token = rootToken,
  }: { requests: readonly StoredRefund[]; size: number; token?: string | undefined },
): Promise<void> {
  const ids = sorted(matching(requests, filter), ordering).map(({ id }) => id)
  const query = queryOf({ ...scope, ...filter, ordering, page_size: size })
  const found: string[] = []
  for (let next: string | null = `/v1/refund-requests?${query}`; next !== null;) {
    const reply = await readAs(token, next)
    expect([query, reply.status, reply.body.count]).toEqual([query, 200, ids.length])
    found.push(...idsOf(reply))
    next = reply.body.next
  }
  expect([query, found]).toEqual([query, ids])
  const list = queryOf({ ...scope, ...filter, ordering })
  await expectNumbers(`/v1/refund-requests?${list}`, ids, { size: 37, token })
}
