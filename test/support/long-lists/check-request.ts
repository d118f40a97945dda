import { expect } from 'vitest'
import { describeRefusal } from '../../support/refusals.ts'
import type { Reply } from '../api.ts'
import { readAs } from '../lists.ts'
import { compareRows, type Request, type SeenRow, sortKeys } from './model.ts'
import { matchingRows, pathOfRequest } from './requests.ts'
import { getReach, predictStatus } from './who-sees-what.ts'
import type { ListsWorld } from './world.ts'

interface Expected {
  rows: SeenRow[]
  keysOf: (row: SeenRow | undefined) => unknown
  byId: Map<string, SeenRow>
}

function expectedOf(world: ListsWorld, request: Request): Expected {
  const keys = sortKeys(request.list, request.ordering)
  const rows = matchingRows(world, request).toSorted((one, other) => compareRows(keys, one, other))
  return {
    rows,
    keysOf: (row) => row && keys.map(({ by }) => by(row)),
    byId: new Map(rows.map((row) => [row.id, row])),
  }
}

/** Rows with equal keys may come in any order, but in the same one on every page. */
function expectPage(request: Request, { rows, keysOf, byId }: Expected, reply: Reply, skipped: number): string[] {
  const { list, size } = request
  const results = reply.body.results as { id: string }[]
  const expected = rows.slice(skipped, skipped + size)
  const listedRows = results.map(({ id }) => byId.get(id))
  expect({
    count: reply.body.count,
    ids: results.map(({ id }) => byId.has(id) || id),
    rows: listedRows.map(keysOf),
  }).toEqual({
    count: rows.length,
    ids: expected.map(() => true),
    rows: expected.map(keysOf),
  })
  expect({ next: reply.body.next !== null, previous: reply.body.previous !== null }).toEqual({
    next: skipped + size < rows.length,
    previous: skipped > 0,
  })
  const { seen } = list
  if (seen) expect(results).toMatchObject(listedRows.flatMap((row) => (row ? [seen(row)] : [])))
  return results.map(({ id }) => id)
}

/** The most pages that a walk reads. */
const mostPages = 6

const mayOrder = ({ caller, list, ordering, parent }: Request): boolean => {
  const isLimited = sortKeys(list, ordering).some(({ name }) => list.orderings[name]?.roles === 'organization')
  const reach = getReach(caller)
  return !isLimited || !parent || reach.all || reach.organizations.includes(parent.organization)
}

/** Checks the list by `next` from its first page, one page by number, and a page after the last one. */
export async function checkRequest(world: ListsWorld, request: Request, page: number): Promise<void> {
  try {
    await checkPages(world, request, page)
  } catch (cause) {
    throw new Error(`${request.caller.name} asks for ${pathOfRequest(request)}`, { cause })
  }
}

async function checkPages(world: ListsWorld, listRequest: Request, page: number): Promise<void> {
  const { list, parent, caller } = listRequest
  const status = predictStatus(caller, list, parent)
  if (status !== 200 || !mayOrder(listRequest)) {
    expect((await readAs(caller.token, pathOfRequest(listRequest))).status).toBe(status === 200 ? 400 : status)
    return
  }
  const expected = expectedOf(world, listRequest)
  const { length } = expected.rows
  const size = list.fixedSize ?? Math.max(listRequest.size, Math.ceil(length / mostPages))
  const request = { ...listRequest, size }
  const path = pathOfRequest(request)
  const walked: string[] = []
  for (let at: string | null = path; at !== null;) {
    const reply: Reply = await readAs(caller.token, at)
    expect(reply.status, reply.text).toBe(200)
    walked.push(...expectPage(request, expected, reply, walked.length))
    if (reply.body.results.length === 0 && walked.length < length) throw new Error('The walk stands still.')
    at = reply.body.next
  }
  expect(new Set(walked).size).toBe(length)
  const pages = Math.max(1, Math.ceil(length / size))
  const number = 1 + (page % pages)
  const byNumber = await readAs(caller.token, `${path}&page=${number}`)
  expect(byNumber.status, byNumber.text).toBe(200)
  const skipped = (number - 1) * size
  expect(expectPage(request, expected, byNumber, skipped)).toEqual(walked.slice(skipped, skipped + size))
  const past = await readAs(caller.token, `${path}&page=${pages + 1 + (page % 3)}`)
  expect(describeRefusal(past)).toBe('404 invalid_page')
}
