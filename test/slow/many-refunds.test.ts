import { expect, it } from 'vitest'
import type { Shop } from '../../scripts/bench/shop.ts'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { type FilledShop, goal, useFilledShop } from '../support/filled-shop.ts'
import { others, spreadRequestsOverEditions } from '../support/many-refunds.ts'

let filled: FilledShop
let client: Client
let shop: Shop

useFilledShop((opened) => {
  filled = opened
  ;({ client, shop } = opened)
}, spreadRequestsOverEditions)

const goalByNumber = 12_000

/** Filters of one kind, and those of another that are asked for together with them. */
const filters = [
  'status=rejected',
  'status=cancelled',
  'reason=customer_request',
  'reason=fraud',
  'source=api',
  'source=customer',
]
const pairs = filters.flatMap((first, index) =>
  filters
    .slice(index + 1)
    .flatMap((second) => (first.split('=')[0] === second.split('=')[0] ? [] : [`${first}&${second}`])),
)

/** Ranges of time: of parts of the list, and of its last days. */
async function rangesOf(list: string): Promise<string[]> {
  const { results } = await client.get<Page<{ created: string }>>(`${list}&ordering=created`)
  const first = Date.parse(results[0]?.created ?? expect.unreachable())
  const at = (part: number) => new Date(first + (Date.now() - first) * part).toISOString()
  const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString()
  return [
    `created_after=${at(0.5)}`,
    `created_before=${at(0.5)}`,
    `created_after=${at(0.1)}&created_before=${at(0.9)}`,
    `created_after=${at(0.4)}&created_before=${at(0.46)}`,
    `created_before=${at(0.02)}`,
    `created_after=${daysAgo(2)}`,
    `created_after=${at(0.5)}&created_before=${daysAgo(1)}`,
  ]
}

interface Goals {
  most: number
  mostByNumber: number
  token?: string
}

/** The first page, the one behind it, and some by their number, that read more than so many rows. */
async function dearPages(list: string, { most, mostByNumber, token = shop.token }: Goals) {
  const { count, next } = await createClient(filled.url, token).get<Page<unknown>>(list)
  const second = next?.replace(filled.url, '')
  const numbers = new Set([0.15, 0.5, 0.93, 1].map((part) => Math.max(1, Math.ceil((count / 50) * part))))
  const dear: [string, number][] = []
  for (const path of [list, second]) {
    const rows = path ? await filled.rowsOf(path, token) : 0
    if (path && rows > most) dear.push([path, rows])
  }
  for (const number of numbers) {
    const path = `${list}&page=${number}`
    const rows = await filled.rowsOf(path, token)
    if (rows > mostByNumber) dear.push([path, rows])
  }
  return dear
}

const ofOrganization = () => `/v1/refund-requests?page_size=50&organization_id=${shop.organization_id}`

it('requests of four editions are there in turn', async () => {
  const counts = []
  for (const edition of [shop.edition_id, ...others])
    counts.push((await client.get<Page<unknown>>(`/v1/refund-requests?page_size=1&edition_id=${edition}`)).count)
  const all = (await client.get<Page<unknown>>(ofOrganization())).count
  for (const count of counts) expect(count).toBeGreaterThan(all / 5)
}, 60_000)

it('requests of an organisation of four editions read few rows in the order of creation, with any filter and wherever a page is', async () => {
  const ranges = await rangesOf(ofOrganization())
  const someFilters = ['status=rejected', 'reason=fraud', 'source=api']
  const inTime = ranges.flatMap((range) => [range, ...someFilters.map((filter) => `${range}&${filter}`)])
  const dear: [string, number][] = []
  for (const filter of ['', ...filters, ...pairs, ...inTime])
    for (const ordering of ['created', '-created']) {
      const list = `${ofOrganization()}&ordering=${ordering}&${filter}`
      dear.push(...(await dearPages(list, { most: goal, mostByNumber: goal })))
    }
  expect(dear).toEqual([])
}, 1_200_000)

it('and in other orders', async () => {
  const ranges = await rangesOf(ofOrganization())
  const dear: [string, number][] = []
  for (const filter of ['', ...filters, ...pairs, ...ranges])
    for (const ordering of ['-modified', 'requested_amount', 'status']) {
      const list = `${ofOrganization()}&ordering=${ordering}&${filter}`
      dear.push(...(await dearPages(list, { most: goal, mostByNumber: goalByNumber })))
    }
  expect(dear).toEqual([])
}, 1_200_000)

