import { beforeAll, describe, expect, it } from 'vitest'
import { findIdPrefix } from '../../../src/domain/ids.ts'
import { buildSortKey } from '../../../src/domain/text/fold.ts'
import type { Operation } from '../../../src/http/operations/operation.ts'
import { defaultPageSize } from '../../../src/http/requests/list-query.ts'
import type { Reply } from '../../support/api.ts'
import { base, listIds, compareNullsLast, readAs, walkAs } from '../../support/lists.ts'
import { chooseCaller, chooseReader, lists, make, buildPath, getSample } from '../../support/operations.ts'
import { describeRefusal } from '../../support/refusals.ts'
import type { Sample } from '../../support/samples/sample.ts'
import { listFilters, listOrderings } from '../../support/schema.ts'
import { buildWorld, type World } from '../../support/world.ts'

const filled = 8

let world: World
const requests: Record<string, Sample> = {}

beforeAll(async () => {
  world = await buildWorld()
  for (const operation of lists) {
    requests[operation.id] = await make(operation, world, chooseCaller(operation, world))
    // A sale makes an order, a purchase and a customer together.
    const { body } = await ask(operation)
    if (body.count < filled) await getSample(operation).fill?.(world, filled)
  }
})

const query = (operation: Operation): Record<string, unknown> =>
  (operation.query as unknown as { shape: object }).shape as Record<string, unknown>
const hasSize = (operation: Operation): boolean => 'page_size' in query(operation)
const hasPages = (operation: Operation): boolean => 'page' in query(operation)

interface ListQuery {
  query?: Record<string, string>
  without?: string[]
}

function address(operation: Operation, { query: more = {} }: ListQuery = {}): string {
  const sample = requests[operation.id] ?? {}
  return buildPath(operation, { ...sample, query: { ...sample.query, ...more } })
}

const read = (at: string): Promise<Reply> => readAs(chooseReader(at, world).token, at)
const walk = (from: string) => walkAs(chooseReader(from, world).token, from)

/** Orderings by a field that may be null. */
const nullableOrderings: Record<string, readonly string[]> = {
  listEditions: ['start_date', 'end_date'],
  listOrders: ['order_number'],
  listUsers: ['email', 'phone_number', 'last_seen'],
  listSegments: ['calculated_at'],
  listCampaigns: ['scheduled_at'],
  listCampaignRecipients: ['address', 'sent_at'],
}

const ask = (operation: Operation, more: Record<string, string> = {}): Promise<Reply> =>
  read(address(operation, { query: more }))

/** Returns the value by which an item is sorted. */
function readSortValue(operation: Operation, item: Record<string, unknown>, key: string): unknown {
  const readValue = getSample(operation).sortValue?.[key]
  if (readValue) return readValue(item)
  return ['name', 'title', 'product'].includes(key) ? buildSortKey(String(item[key])) : item[key]
}

/** Returns the status of an answer whose only error is the cursor. */
const readCursorStatus = ({ status, body, text }: Reply): number | string =>
  body.errors?.length === 1 && body.errors[0].code === 'invalid_cursor' && body.errors[0].attr === 'cursor'
    ? status
    : text

/** Chooses a value for a filter without words. */
function choosePlainValue(name: string): string {
  if (/_(before|after)$/.test(name)) return '2020-01-01T00:00:00Z'
  const prefix = findIdPrefix(name)
  return prefix === null ? 'x' : `${prefix}_${'0'.repeat(26)}`
}

const pagedLists = lists.filter(hasPages)

