import { expect } from 'vitest'
import type { Reply } from '../api.ts'
import { readAs } from '../lists.ts'
import { changes } from './changes.ts'
import type { Request } from './model.ts'
import { readAll } from './read-all.ts'
import { pathOfRequest } from './requests.ts'
import type { ListsWorld } from './world.ts'

/** Walks a list by `next` while some of its rows change between the pages: all others are there once. */
export async function checkMovingWalk(world: ListsWorld, request: Request, ways: readonly number[]): Promise<void> {
  const { list, caller } = request
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
    const way = ways[page % ways.length] ?? 0
    const id = before[way % Math.max(1, before.length)]
    if (id === undefined || page > 12) continue
    changed.add(id)
    await changes[list.id]?.(world, request, id, way >> 4)
  }
  const counts = new Map<string, number>()
  for (const id of walked) counts.set(id, (counts.get(id) ?? 0) + 1)
  const unchanged = before.filter((id) => !changed.has(id))
  const wrong = unchanged.filter((id) => counts.get(id) !== 1)
  expect({ path, wrong: wrong.map((id) => [id, counts.get(id) ?? 0]) }).toEqual({ path, wrong: [] })
}
