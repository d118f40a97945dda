import { expect, it } from 'vitest'
import type { Shop } from '../../scripts/bench/shop.ts'
import type { Client, Page } from '../../scripts/support/client.ts'
import { type FilledShop, goal, listsOf, useFilledShop } from '../support/filled-shop.ts'
import { listRequests } from '../support/list-filters.ts'
import { endpointId } from '../support/many-rows.ts'

let filled: FilledShop
let client: Client
let shop: Shop
let rowsOf: FilledShop['rowsOf']

useFilledShop((opened) => {
  filled = opened
  ;({ client, shop, rowsOf } = opened)
})

it('every list reads few rows for its first pages, in any ordering', async () => {
  const lists = await listsOf(filled)
  expect(lists.length).toBeGreaterThan(20)
  const dear: [string, number][] = []
  let longest = 0
  for (const { path, orderings } of lists)
    for (const ordering of orderings.flatMap((key) => [key, `-${key}`])) {
      let next: string | null = `${path}&ordering=${ordering}`
      for (let pages = 0; next !== null && pages < 3; pages++) {
        const at: string = next.replace(filled.url, '')
        const page: Page<unknown> = await client.get(at)
        const rows = await rowsOf(at)
        if (rows > goal) dear.push([at, rows])
        longest = Math.max(longest, page.count)
        next = page.next
      }
    }
  expect(longest).toBeGreaterThan(shop.seeded * 0.9)
  expect(dear).toEqual([])
}, 1_200_000)

it('every list reads few rows for its first page with any filter or two, for an admin and for a role of the edition', async () => {
  const requests = await listRequests(filled)
  expect(requests.length).toBeGreaterThan(3_000)
  const dear: [string, number][] = []
  let refused = 0
  for (const { path, token } of requests) {
    const { status, rows_read } = await filled.costOf(path, token)
    // Some lists need a filter, and a role of an edition does not see all.
    if (status !== 200) refused++
    if (rows_read > goal || ![200, 400, 403, 404].includes(status)) dear.push([path, rows_read])
  }
  expect(refused).toBeLessThan(requests.length / 4)
  expect(dear).toEqual([])
}, 600_000)

it('lists that grow for ever read few rows with a filter, too', async () => {
  const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  const ofOrganization = `organization_id=${shop.organization_id}&page_size=50`
  const paths = [
    ...[...deliveryFilters(), '&status=retrying'].flatMap((filter) =>
      ['created', '-created', 'modified', '-modified', 'name', '-name'].map(
        (ordering) => `/v1/webhooks/${endpointId}/deliveries?page_size=50${filter}&ordering=${ordering}`,
      ),
    ),
    ...[
      'actor_id=root',
      'actor_id=usr_1',
      'action=updateOrder',
      'actor_id=usr_1&action=updateOrder',
      // Few entries have these, and none the last two.
      'action=deleteSegment',
      'resource_type=segment',
      'resource_type=segment&ordering=created',
      'actor_id=root&action=deleteSegment',
      'actor_id=root&resource_type=campaign',
      'actor_id=usr_9&action=updateOrder',
      // An edition that has half of them.
      `resource_id=${shop.edition_id}`,
      `resource_id=${shop.edition_id}&ordering=created`,
      `resource_id=${shop.edition_id}&action=updateEdition`,
      `resource_id=${shop.edition_id}&action=updateOrder`,
      `resource_id=${shop.edition_id}&resource_type=order`,
    ].map((filter) => `/v1/audit-log?${ofOrganization}&${filter}`),
    ...['status=rejected', 'reason=customer_request', 'status=cancelled&source=api'].map(
      (filter) => `/v1/refund-requests?${ofOrganization}&${filter}`,
    ),
    ...(['edition_id', 'organization_id'] as const).flatMap((scope) =>
      ['status=cancelled', 'status=pending', 'type=imported', 'status=completed&type=imported'].flatMap((filter) =>
        ['created', 'modified', 'order_number', 'status', 'type', 'amount', 'status,amount']
          .flatMap((ordering) => [ordering, `-${ordering}`])
          .map((ordering) => `/v1/orders?${scope}=${shop[scope]}&page_size=50&${filter}&ordering=${ordering}`),
      ),
    ),
    ...['status=active', 'status=active&ordering=created'].map(
      (filter) => `/v1/purchases?edition_id=${shop.edition_id}&page_size=50&${filter}`,
    ),
  ]
  const between = (from: number, to: number) => `created_after=${day(from)}&created_before=${day(to)}`
  const chosen = ['', '&actor_id=root', '&actor_id=usr_1', '&action=updateOrder', '&resource_type=order']
  const ranges = [between(200, 0), between(400, 390), between(240, 216), between(300, 100)]
  for (const range of ranges.flatMap((one) => chosen.map((filter) => one + filter)))
    for (const ordering of ['created', '-created']) {
      const list = `/v1/audit-log?${ofOrganization}&${range}&ordering=${ordering}`
      const { count } = await client.get<Page<unknown>>(list)
      for (const part of [0, 0.1, 0.5, 0.9]) paths.push(`${list}&page=${Math.max(1, Math.ceil((count / 50) * part))}`)
    }
  const dear: [string, number][] = []
  for (const path of paths) {
    const rows = await rowsOf(path)
    if (rows > goal) dear.push([path, rows])
  }
  expect(dear).toEqual([])
}, 600_000)

