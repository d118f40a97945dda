import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from '../../scripts/support/client.ts'
import { findMemoryFolder } from '../../scripts/support/memory-folder.ts'
import {
  large,
  small,
  ofLarge,
  farPage,
  type Member,
  type Plan,
  type ListCase,
  users,
  inLarge,
  cases,
} from '../support/million-lists.ts'
import { addMember, copyPlainly, customerCount, fillDatabase, orderCount } from '../support/million-orders.ts'
import { type Execution, explain, openService } from '../support/sqlite-service.ts'

// The first reads of each index would wait for a disk.
const folder = mkdtempSync(join(findMemoryFolder(6_000_000_000) ?? tmpdir(), 'million-orders-'))
const file = join(folder, 'database.sqlite')
let database: DatabaseSync
let plain: DatabaseSync
let request: ReturnType<typeof openService>
let tokens: Record<Member, string>
let fillMs = 0
const report: string[][] = []

beforeAll(() => {
  const started = performance.now()
  database = fillDatabase(file)
  fillMs = performance.now() - started
  tokens = {
    organization: addMember(database, 'organization', []),
    edition: addMember(database, 'edition', [large]),
    editions: addMember(database, 'editions', [large, small]),
  }
  plain = copyPlainly(file)
  request = openService(database)
}, 1_200_000)

afterAll(() => {
  plain?.close()
  database?.close()
  rmSync(folder, { recursive: true, force: true })
  const header = ['list', 'page', 'milliseconds of each statement', 'design']
  const lines = [header, ...report].map((cells) => `| ${cells.join(' | ')} |`)
  console.log([`${orderCount} orders, filled in ${(fillMs / 1000).toFixed(0)} s`, ...lines].join('\n'))
})

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0

const formatTime = (milliseconds: number): string => milliseconds.toFixed(milliseconds < 10 ? 1 : 0)

/** Sends a request up to five times within a second, and reports the median of each statement. */
async function read(one: ListCase, page: string, path: string) {
  const token = tokens[one.member ?? 'organization']
  const { answer, executions } = await request(path, token)
  const times = [executions.map(({ milliseconds }) => milliseconds)]
  const until = performance.now() + 1000
  while (times.length < 5 && performance.now() < until) {
    const repeated = await request(path, token)
    times.push(repeated.executions.map(({ milliseconds }) => milliseconds))
  }
  const medians = executions.map((_, index) => median(times.map((each) => each[index] ?? 0)))
  report.push([one.name, page, medians.map(formatTime).join(' + '), one.design])
  return { ...(answer as Page<{ id: string }>), executions }
}

const readPlainly = ({ rows: [table, where, orderBy] }: ListCase, size: number, page: number) => ({
  count: Number(plain.prepare(`select count(*) as n from ${table} where ${where}`).get()?.['n']),
  ids: plain
    .prepare(`select id from ${table} where ${where} order by ${orderBy} limit ? offset ?`)
    .all(size, (page - 1) * size)
    .map(({ id }) => String(id)),
})

function checkPlans(plan: Plan, executions: readonly Execution[]): void {
  const plans = executions.map((execution) => explain(database, execution))
  expect(plans.flatMap(({ scans }) => scans)).toEqual([])
  expect(plans.filter(({ hasPage }) => hasPage)).toHaveLength(1)
  if (plan === 'search') return
  expect(plans.some(({ isSorted }) => isSorted)).toBe(plan === 'sort')
  // The texts of rows are in no index of a list.
  if (plan !== 'walk') expect(plans.slice(-2).flatMap(({ tableReads }) => tableReads)).toEqual([])
}

it('the table that lists read has the right numbers of orders in an edition', () => {
  const counts = database
    .prepare(
      `select (select count(*) from orders where ${inLarge}) as orders, (select count(*) from users) as customers,
        (select sum(orders_count) from order_counts where ${inLarge}) as counted`,
    )
    .get()
  expect(counts).toEqual({ orders: orderCount, customers: customerCount, counted: orderCount })
})

