import { expect } from 'vitest'
import type { Reply } from '../api.ts'
import { readAs } from '../lists.ts'
import { changes } from './changes.ts'
import type { Request } from './model.ts'
import { readAll } from './read-all.ts'
import { pathOfRequest } from './requests.ts'
import type { ListsWorld } from './world.ts'

const mostChanges = 10

/** The number of rows that are tried, because most refund requests, for example, are already decided. */
const mostTries = 12

/** Changes one of these rows, and returns its id. */
async function changeSome(world: ListsWorld, request: Request, ids: readonly string[], way: number): Promise<string> {
  const change = changes[request.list.id]
  for (let tried = 0; tried < mostTries; tried++) {
    const id = ids[(way + 7 * tried) % Math.max(1, ids.length)]
    if (id !== undefined && (await change?.(world, request, id, way >> 4))) return id
  }
  return ''
}

/**
 * Walks a list by `next` while some of its rows change between the pages. Expects all others once, and returns the
 * number of changes.
 */
export async function checkMovingWalk(world: ListsWorld, request: Request, ways: readonly number[]): Promise<number> {
  const { caller } = request
  const path = pathOfRequest(request)
  const before = (await readAll(path.replace(/&?page_size=\d+/, ''), caller.token)).map(({ id }) => id as string)
  const changed = new Set<string>()
  const walked: string[] = []
  let page = 0
  for (let at: string | null = path; at !== null; page++) {
    const reply: Reply = await readAs(caller.token, at)
    expect(reply.status, reply.text).toBe(200)
    walked.push(...(reply.body.results as { id: string }[]).map(({ id }) => id))
    at = reply.body.next
    if (at !== null && page < mostChanges)
      changed.add(await changeSome(world, request, before, ways[page % ways.length] ?? 0))
  }
  const counts = new Map<string, number>()
  for (const id of walked) counts.set(id, (counts.get(id) ?? 0) + 1)
  const unchanged = before.filter((id) => !changed.has(id))
  const wrong = unchanged.filter((id) => counts.get(id) !== 1)
  expect({ path, wrong: wrong.map((id) => [id, counts.get(id) ?? 0]) }).toEqual({ path, wrong: [] })
  changed.delete('')
  return changed.size
}