it('and of one of its editions in a range of time', async () => {
  const dear: [string, number][] = []
  for (const edition of [shop.edition_id, others[1]])
    for (const range of await rangesOf(ofOrganization()))
      for (const ordering of ['created', '-created']) {
        const list = `${ofOrganization()}&edition_id=${edition}&ordering=${ordering}&${range}`
        dear.push(...(await dearPages(list, { most: goal, mostByNumber: goal })))
      }
  expect(dear).toEqual([])
}, 600_000)

it('callers who name no organisation read few rows, too, also of two editions, and of four up to two fifths more by number', async () => {
  const [early, , most, short] = await rangesOf(ofOrganization())
  const all = [shop.edition_id, ...others]
  // Counts of editions are added up, at each end of a range.
  const callers = [
    { token: shop.token, mostByNumber: goal },
    { token: filled.editionToken, mostByNumber: goal },
    { token: await filled.tokenOf(...all.slice(0, 2)), mostByNumber: goal },
    { token: await filled.tokenOf(...all), mostByNumber: goal + 100, mostInRange: goal + 250 },
  ]
  const someFilters = ['', 'status=rejected', 'source=api', 'status=rejected&source=api']
  const ranges = [early, short, most].flatMap((range) => [range, `${range}&source=api`, `${range}&status=rejected`])
  const dear: [string, number][] = []
  for (const { token, mostByNumber, mostInRange = mostByNumber } of callers) {
    const ask = async (filter: string | undefined, ordering: string, mostOfFar: number) => {
      const list = `/v1/refund-requests?page_size=50&ordering=${ordering}&${filter}`
      dear.push(...(await dearPages(list, { most: goal, mostByNumber: mostOfFar, token })))
    }
    for (const ordering of ['created', '-created']) {
      for (const filter of someFilters) await ask(filter, ordering, mostByNumber)
      for (const filter of ranges) await ask(filter, ordering, mostInRange)
    }
    for (const ordering of ['-modified', 'status'])
      for (const filter of ['', 'source=api', early]) await ask(filter, ordering, goalByNumber)
  }
  expect(dear).toEqual([])
}, 1_200_000)

it('requests of a customer read few rows with any other filter, for an admin and for a role of the edition', async () => {
  const { results } = await client.get<Page<{ customer: { api_id: string } }>>(`${ofOrganization()}&page=7`)
  const ofCustomer = `customer_id=${results[0]?.customer.api_id}`
  const dear: [string, number][] = []
  for (const token of [shop.token, filled.editionToken])
    for (const scope of ['', `organization_id=${shop.organization_id}&`, `edition_id=${shop.edition_id}&`])
      for (const filter of ['', '&status=rejected', '&source=api', '&created_before=2100-01-01T00:00:00Z'])
        for (const ordering of ['created', '-modified', 'requested_amount', '-status']) {
          const path = `/v1/refund-requests?${scope}${ofCustomer}${filter}&ordering=${ordering}`
          const rows = await filled.rowsOf(path, token)
          if (rows > 100) dear.push([path, rows])
        }
  expect(dear).toEqual([])
}, 120_000)

it('a search that finds all requests of four editions reads few rows behind the first request', async () => {
  // Their editions are read once, and not for each row: 588 otherwise.
  const most = 570
  const dear: [string, number][] = []
  for (const token of [shop.token, await filled.tokenOf(shop.edition_id, ...others)])
    for (const ordering of ['created', '-requested_amount', '-modified'])
      for (const list of [ofOrganization(), '/v1/refund-requests?page_size=50']) {
        const path = `${list}&search=example&ordering=${ordering}`
        const { count } = await createClient(filled.url, token).get<Page<unknown>>(path)
        expect(count).toBeGreaterThan(shop.seeded / 5)
        await expect.poll(() => filled.rowsOf(path, token)).toBeLessThanOrEqual(most)
        dear.push(...(await dearPages(path, { most, mostByNumber: most, token })))
        const { results } = await createClient(filled.url, token).get<Page<{ id: string }>>(`${path}&page=7`)
        for (const request of results.slice(0, 8))
          expect(await client.get(`/v1/refund-requests/${request.id}`)).toMatchObject(request)
      }
  expect(dear).toEqual([])
}, 600_000)