describe.each(cases)('$name', (one) => {
  const { path, plan, isDeep } = one
  const size = path.startsWith(users) ? 100 : 50

  async function check(page: string, number: number, at: string) {
    const { count, results, next, executions } = await read(one, page, at)
    expect({ count, ids: results.map(({ id }) => id) }).toEqual(readPlainly(one, size, number))
    checkPlans(plan, executions)
    return { count, next }
  }

  it('returns what a plain sort does, and finds its pages by indexes', async () => {
    const { count, next } = await check('first', 1, path)
    expect(count).toBeGreaterThan(0)
    expect(next === null).toBe(count <= size)
    if (next !== null) await check('next', 2, next)
    const last = Math.min(farPage, Math.ceil(count / size))
    if (isDeep) await check(`page ${last.toLocaleString('en')}`, last, `${path}&page=${last}`)
  })
})

describe('statistics of the large edition', () => {
  it('add up its orders, and read no order for it', async () => {
    const path = `/v1/editions/${large}/stats`
    const times: number[] = []
    let answer: { orders: object[] } = { orders: [] }
    for (let run = 0; run < 3; run++) {
      const reply = await request(path, tokens.organization)
      answer = reply.answer as typeof answer
      times.push(reply.executions.reduce((sum, { milliseconds }) => sum + milliseconds, 0))
      for (const { text } of reply.executions) expect(text).not.toMatch(/from (?:orders|purchases|refund_requests)/)
    }
    const floor = performance.now()
    database.prepare(`select count(*) from orders indexed by orders_edition_created where ${inLarge}`).get()
    const floorMs = performance.now() - floor
    report.push([
      'statistics by day, product and status',
      'all',
      `${formatTime(median(times))} (${(median(times) / floorMs).toFixed(1)} times the count of orders)`,
      'under 400',
    ])
    const countedRows = database
      .prepare(
        `select date(created_at / 1000, 'unixepoch') as date, status, currency, count(*) as count,
          sum(amount_minor) / 100.0 as amount from orders not indexed where ${inLarge} group by 1, 2, 3 order by 1, 2, 3`,
      )
      .all()
    expect(answer.orders).toEqual(countedRows.map((row) => ({ ...row })))
  })
})

describe.each([
  ['orders', 2000],
  ['purchases', 2000],
])('the export of %s', (name, pageSize) => {
  it('has all rows of the edition, and holds one page of them at a time', async () => {
    const expectedCount = Number(
      database.prepare(`select count(*) as n from ${name} where ${inLarge}`).get()?.['n'] ?? 0,
    )
    const started = performance.now()
    let [rows, bytes, maxBytes, maxMemory] = [0, 0, 0, 0]
    const { executions } = await request(`/v1/${name}/export?${ofLarge}`, tokens.organization, async ({ body }) => {
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        bytes += chunk.length
        maxBytes = Math.max(maxBytes, chunk.length)
        maxMemory = Math.max(maxMemory, process.memoryUsage().heapUsed)
        rows += Buffer.from(chunk).toString('latin1').split('\n').length - 1
      }
    })
    const seconds = (performance.now() - started) / 1000
    const sqlMs = executions.reduce((sum, { milliseconds }) => sum + milliseconds, 0)
    report.push([
      `export of ${name}`,
      'all',
      `${seconds.toFixed(0)} s, SQL ${(sqlMs / 1000).toFixed(0)} s, ${(bytes / 1e6).toFixed(0)} MB in chunks of ${(maxBytes / 1e3).toFixed(0)} kB, heap at most ${(maxMemory / 1e6).toFixed(0)} MB`,
      'no goal',
    ])
    expect(rows).toBe(expectedCount + 1)
    const pages = executions.filter(({ text }) => text.includes('with page as'))
    expect(pages).toHaveLength(Math.floor(expectedCount / pageSize) + 1)
    const [first, second] = pages
    for (const page of [first, second])
      if (page) expect(explain(database, page)).toMatchObject({ scans: [], isSorted: false, hasPage: true })
  }, 600_000)
})