describe.each(pagedLists)('$id', (operation) => {
  const sized = hasSize(operation)

  it('returns its rows in the list envelope', async () => {
    const { body, status } = await ask(operation)
    expect(status).toBe(200)
    // The client in test/support has checked the other fields.
    expect(Object.keys(body).slice(0, 4)).toEqual(['count', 'next', 'previous', 'results'])
    expect(body.results.length).toBe(body.count)
    expect([body.next, body.previous]).toEqual([null, null])
    if (getSample(operation).fill) expect(body.count).toBeGreaterThanOrEqual(filled)
    expect(new Set(listIds({ body } as Reply)).size).toBe(body.count)
  })

  it('refuses invalid page numbers', async () => {
    for (const page of ['0', '-1', 'abc', '1.5', '1e3', '9999', '99999999999999999999', '999999999', ' 1', '٣']) {
      const reply = await ask(operation, { page })
      expect([page, describeRefusal(reply)]).toEqual([page, '404 invalid_page'])
    }
    expect((await ask(operation, { page: '' })).status).toBe(200)
  })

  it.runIf('created_before' in query(operation))(
    'returns only a first page for a range of time without rows',
    async () => {
      const [past, later] = ['2001-01-01T00:00:00Z', '2001-01-02T00:00:00Z']
      for (const ordering of ['', ...listOrderings(operation)])
        for (const created_before of [past, '2000-01-01T00:00:00Z', later]) {
          const range = { created_after: past, created_before, ...(ordering && { ordering }) }
          const first = await ask(operation, range)
          expect([range, first.status, first.body.count]).toEqual([range, 200, 0])
          const far = await ask(operation, { ...range, page: '9999' })
          expect([range, describeRefusal(far)]).toEqual([range, '404 invalid_page'])
        }
    },
  )

  it('has the same order each time, for every ordering', async () => {
    const keys = listOrderings(operation)
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) {
      const up = await ask(operation, { ordering: key })
      const down = await ask(operation, { ordering: `-${key}` })
      const readValue = (item: Record<string, unknown>) => readSortValue(operation, item, key)
      const values = (up.body.results as Record<string, unknown>[]).map(readValue)
      expect([key, values]).toEqual([key, values.toSorted(compareNullsLast(false))])
      expect([key, values.some((value) => value !== undefined)]).toEqual([key, true])
      const reversed = (down.body.results as Record<string, unknown>[]).map(readValue)
      expect([key, reversed]).toEqual([key, values.toSorted(compareNullsLast(true))])
      // Rows without a value come last in both directions, in reversed order among themselves.
      const without = values.filter((value) => value === null).length
      const idsWithValue = listIds(up).slice(0, values.length - without)
      const empty = listIds(up).slice(values.length - without)
      expect([key, listIds(down)]).toEqual([key, [...idsWithValue.toReversed(), ...empty.toReversed()]])
      expect(listIds(await ask(operation, { ordering: key }))).toEqual(listIds(up))
    }
  })

  it.runIf(nullableOrderings[operation.id])(
    'has sample rows with null where an ordering field may be null',
    async () => {
      for (const key of nullableOrderings[operation.id] ?? []) {
        const rows = (await ask(operation)).body.results as Record<string, unknown>[]
        const states = new Set(rows.map((row) => (readSortValue(operation, row, key) === null ? 'null' : 'value')))
        expect([key, states]).toEqual([key, new Set(['null', 'value'])])
      }
    },
  )

  it('accepts several orderings, and refuses unknown ones', async () => {
    const [first = '', second = first] = listOrderings(operation)
    const joined = await ask(operation, { ordering: `-${first},${second}` })
    const repeated = await read(
      `${address(operation)}${address(operation).includes('?') ? '&' : '?'}ordering=-${first}&ordering=${second}`,
    )
    expect(listIds(repeated)).toEqual(listIds(joined))
    const readValue = (item: Record<string, unknown>, key: string) => readSortValue(operation, item, key)
    const rows = joined.body.results as Record<string, unknown>[]
    const sorted = rows.toSorted(
      (one, other) =>
        compareNullsLast(true)(readValue(one, first), readValue(other, first)) ||
        compareNullsLast(false)(readValue(one, second), readValue(other, second)),
    )
    const listSortKeys = (items: Record<string, unknown>[]) =>
      items.map((item) => [readValue(item, first), readValue(item, second)])
    expect(listSortKeys(rows)).toEqual(listSortKeys(sorted))
    for (const ordering of ['no_such_key', '--created', `${first},no_such_key`, 'id; drop table orders', '-']) {
      const reply = await ask(operation, { ordering })
      expect([ordering, reply.status]).toEqual([ordering, 400])
      expect(reply.body.errors).toMatchObject([{ code: 'invalid_choice', attr: 'ordering', pointer: null }])
    }
  })

  it.runIf(sized)('limits the size of its pages', async () => {
    const plain = await ask(operation)
    for (const size of ['501', '99999', '9'.repeat(400), '']) {
      const reply = await ask(operation, { page_size: size })
      expect([size, reply.status, reply.body.count, listIds(reply)]).toEqual([
        size,
        200,
        plain.body.count,
        listIds(plain),
      ])
    }
  })

  it.runIf(sized)('leads through all pages by next, with the same rows as page=N', async () => {
    const all = listIds(await ask(operation))
    const [first = '', second = first] = listOrderings(operation)
    const nullables = listOrderings(operation).filter((key) => nullableOrderings[operation.id]?.includes(key))
    const orders = [
      '',
      first,
      `-${second},${first}`,
      ...nullables.flatMap((key) => [key, `-${key}`, `${first},-${key}`]),
    ]
    for (const ordering of orders)
      for (const size of ordering ? [3] : [1, 2]) {
        const parameters = { page_size: String(size), ...(ordering ? { ordering } : {}) }
        const { ids, pages, count } = await walk(address(operation, { query: parameters }))
        expect([ordering, size, ids.toSorted()]).toEqual([ordering, size, all.toSorted()])
        expect(count).toBe(all.length)
        for (const [index, page] of pages.entries()) {
          const alone = await ask(operation, { ...parameters, page: String(index + 1) })
          expect([ordering, size, index, listIds(alone)]).toEqual([ordering, size, index, page])
        }
      }
  })

  it.runIf(sized)('keeps all other parameters in the links to its neighbours', async () => {
    const ordering = listOrderings(operation).slice(0, 2).join(', ')
    const parameters = { page_size: '2', ordering, page: '2' }
    const { body, headers } = await ask(operation, parameters)
    const { next, previous } = body as { next: string; previous: string }
    for (const link of [next, previous]) {
      expect(link.startsWith(`${base}${operation.path.split('{')[0]}`)).toBe(true)
      expect(new URL(link).searchParams.get('ordering')).toBe(ordering)
      expect(new URL(link).searchParams.get('page_size')).toBe('2')
      for (const [name, value] of Object.entries(requests[operation.id]?.query ?? {}))
        expect(new URL(link).searchParams.get(name)).toBe(value)
    }
    expect(new URL(next).searchParams.get('page')).toBe('3')
    expect(new URL(previous).searchParams.has('page')).toBe(false)
    expect(new URL(previous).searchParams.has('cursor')).toBe(false)
    expect(headers.get('link')).toBe(`<${next}>; rel="next", <${previous}>; rel="prev"`)
    const third = await read(next)
    expect(new URL(third.body.previous).searchParams.get('page')).toBe('2')
    expect(listIds(await read(third.body.previous))).toEqual(listIds({ body } as Reply))
  })

  it.runIf(sized)('accepts its own next link when the query is long', async () => {
    const [key = ''] = listOrderings(operation)
    const first = await ask(operation, { page_size: '3', ordering: `${key}, `.repeat(1000) })
    const second = await read(first.body.next)
    expect(second.status === 200 || second.text).toBe(true)
    expect(listIds(second)).toEqual(listIds(await ask(operation, { page_size: '3', ordering: key, page: '2' })))
  })

  it.runIf(sized)('refuses forged cursors, which reveal nothing', async () => {
    const parameters = { page_size: '3', page: '2' }
    const { next } = (await ask(operation, { page_size: '3' })).body as { next: string }
    const ownCursor = new URL(next).searchParams.get('cursor') ?? ''
    const content = JSON.parse(atob(ownCursor.replaceAll('-', '+').replaceAll('_', '/'))) as {
      for: unknown
      after: unknown[]
    }
    const encode = (value: unknown) =>
      btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    const broken = [
      ownCursor.slice(0, -3),
      ownCursor.slice(4),
      'x',
      '!!!',
      'a'.repeat(5000),
      encode(null),
      encode([]),
      encode({ ...content, for: 'x' }),
      encode({ ...content, after: content.after.map(() => true) }),
      encode({ ...content, page: 0 }),
      encode({ ...content, page: 'two' }),
      encode({ ...content, after: [{}] }),
      encode({ ...content, after: content.after.map(() => 'a\0b') }),
      encode({ ...content, after: content.after.map(() => '\ud800') }),
      btoa(JSON.stringify({ ...content, after: content.after.map(() => 'KEY') }).replaceAll('"KEY"', '1e999')),
    ]
    for (const [index, cursor] of broken.entries()) {
      const { status, body } = await ask(operation, { ...parameters, cursor })
      expect([index, status, body.errors?.[0]]).toMatchObject([index, 400, { code: 'invalid_cursor', attr: 'cursor' }])
    }
    const foreign = [
      encode({ ...content, for: 1 }),
      encode({ ...content, after: [] }),
      encode({ ...content, after: [...content.after, 1] }),
    ]
    for (const [index, cursor] of foreign.entries())
      expect([index, readCursorStatus(await ask(operation, { ...parameters, cursor }))]).toEqual([index, 400])
    const all = new Set(listIds(await ask(operation)))
    const hostile = [
      encode({ ...content, after: content.after.map(() => '') }),
      encode({ ...content, after: content.after.map(() => -1) }),
      encode({ ...content, after: content.after.map(() => "' or 1=1 --") }),
    ]
    for (const [index, cursor] of hostile.entries()) {
      const reply = await ask(operation, { ...parameters, cursor })
      expect([index, reply.status === 200 || reply.text]).toEqual([index, true])
      expect(listIds(reply).filter((id) => !all.has(id))).toEqual([])
    }
  })

  it('refuses a cursor of another page, ordering, filter or list', async () => {
    await getSample(operation).fill?.(world, sized ? filled : defaultPageSize + 1)
    const size: Record<string, string> = sized ? { page_size: '1' } : {}
    const { next } = (await ask(operation, size)).body as { next: string | null }
    const cursor = new URL(next ?? '').searchParams.get('cursor') ?? ''
    const [key = ''] = listOrderings(operation)
    const isSampled = (name: string) => name in (requests[operation.id]?.query ?? {})
    const filters = listFilters(operation).filter(({ name }) => !isSampled(name))
    const changes: Record<string, string>[] = [
      { page: '3' },
      { ordering: key },
      { ordering: `-${key}` },
      ...filters.map(({ name, words: [word] }) => ({ [name]: word ?? choosePlainValue(name) })),
    ]
    for (const change of changes) {
      const reply = await ask(operation, { ...size, page: '2', cursor, ...change })
      expect([change, readCursorStatus(reply)]).toEqual([change, 400])
    }
    const other = lists.find(({ id }) => id === (operation.id === 'listEvents' ? 'listOrganizations' : 'listEvents'))
    expect(readCursorStatus(await ask(other ?? operation, { ...size, page: '2', cursor }))).toBe(400)
    const reply = await ask(operation, { ...size, page: '2', cursor })
    const withoutPage = await ask(operation, { ...size, cursor })
    expect([reply.status, withoutPage.status]).toEqual([200, 200])
    expect(listIds(withoutPage)).toEqual(listIds(reply))
  })

  it.runIf(sized)('lets the page size change between pages, and shows each row once', async () => {
    const all = listIds(await ask(operation))
    const first = await ask(operation, { page_size: '1' })
    const next = new URL(first.body.next)
    next.searchParams.set('page_size', '3')
    const rest = await walk(next.href)
    expect([...listIds(first), ...rest.ids]).toEqual(all)
    expect(rest.pages[0]).toHaveLength(Math.min(3, all.length - 1))
  })

  it.runIf(sized)('refuses the cursor of another tenant', async () => {
    const { root } = world.people
    const sample = await make(operation, world, root)
    const asRoot = await readAs(
      root.token,
      buildPath(operation, { ...sample, query: { ...sample.query, page_size: '1' } }),
    )
    // The superuser has no access tokens.
    if (asRoot.body.next === null) return expect(operation.id).toBe('listAccessTokens')
    const reply = await readAs(world.people.OA.token, asRoot.body.next)
    // A list of a resource answers 404 when the caller may not see the resource, and one of the superuser 403.
    expect([400, 403, 404]).toContain(reply.status)
    if (reply.status === 400) expect(readCursorStatus(reply)).toBe(400)
    else if (operation.roles.length > 0) expect(operation.path).toContain('{')
  })
})

describe.each(pagedLists.filter((operation) => !hasSize(operation)))('$id', (operation) => {
  it('leads through pages of a hundred rows', async () => {
    await getSample(operation).fill?.(world, 205)
    for (const ordering of ['', ...listOrderings(operation).map((key) => `-${key}`)]) {
      const { ids, pages, count } = await walk(address(operation, { query: { ordering } }))
      expect([ordering, pages.map((page) => page.length).slice(0, 2), ids.length]).toEqual([
        ordering,
        [100, 100],
        count,
      ])
      expect(new Set(ids).size).toBe(count)
      for (const [index, page] of pages.entries())
        expect(listIds(await ask(operation, { ordering, page: String(index + 1) }))).toEqual(page)
    }
  })
})

it('at least four lists are tested', () => {
  expect(pagedLists.length).toBeGreaterThan(3)
})
