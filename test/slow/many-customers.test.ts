import { expect, it } from 'vitest'
import { type Client, createClient, type Page } from '../../scripts/support/client.ts'
import { type FilledShop, goal, useFilledShop } from '../support/filled-shop.ts'
import { addSiblings, siblings } from '../support/many-rows.ts'

let filled: FilledShop

useFilledShop((opened) => {
  filled = opened
}, addSiblings)

/** Of roles of an edition, whose pages look up for each customer whether others know them. */
const goalOfRoles = 800

interface Viewer {
  client: Client
  token: string
  most: number
}

/** First pages, those behind them by `next`, and pages by number, of all editions in all orders. */
async function dearPages(viewersOf: (edition: string) => Promise<Viewer>): Promise<[string, number][]> {
  const dear: [string, number][] = []
  const { shop, url, rowsOf } = filled
  for (const edition of [shop.edition_id, ...Object.values(siblings).map(({ id }) => id)]) {
    const { client, token, most } = await viewersOf(edition)
    for (const ordering of ['date_joined', 'email', 'phone_number', 'last_seen'].flatMap((key) => [key, `-${key}`])) {
      const list = `/v1/user?edition_id=${edition}&page_size=100&ordering=${ordering}`
      const { count } = await client.get<Page<unknown>>(list)
      const numbers = [0.25, 0.5, 0.77, 0.999].map(
        (part) => `${list}&page=${Math.max(1, Math.ceil((count / 100) * part))}`,
      )
      const { next } = await client.get<Page<unknown>>(numbers[1] ?? list)
      for (const path of [list, ...numbers, ...(next === null ? [] : [next.replace(url, '')])]) {
        const rows = await rowsOf(path, token)
        if (rows > most) dear.push([path, rows])
      }
    }
  }
  return dear
}

it('a list of the customers of an edition reads few rows in any order, whichever customers it has', async () => {
  const { client, shop } = filled
  expect(await dearPages(async () => ({ client, token: shop.token, most: goal }))).toEqual([])
}, 600_000)

it('a role of that edition has the same list by few rows', async () => {
  const found = await dearPages(async (edition) => {
    const token = await filled.tokenOf(edition)
    return { client: createClient(filled.url, token), token, most: goalOfRoles }
  })
  expect(found).toEqual([])
}, 600_000)
