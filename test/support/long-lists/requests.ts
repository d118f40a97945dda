import * as fc from 'fast-check'
import type { Caller } from './callers.ts'
import type { Filter, LongList, Parent, Query, Request, SeenRow } from './model.ts'
import { presentFor, reachOf, rowsVisibleTo, sees } from './who-sees-what.ts'
import type { ListsWorld } from './world.ts'

const choice = fc.nat({ max: 1_000_000 })

/** Numbers that choose a request. What they choose depends on the world, which is made before the property runs. */
export const requestSeed = fc.record({
  list: choice,
  parent: choice,
  caller: choice,
  scope: choice,
  filters: fc.array(fc.record({ name: choice, kind: choice, value: choice, start: choice, length: choice }), {
    maxLength: 3,
    size: 'max',
  }),
  ordering: fc.array(fc.record({ name: choice, desc: fc.boolean() }), { maxLength: 3, size: 'max' }),
  size: fc.constantFrom(2, 5, 11, 20, 37, 100, 500),
  page: choice,
})
export type RequestSeed = typeof requestSeed extends fc.Arbitrary<infer Seed> ? Seed : never

const chosen = <Item>(items: readonly Item[], number: number): Item => {
  const item = items[number % items.length]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}

const nowhere = ['org_00000000000000000000000000', 'edt_00000000000000000000000000'] as const

/** An organisation, an edition, both, or neither; now and then one that is another's or that nothing has. */
function chooseScope({ places: { a, b } }: ListsWorld, list: LongList, number: number): Query['scope'] {
  const organizations = [a.id, a.id, b.id, a.id, nowhere[0]]
  const editions = [...a.editions, ...a.editions, ...b.editions.slice(0, 2), nowhere[1]]
  const organization_id = chosen(organizations, number >> 2)
  const edition_id = chosen(editions, number >> 5)
  const kinds: Query['scope'][] = [{ organization_id }, { edition_id }, {}, { organization_id, edition_id }]
  const possible = kinds.filter((scope) => Object.keys(scope).every((name) => list.scopes.some((one) => one === name)))
  return chosen(possible, number & 3)
}

/** A part of a text, as somebody types it. */
function chooseText(text: string, { start, length }: { start: number; length: number }): string {
  const letters = [...text]
  const from = start % Math.max(1, letters.length)
  const part = letters.slice(from, from + 1 + (length % 9)).join('')
  const typed = length % 5 === 0 ? part.toUpperCase() : length % 7 === 0 ? text : part
  return typed.trim()
}

function chooseValue(
  filter: Filter,
  rows: { seen: readonly SeenRow[]; all: readonly SeenRow[] },
  seed: RequestSeed['filters'][number],
): string {
  const own = seed.kind % 4 > 0 ? filter.values(rows.seen) : []
  const values = own.length > 0 ? own : filter.values(rows.all)
  const value = values[seed.value % Math.max(1, values.length)] ?? ''
  if (!filter.isText) return value
  if (seed.kind % 17 === 1) return 'no row has this'
  return chooseText(value, seed)
}

/** Everything that the caller sees of a list, before scopes and filters. */
export const seenRows = ({ customers }: ListsWorld, list: LongList, parent: Parent | null, caller: Caller): SeenRow[] =>
  rowsVisibleTo(caller, list, parent).map((row) => presentFor(caller, row, customers))

function isInScope(row: SeenRow, { organization_id, edition_id }: Query['scope'], caller: Caller): boolean {
  if (organization_id !== undefined && row.organization !== organization_id) return false
  if (edition_id === undefined) return true
  // Of a customer of several editions the caller has to see the one that is asked for.
  return (
    row.editions.includes(edition_id) &&
    sees(reachOf(caller), { organization: row.organization, editions: [edition_id] })
  )
}

/** The rows of a request, in no order. */
export const matchingRows = (world: ListsWorld, { list, parent, caller, scope, filters }: Request): SeenRow[] =>
  seenRows(world, list, parent, caller).filter(
    (row) =>
      isInScope(row, scope, caller) &&
      Object.entries(filters).every(([name, value]) => list.filters[name]?.matches(row, value)),
  )

export function chooseRequest(world: ListsWorld, seed: RequestSeed): Request {
  const list = chosen(world.lists, seed.list)
  const caller = chosen(world.callers, seed.caller)
  const parent = list.parents ? chosen(list.parents, seed.parent) : null
  const seen = seenRows(world, list, parent, caller)
  const [superuser = caller] = world.callers
  const all = seenRows(world, list, parent, superuser)
  const names = Object.keys(list.filters)
  const filters: Record<string, string> = {}
  for (const one of seed.filters) {
    const name = chosen(names, one.name)
    const filter = list.filters[name]
    const value = filter && chooseValue(filter, { seen, all }, one)
    if (value) filters[name] = value
  }
  const orderings = Object.keys(list.orderings)
  const ordering = seed.ordering.map(({ name, desc }) => `${desc ? '-' : ''}${chosen(orderings, name)}`)
  const request = { list, parent, caller, filters, ordering, size: list.fixedSize ?? seed.size }
  const scope = chooseScope(world, list, seed.scope)
  const needed = list.requires ?? []
  if (needed.length === 0 || needed.some((name) => name in scope || name in filters)) return { ...request, scope }
  const [place] = needed
  const { a } = world.places
  return {
    ...request,
    scope: place === 'organization_id' ? { organization_id: a.id } : { edition_id: chosen(a.editions, seed.scope) },
  }
}

export function pathOfRequest({ list, parent, scope, filters, ordering, size }: Request): string {
  const query = new URLSearchParams({ ...scope, ...filters })
  if (ordering.length > 0) query.set('ordering', ordering.join(','))
  if (list.fixedSize === undefined) query.set('page_size', String(size))
  return `${list.path(parent)}?${query.toString()}`
}
