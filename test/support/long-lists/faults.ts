import { fold } from '../../../src/domain/text/fold.ts'
import type { Query, Request } from './model.ts'
import { reachOf } from './who-sees-what.ts'
import type { ListsWorld } from './world.ts'

/** A fault that a list had once, by the least request that met it. */
interface Fault {
  /** What holds without the fault. */
  title: string
  list: string
  /** The place of the resource that it belongs to among those of its list. */
  parent?: number
  caller: string
  query: (world: ListsWorld) => Partial<Query>
  /** Whether a request may meet the fault. While it is expected, the property asks for no such request. */
  meets: (request: Request) => boolean
}

const isShort = (text: string | undefined): boolean => text !== undefined && [...fold(text)].length < 3

export const faults = {
  pagePastShortSearch: {
    title: 'a page of refund requests past the end of a search of two letters is a 404',
    list: 'listRefundRequests',
    caller: 'superuser',
    query: ({ places }) => ({ scope: { organization_id: places.a.id }, filters: { search: 'na' }, size: 500 }),
    meets: ({ list, filters }) => list.id === 'listRefundRequests' && isShort(filters['search']),
  },
  pagePastTimes: {
    title: 'a page past the end of the orders of two editions in a range of time is a 404',
    list: 'listOrders',
    caller: 'manager and viewer of two editions',
    query: ({ places }) => ({
      scope: { organization_id: places.a.id },
      filters: { created_after: '2026-03-02T10:00:00.000Z' },
      size: 500,
    }),
    meets: ({ list, caller, scope, filters }) =>
      list.id === 'listOrders' &&
      scope.edition_id === undefined &&
      reachOf(caller).editions.length > 1 &&
      ('created_after' in filters || 'created_before' in filters),
  },
  erasedBeforeNumbers: {
    title: 'erased customers, who have no number, stand behind those who have one',
    list: 'listUsers',
    caller: 'superuser',
    query: ({ places }) => ({ scope: { organization_id: places.a.id }, ordering: ['last_seen', '-phone_number'] }),
    meets: ({ list, ordering }) =>
      list.id === 'listUsers' &&
      ordering.length > 1 &&
      ordering.some((key) => key.replace(/^-/, '') === 'phone_number'),
  },
  addressOrder: {
    title: 'a role of the organisation orders recipients by address, whatever other roles its holder has elsewhere',
    list: 'listCampaignRecipients',
    parent: 1,
    caller: 'admin of B and admin of an edition of A',
    query: () => ({ ordering: ['address'] }),
    meets: ({ list, caller, ordering }) =>
      list.id === 'listCampaignRecipients' &&
      ordering.some((key) => key.endsWith('address')) &&
      reachOf(caller).editions.length > 0 &&
      reachOf(caller).organizations.length > 0,
  },
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults
export const faultNames = Object.keys(faults) as FaultName[]

/** Faults of today. Without its name here a fault is a test like others, and the property asks for what met it. */
export const expectedFailures: readonly FaultName[] = []

export const isExpectedToFail = (request: Request): boolean =>
  expectedFailures.some((name) => faults[name].meets(request))

export function exampleOf(world: ListsWorld, { list: id, parent = 0, caller: name, query }: Fault): Request {
  const list = world.lists.find((one) => one.id === id)
  const caller = world.callers.find((one) => one.name === name)
  if (!list || !caller) throw new Error(`there is no ${id} or no ${name}`)
  const size = list.fixedSize ?? 20
  return {
    list,
    caller,
    parent: list.parents?.[parent] ?? null,
    scope: {},
    filters: {},
    ordering: [],
    size,
    ...query(world),
  }
}
