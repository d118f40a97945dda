import { expect, it } from 'vitest'
import type { Shop } from '../../scripts/bench/shop.ts'
import type { Client, Page } from '../../scripts/support/client.ts'
import { type FilledShop, goal, useFilledShop } from '../support/filled-shop.ts'

let filled: FilledShop
let client: Client
let shop: Shop
let rowsOf: FilledShop['rowsOf']

useFilledShop((opened) => {
  filled = opened
  ;({ client, shop, rowsOf } = opened)
})

/** Organisations with fewer requests have no runs. */
const fewestRequests = 20_000

/** How many requests the shop has, and where their creation begins. */
async function spreadOfRequests() {
  const of = `/v1/refund-requests?organization_id=${shop.organization_id}&page_size=1&ordering=created`
  const { count, results } = await client.get<Page<{ created: string }>>(of)
  return { count, first: Date.parse(results[0]?.created ?? expect.unreachable()) }
}

it('refund requests of a reason or a source read few rows in any order', async () => {
  if ((await spreadOfRequests()).count < fewestRequests) return
  const dear: [string, number][] = []
  for (const scope of ['edition_id', 'organization_id'] as const)
    for (const filter of [
      'reason=customer_request',
      'reason=fraud',
      'reason=duplicate',
      'source=customer',
      'reason=fraud&source=customer',
      'reason=fraud&status=cancelled',
      'source=customer&status=rejected',
    ])
      for (const ordering of ['created', 'modified', 'requested_amount', 'status'].flatMap((key) => [key, `-${key}`])) {
        let next: string | null =
          `/v1/refund-requests?page_size=50&${scope}=${shop[scope]}&${filter}&ordering=${ordering}`
        for (let pages = 0; next !== null && pages < 3; pages++) {
          const path: string = next.replace(filled.url, '')
          const rows = await rowsOf(path)
          if (rows > goal) dear.push([path, rows])
          next = (await client.get<Page<unknown>>(path)).next
        }
      }
  expect(dear).toEqual([])
}, 300_000)

it('a page by its number that runs lead to reads little more than a first page', async () => {
  const { count: requests, first } = await spreadOfRequests()
  const at = (part: number) => new Date(first + (Date.now() - first) * part).toISOString()
  const ranges = [`created_after=${at(0.5)}`, `created_after=${at(0.1)}&created_before=${at(0.4)}`]
  const lists: [list: string, filters: string[], keys: string[]][] = [
    ['orders', [...ranges, `${ranges[0]}&status=completed`], ['modified', 'amount', 'order_number']],
    [
      'refund-requests',
      [...ranges, `${ranges[0]}&reason=fraud`, 'reason=fraud', 'source=customer', 'source=api&status=cancelled'],
      ['modified', 'requested_amount', 'status'],
    ],
  ]
  const dear: [string, number][] = []
  for (const scope of ['edition_id', 'organization_id'] as const)
    for (const [list, filters, keys] of lists.slice(0, requests < fewestRequests ? 1 : 2))
      for (const filter of filters)
        for (const ordering of keys.flatMap((key) => [key, `-${key}`])) {
          const path = `/v1/${list}?page_size=50&${scope}=${shop[scope]}&${filter}&ordering=${ordering}`
          const { count } = await client.get<Page<unknown>>(path)
          for (const part of [0.3, 0.5, 0.9]) {
            const numbered = `${path}&page=${Math.max(1, Math.ceil((count / 50) * part))}`
            const rows = await rowsOf(numbered)
            if (rows > 2 * goal) dear.push([numbered, rows])
          }
        }
  expect(dear).toEqual([])
}, 600_000)
