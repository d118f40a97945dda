import * as fc from 'fast-check'
import type { Caller } from './callers.ts'
import type { Filter, LongList, Parent, Query, Request, SeenRow } from './model.ts'
import { presentRow, getReach, listVisibleRows, sees, predictStatus } from './who-sees-what.ts'
import type { ListsWorld } from './world.ts'

/** Small numbers are as likely as others, because they choose. */
const choice = fc.noBias(fc.nat({ max: 1_000_000 }))

/** Numbers that choose a request. Their meaning depends on the world, which exists before the property runs. */
export const requestSeed = fc.record({
  list: choice,
  parent: choice,
  caller: choice,
  scope: choice,
  target: choice,
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

/**
 * Chooses an organisation, an edition, both, or neither: mostly those of a row, and sometimes others or unknown ones.
 */
function chooseScope(
  { places: { a, b } }: ListsWorld,
  list: LongList,
  target: SeenRow | undefined,
  number: number,
): Query['scope'] {
  const isOfTarget = target !== undefined && number % 7 > 0
  const organizations = isOfTarget ? [target.organization] : [a.id, b.id, nowhere[0]]
  const editions = isOfTarget ? target.editions : [...a.editions, ...b.editions, nowhere[1]]
  const organization_id = chosen(organizations, number >> 3)
  const edition_id = editions[(number >> 5) % Math.max(1, editions.length)]
  const ofEdition = edition_id === undefined ? [] : [{ edition_id }, { organization_id, edition_id }]
  const scopes: Query['scope'][] = [{ organization_id }, {}, ...ofEdition]
  const possible = scopes.filter((scope) =>
    Object.keys(scope).every((name) => list.scopes.some((allowed) => allowed === name)),
  )
  return chosen(possible, number >> 9)
}

/** Chooses a part of a text, as somebody may type it. */
function chooseText(text: string, { start, length }: { start: number; length: number }): string {
  const letters = [...text]
  const from = start % Math.max(1, letters.length)
  const part = letters.slice(from, from + 1 + (length % 9)).join('')
  const typed = length % 5 === 0 ? part.toUpperCase() : length % 7 === 0 ? text : part
  return typed.trim()
}

/** Chooses mostly a value of one row, so that combined filters find something. */
function chooseValue(
  filter: Filter,
  { target, stranger }: { target: SeenRow | undefined; stranger: SeenRow | undefined },
  seed: RequestSeed['filters'][number],
): string {
  const row = seed.kind % 6 > 0 ? target : stranger
  const values = row && seed.kind % 11 > 0 ? filter.values(row) : filter.others
  const value = values[seed.value % Math.max(1, values.length)] ?? ''
  if (!filter.isText) return value
  return chooseText(value, seed)
}

/** Lists everything that the caller sees of a list, before scopes and filters. */
const seenRows = ({ customers }: ListsWorld, list: LongList, parent: Parent | null, caller: Caller): SeenRow[] =>
  listVisibleRows(caller, list, parent).map((row) => presentRow(caller, row, customers))

function isInScope(row: SeenRow, { organization_id, edition_id }: Query['scope'], caller: Caller): boolean {
  if (organization_id !== undefined && row.organization !== organization_id) return false
  if (edition_id === undefined) return true
  // The caller must see the edition of a customer that the filter names.
  return (
    row.editions.includes(edition_id) &&
    sees(getReach(caller), { organization: row.organization, editions: [edition_id] })
  )
}

/** Lists the rows of a request, unsorted. */
export const matchingRows = (world: ListsWorld, { list, parent, caller, scope, filters }: Request): SeenRow[] =>
  seenRows(world, list, parent, caller).filter(
    (row) =>
      isInScope(row, scope, caller) &&
      Object.entries(filters).every(([name, value]) => list.filters[name]?.matches(row, value)),
  )

/** Chooses mostly callers who may read the list. */
function chooseCaller(callers: readonly Caller[], list: LongList, parent: Parent | null, number: number): Caller {
  const allowed = callers.filter((caller) => predictStatus(caller, list, parent) === 200)
  return number % 5 > 0 && allowed.length > 0 ? chosen(allowed, number) : chosen(callers, number)
}

/** Chooses a scope for a list whose filters do not name the one it needs. */
function neededScope({ places: { a } }: ListsWorld, list: LongList, target: SeenRow | undefined): Query['scope'] {
  return list.requires?.[0] === 'organization_id'
    ? { organization_id: target?.organization ?? a.id }
    : { edition_id: target?.editions[0] ?? a.editions[0] }
}

/** Returns the scope in which a list has most rows. */
export function wholeScope({ places: { a } }: ListsWorld, { list }: Request): Query['scope'] {
  if (list.parents) return {}
  return list.scopes.includes('organization_id') ? { organization_id: a.id } : { edition_id: a.editions[0] }
}

export function chooseRequest(world: ListsWorld, seed: RequestSeed): Request {
  const list = chosen(world.lists, seed.list)
  const parent = list.parents ? chosen(list.parents, seed.parent) : null
  const caller = chooseCaller(world.callers, list, parent, seed.caller)
  const [superuser = caller] = world.callers
  const all = seenRows(world, list, parent, superuser)
  const visibleRows = seenRows(world, list, parent, caller)
  const target = visibleRows[seed.target % Math.max(1, visibleRows.length)]
  const scope = chooseScope(world, list, target, seed.scope)
  const filters: Record<string, string> = {}
  for (const filterChoice of seed.filters) {
    const name = chosen(Object.keys(list.filters), filterChoice.name)
    const filter = list.filters[name]
    const stranger = all[filterChoice.value % Math.max(1, all.length)]
    const value = filter && chooseValue(filter, { target, stranger }, filterChoice)
    if (value) filters[name] = value
  }
  const orderings = Object.keys(list.orderings)
  const ordering = seed.ordering.map(({ name, desc }) => `${desc ? '-' : ''}${chosen(orderings, name)}`)
  const request = { list, parent, caller, filters, ordering, size: list.fixedSize ?? seed.size }
  const { requires = [] } = list
  const isComplete = requires.length === 0 || requires.some((name) => name in scope || name in filters)
  return { ...request, scope: isComplete ? scope : neededScope(world, list, target) }
}

export function pathOfRequest({ list, parent, scope, filters, ordering, size }: Request): string {
  const query = new URLSearchParams({ ...scope, ...filters })
  if (ordering.length > 0) query.set('ordering', ordering.join(','))
  if (list.fixedSize === undefined) query.set('page_size', String(size))
  return `${list.path(parent)}?${query.toString()}`
}