it('orders and refund requests of one customer or order read few rows among those of an edition', async () => {
  const { results } = await client.get<Page<{ id: string }>>(
    `/v1/orders?edition_id=${shop.edition_id}&page_size=1&page=${Math.floor(shop.seeded / 3)}`,
  )
  const [{ id } = expect.unreachable()] = results
  const { customer } = await client.get<{ customer: { api_id: string } }>(`/v1/orders/${id}`)
  for (const path of [
    `/v1/orders?edition_id=${shop.edition_id}&customer_id=${customer.api_id}`,
    `/v1/orders?edition_id=${shop.edition_id}&customer_id=${customer.api_id}&ordering=status`,
    `/v1/refund-requests?edition_id=${shop.edition_id}&order_id=${id}`,
    `/v1/refund-requests?edition_id=${shop.edition_id}&customer_id=${customer.api_id}`,
  ])
    expect([path, Math.max(goal, await rowsOf(path))]).toEqual([path, goal])
}, 120_000)

it('a range of time reads few rows in any order, wherever it stands in it', async () => {
  const { results } = await client.get<Page<{ created: string }>>(
    `/v1/orders?edition_id=${shop.edition_id}&page_size=1&ordering=created`,
  )
  const [{ created } = expect.unreachable()] = results
  const first = Date.parse(created)
  const at = (part: number) => new Date(first + (Date.now() - first) * part).toISOString()
  const ranges = [
    `created_after=${at(0.5)}`,
    `created_before=${at(0.5)}`,
    `created_after=${at(0.98)}`,
    `created_before=${at(0.02)}`,
    `created_after=${at(0.4)}&created_before=${at(0.41)}`,
    `created_after=${at(0.4)}&created_before=${at(0.46)}`,
    `created_after=${at(0.4)}&created_before=${at(0.46)}&status=cancelled`,
  ]
  const dear: [string, number][] = []
  const lists: [path: string, orderings: string[]][] = [
    ['orders', ['created', 'modified', 'order_number', 'amount', 'status', 'type']],
    ['refund-requests', ['created', 'status', 'modified', 'requested_amount']],
  ]
  for (const scope of ['edition_id', 'organization_id'] as const)
    for (const [list, keys] of lists)
      for (const range of ranges)
        for (const ordering of keys.flatMap((key) => [key, `-${key}`])) {
          let next: string | null = `/v1/${list}?page_size=50&${scope}=${shop[scope]}&${range}&ordering=${ordering}`
          for (let pages = 0; next !== null && pages < 3; pages++) {
            const path: string = next.replace(filled.url, '')
            const rows = await rowsOf(path)
            if (rows > goal) dear.push([path, rows])
            next = (await client.get<Page<unknown>>(path)).next
          }
        }
  expect(dear).toEqual([])
}, 300_000)

/** Of all deliveries, and of the edition that has half of them. */
const deliveryFilters = () =>
  ['', `&edition_id=${shop.edition_id}`].flatMap((edition) =>
    ['', '&status=success', '&status=exhausted'].map((status) => `${edition}${status}`),
  )

/** Rows that a page by its number may read in other orders than that of creation. */
const goalByNumber = 12_000

it('a page of customers by its number reads few rows in other orders than that of joining', async () => {
  const dear: [string, number][] = []
  for (const ordering of ['email', 'phone_number', 'last_seen'].flatMap((key) => [key, `-${key}`])) {
    const list = `/v1/user?organization_id=${shop.organization_id}&ordering=${ordering}`
    const { count } = await client.get<Page<unknown>>(list)
    // Organisations with fewer have no intervals.
    if (count < 20_000) continue
    for (const part of [0.25, 0.5, 0.77, 0.999]) {
      const path = `${list}&page=${Math.ceil((count / 100) * part)}`
      const rows = await rowsOf(path)
      if (rows > goalByNumber) dear.push([path, rows])
    }
  }
  expect(dear).toEqual([])
}, 120_000)

