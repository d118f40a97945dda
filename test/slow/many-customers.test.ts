import { expect, it } from 'vitest'
import { createClient, type Page } from '../../scripts/support/client.ts'
import { type FilledShop, goal, useFilledShop } from '../support/filled-shop.ts'
import { addApart, addSiblings, addTwins, apart, siblings, twins } from '../support/many-rows.ts'

let filled: FilledShop

useFilledShop(
  (opened) => {
    filled = opened
  },
  (database) => {
    addSiblings(database)
    addApart(database)
    addTwins(database)
  },
)

const orderings = ['date_joined', 'email', 'phone_number', 'last_seen'].flatMap((key) => [key, `-${key}`])
const idsOf = (editions: Readonly<Record<string, { id: string }>>): string[] =>
  Object.values(editions).map(({ id }) => id)

/** Rows that pages of a list may read: by `next`, by numbers in the order of joining, and in others. */
interface Most {
  next: number
  joined: number
  others: number
}
const few: Most = { next: goal, joined: goal, others: goal }

/** First pages, those behind them by `next`, and pages by number in all orders. */
async function dearPages(path: string, token: string, most: Most): Promise<[string, number][]> {
  const dear: [string, number][] = []
  const { url, rowsOf } = filled
  const client = createClient(url, token)
  for (const ordering of orderings) {
    const list = `${path}&page_size=100&ordering=${ordering}`
    const { count, next: second } = await client.get<Page<unknown>>(list)
    expect(count).toBeGreaterThan(100)
    const numbers = [0.25, 0.5, 0.77, 0.999].map(
      (part) => `${list}&page=${Math.max(2, Math.ceil((count / 100) * part))}`,
    )
    const { next } = await client.get<Page<unknown>>(numbers[1] ?? list)
    const behind = [second, next].flatMap((address) => (address === null ? [] : [address.replace(url, '')]))
    const numbered = ordering.endsWith('date_joined') ? most.joined : most.others
    for (const [asked, limit] of [
      ...[list, ...behind].map((one) => [one, most.next] as const),
      ...numbers.map((one) => [one, numbered] as const),
    ]) {
      const rows = await rowsOf(asked, token)
      if (rows > limit) dear.push([asked, rows])
    }
  }
  return dear
}

const editions = () => [filled.shop.edition_id, ...idsOf(siblings), apart.left.id, apart.right.id]

it('a list of the customers of an edition reads few rows in any order, whichever customers it has', async () => {
  for (const edition of editions())
    expect(await dearPages(`/v1/user?edition_id=${edition}`, filled.shop.token, few)).toEqual([])
}, 600_000)

it('a role of that edition has the same list by few rows', async () => {
  for (const edition of editions())
    expect(await dearPages(`/v1/user?edition_id=${edition}`, await filled.tokenOf(edition), few)).toEqual([])
}, 600_000)

it('a role of several editions has their customers by few rows where few are in several', async () => {
  const token = await filled.tokenOf(apart.left.id, apart.right.id)
  const list = `/v1/user?organization_id=${filled.shop.organization_id}`
  expect(await dearPages(list, token, few)).toEqual([])
}, 600_000)

it('and where most are', async () => {
  const token = await filled.tokenOf(filled.shop.edition_id, siblings.third.id)
  const list = `/v1/user?organization_id=${filled.shop.organization_id}`
  // Of a million orders up to 661; the goal of other orders is 12,000.
  expect(await dearPages(list, token, { ...few, others: 700 })).toEqual([])
}, 600_000)

it('and where all are, who were given the same or other things', async () => {
  const { one, same, other } = twins
  const list = `/v1/user?organization_id=${filled.shop.organization_id}`
  for (const pair of [
    [one, same],
    [one, other],
    [same, other],
  ]) {
    const token = await filled.tokenOf(...pair.map(({ id }) => id))
    expect(await dearPages(list, token, few)).toEqual([])
  }
  const token = await filled.tokenOf(one.id, same.id, other.id)
  expect(await dearPages(list, token, { next: 700, joined: 700, others: 700 })).toEqual([])
}, 1_200_000)

it('a role of an edition has customers whom a frequent text finds by few rows behind the first request', async () => {
  for (const edition of [filled.shop.edition_id, siblings.third.id]) {
    const token = await filled.tokenOf(edition)
    for (const ordering of orderings) {
      const list = `/v1/user?edition_id=${edition}&search=example&page_size=100&ordering=${ordering}`
      // Another search may have taken the place of the first.
      for (let times = 0; times < 2; times++) await createClient(filled.url, token).get<Page<unknown>>(list)
      for (const page of [1, 2, 7]) expect(await filled.rowsOf(`${list}&page=${page}`, token)).toBeLessThanOrEqual(goal)
    }
  }
}, 600_000)
