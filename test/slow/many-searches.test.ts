import { expect, it } from 'vitest'
import type { Shop } from '../../scripts/bench/shop.ts'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { type FilledShop, goal, useFilledShop } from '../support/filled-shop.ts'
import { rareSearches, rareTexts } from '../support/many-rows.ts'

let filled: FilledShop
let client: Client
let shop: Shop
let rowsOf: FilledShop['rowsOf']

useFilledShop((opened) => {
  filled = opened
  ;({ client, shop, rowsOf } = opened)
})

/** Rows that a page and its count may read where a search finds fewer than 500. */
const goalOfRareSearch = 1000

it('a text that fewer than 500 have reads a row for each hit, and those of a page', async () => {
  const dear: [string, number][] = []
  for (const { list, search, others } of rareSearches(shop))
    for (const found of rareTexts) {
      const { count } = await client.get<Page<unknown>>(`${list}&${search}${found}-`)
      expect([list, search, count]).toEqual([list, search, found])
      for (const other of others)
        for (const token of [shop.token, filled.editionToken]) {
          const path = `${list}&${search}${found}-${other}`
          const rows = await rowsOf(path, token)
          if (rows > goalOfRareSearch) dear.push([path, rows])
        }
    }
  // An order that has the text, of a customer who has it too, is found twice.
  const both = await rowsOf(`/v1/orders?edition_id=${shop.edition_id}&page_size=50&search=both-440-&ordering=amount`)
  expect(both).toBeLessThanOrEqual(goalOfRareSearch)
  for (const found of rareTexts)
    for (const scope of ['edition_id', 'organization_id'] as const)
      for (const token of [shop.token, filled.editionToken]) {
        const path = `/v1/orders?${scope}=${shop[scope]}&page_size=50&search=both-${found}-`
        const rows = await rowsOf(path, token)
        if (rows > 2 * found + 270) dear.push([path, rows])
      }
  expect(dear).toEqual([])
}, 300_000)

it('a text that many have is looked for once in each state, also for a role of one edition', async () => {
  const dear: [string, number][] = []
  // A page has 100 customers, of whom the role reads what its edition was given.
  const lists = [
    { list: '/v1/orders?search=0%40e', most: goal },
    { list: '/v1/orders?search=0%40e&ordering=-modified', most: goal },
    { list: '/v1/orders?search=0%40e&ordering=amount', most: goal },
    { list: '/v1/user?search=0%40e', most: 700 },
    { list: '/v1/refund-requests?search=0%40e', most: goal },
    { list: '/v1/refund-requests?search=example&ordering=-requested_amount', most: goal },
  ]
  for (const { list, most } of lists)
    for (const scope of ['edition_id', 'organization_id'] as const)
      for (const token of [shop.token, filled.editionToken]) {
        const at = `${list}&page_size=50&${scope}=${shop[scope]}`
        const asked = createClient(filled.url, token)
        const { count, results } = await asked.get<Page<unknown>>(at)
        expect(count).toBeGreaterThan(shop.seeded / 50)
        await expect.poll(() => rowsOf(at, token)).toBeLessThanOrEqual(most)
        for (const part of [0.15, 0.5, 0.93, 1]) {
          const page = `${at}&page=${Math.ceil((count / results.length) * part)}`
          const { next } = await asked.get<Page<unknown>>(page)
          for (const path of [page, ...(next === null ? [] : [next.replace(filled.url, '')])]) {
            const rows = await rowsOf(path, token)
            if (rows > most) dear.push([path, rows])
          }
        }
      }
  expect(dear).toEqual([])
}, 600_000)

it('purchases of a beginning that many codes have are looked for once in each state', async () => {
  const at = `/v1/purchases?edition_id=${shop.edition_id}&page_size=50&search=code`
  for (const token of [shop.token, filled.editionToken]) {
    const { count } = await client.get<Page<unknown>>(at)
    expect(count).toBeGreaterThan(1000)
    await expect.poll(() => rowsOf(at, token)).toBeLessThanOrEqual(goal)
    const last = `${at}&page=${Math.ceil(count / 50)}`
    const { next } = await client.get<Page<unknown>>(`${at}&page=9`)
    for (const path of [`${at}&page=9`, next?.replace(filled.url, '') ?? at, last])
      expect([path, Math.max(goal, await rowsOf(path, token))]).toEqual([path, goal])
  }
}, 60_000)

it('a text of one or two letters is looked for among the newest rows', async () => {
  const [organization, edition] = [`organization_id=${shop.organization_id}`, `edition_id=${shop.edition_id}`]
  const dear: [string, number][] = []
  for (const path of [`/v1/user?${organization}`, `/v1/user?${edition}`, `/v1/orders?${edition}`])
    for (const search of ['b', 'zz']) {
      const at = `${path}&search=${search}`
      const rows = await rowsOf(at)
      // 10,000 are passed to find the first of them, compared for the page, and compared for the count.
      if (rows > 40_000) dear.push([at, rows])
    }
  expect(dear).toEqual([])
}, 120_000)