it('a page by its number reads few rows in any order, wherever it is', async () => {
  const dear: [string, number][] = []
  for (const scope of ['edition_id', 'organization_id'] as const)
    for (const filter of ['', '&status=completed', '&status=completed&type=imported'])
      for (const ordering of ['created', 'modified', 'order_number', 'status', 'type', 'amount'].flatMap((key) => [
        key,
        `-${key}`,
      ])) {
        const list = `/v1/orders?page_size=50&${scope}=${shop[scope]}${filter}&ordering=${ordering}`
        const { count } = await client.get<Page<unknown>>(list)
        for (const part of [0.25, 0.5, 0.77, 0.999]) {
          const path = `${list}&page=${Math.ceil((count / 50) * part)}`
          const rows = await rowsOf(path)
          if (rows > goalByNumber) dear.push([path, rows])
        }
      }
  expect(dear).toEqual([])
}, 600_000)

it('a page by its number in the order of creation reads few rows of each list, wherever it is', async () => {
  const ofOrganization = `page_size=50&organization_id=${shop.organization_id}`
  const ofEdition = `page_size=50&edition_id=${shop.edition_id}`
  const lists: [list: string, filters: string[], key?: string][] = [
    [`/v1/orders?${ofEdition}`, ['', '&status=completed', '&status=completed&type=imported']],
    [`/v1/orders?${ofOrganization}`, ['', '&status=completed']],
    // Values that stand before the page are passed by their counts.
    ...['status', 'type'].flatMap((key): [string, string[], string][] => [
      [`/v1/orders?${ofEdition}`, ['', '&type=imported'], key],
      [`/v1/orders?${ofOrganization}`, ['', '&type=imported'], key],
    ]),
    [`/v1/purchases?${ofEdition}`, ['', '&status=active', '&status=cancelled', '&status=pending']],
    [`/v1/webhooks/${endpointId}/deliveries?page_size=50`, deliveryFilters()],
    [
      `/v1/audit-log?${ofOrganization}`,
      ['', `&resource_id=${shop.edition_id}`, '&action=updateOrder', '&actor_id=root', '&resource_type=order'],
    ],
    [`/v1/refund-requests?${ofEdition}`, ['', '&status=rejected']],
    [`/v1/refund-requests?${ofOrganization}`, ['', '&status=rejected', '&source=api']],
    // Its pages have 100 customers.
    [`/v1/user?${ofOrganization}`, [''], 'date_joined'],
  ]
  const dear: [string, number][] = []
  for (const [list, filters, key = 'created'] of lists)
    for (const filter of filters)
      for (const ordering of [key, `-${key}`]) {
        const path = `${list}${filter}&ordering=${ordering}`
        const { count, results } = await client.get<Page<unknown>>(path)
        for (const part of [0.15, 0.33, 0.5, 0.77, 0.93]) {
          const at = `${path}&page=${Math.ceil((count / results.length) * part)}`
          const rows = await rowsOf(at)
          if (rows > goal) dear.push([at, rows])
        }
      }
  expect(dear).toEqual([])
}, 600_000)

it('a page of deliveries by its number reads few rows in the orders of intervals', async () => {
  const dear: [string, number][] = []
  for (const filter of deliveryFilters())
    for (const ordering of ['modified', '-modified', 'name', '-name']) {
      const list = `/v1/webhooks/${endpointId}/deliveries?page_size=50&ordering=${ordering}${filter}`
      const { count } = await client.get<Page<unknown>>(list)
      for (const part of [0.1, 0.25, 0.5, 0.77, 0.999]) {
        const path = `${list}&page=${Math.ceil((count / 50) * part)}`
        const rows = await rowsOf(path)
        if (rows > goalByNumber) dear.push([path, rows])
      }
    }
  expect(dear).toEqual([])
}, 600_000)

/** Organisations with fewer requests have no intervals. */
const fewestRequests = 20_000

it('a page of refund requests by its number reads few rows in the orders of intervals', async () => {
  const dear: [string, number][] = []
  for (const scope of ['edition_id', 'organization_id'] as const)
    for (const filter of ['', '&status=cancelled'])
      for (const ordering of ['modified', '-modified', 'requested_amount', '-requested_amount']) {
        const of = `/v1/refund-requests?page_size=50&${scope}=${shop[scope]}`
        const { count } = await client.get<Page<unknown>>(`${of}${filter}`)
        if ((await client.get<Page<unknown>>(of)).count < fewestRequests) continue
        for (const part of [0.25, 0.5, 0.77, 0.999]) {
          const path = `${of}${filter}&ordering=${ordering}&page=${Math.ceil((count / 50) * part)}`
          const rows = await rowsOf(path)
          if (rows > goalByNumber) dear.push([path, rows])
        }
      }
  expect(dear).toEqual([])
}, 600_000)
