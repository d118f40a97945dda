import { expect } from 'vitest'
import { describeRefusal } from '../../support/refusals.ts'
import { readAs } from '../lists.ts'
import { seededAt } from '../seeding/rows.ts'
import { seedTrades } from '../seeding/sales/trades.ts'
import { makeCaller } from './callers.ts'
import { checkRequest } from './check-request.ts'
import type { Query, Request } from './model.ts'
import { makePlaces } from './places.ts'
import { getReach } from './who-sees-what.ts'
import type { ListsWorld } from './world.ts'

/** A fault that a list once had. */
interface Fault {
  /** The title of the test, which holds without the fault. */
  title: string
  /** Throws when the list has the fault. */
  check: (world: ListsWorld) => Promise<void>
  /**
   * Tells whether a request of the property may meet the fault. While the fault is expected, the property skips these
   * requests.
   */
  meets?: (request: Request) => boolean
}

interface Example extends Partial<Query> {
  list: string
  /** The index of the resource that the list belongs to. */
  parent?: number
  caller: string
}

function buildRequest(world: ListsWorld, { list: id, caller: name, parent = 0, ...query }: Example): Request {
  const list = world.lists.find((candidate) => candidate.id === id)
  const caller = world.callers.find((candidate) => candidate.name === name)
  if (!list || !caller) throw new Error(`there is no ${id} or no ${name}`)
  const size = list.fixedSize ?? 20
  return { list, caller, parent: list.parents?.[parent] ?? null, scope: {}, filters: {}, ordering: [], size, ...query }
}

const checkExample = (example: (world: ListsWorld) => Example) => (world: ListsWorld) =>
  checkRequest(world, buildRequest(world, example(world)), 0)

export const faults = {
  pagePastShortSearch: {
    title: 'a page of refund requests past the end of a search of two letters is a 404',
    check: checkExample(({ places }) => ({
      list: 'listRefundRequests',
      caller: 'superuser',
      scope: { organization_id: places.a.id },
      filters: { search: 'na' },
      size: 500,
    })),
  },
  pagePastTimes: {
    title:
      'a page past the end of many orders of two editions that were made together is a 404 in a range of time, too',
    check: async () => {
      const { a } = await makePlaces()
      const [edition, sibling] = a.editions
      for (const place of [edition, sibling]) await seedTrades({ organization: a.id, edition: place }, 300)
      const grants = [edition, sibling].map((place) => ({
        organization: a.id,
        edition: place,
        role: 'viewer' as const,
      }))
      const { token } = await makeCaller('viewer of two editions', grants)
      const after = new Date(seededAt + 90_000).toISOString()
      const reply = await readAs(
        token,
        `/v1/orders?organization_id=${a.id}&created_after=${after}&page_size=500&page=3`,
      )
      expect(describeRefusal(reply)).toBe('404 invalid_page')
    },
  },
  erasedBeforeNumbers: {
    title: 'erased customers, who have no number, stand behind those who have one',
    check: checkExample(({ places }) => ({
      list: 'listUsers',
      caller: 'superuser',
      scope: { organization_id: places.a.id },
      ordering: ['last_seen', '-phone_number'],
    })),
    meets: ({ list, ordering }) =>
      list.id === 'listUsers' &&
      ordering.length > 1 &&
      ordering.some((key) => key.replace(/^-/, '') === 'phone_number'),
  },
  addressOrder: {
    title: 'a role of the organisation orders recipients by address, whatever other roles its holder has elsewhere',
    check: checkExample(() => ({
      list: 'listCampaignRecipients',
      parent: 1,
      caller: 'admin of B and admin of an edition of A',
      ordering: ['address'],
    })),
    meets: ({ list, caller, ordering }) =>
      list.id === 'listCampaignRecipients' &&
      ordering.some((key) => key.endsWith('address')) &&
      getReach(caller).editions.length > 0 &&
      getReach(caller).organizations.length > 0,
  },
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

/** Faults that exist today. Without a name here, a fault is an ordinary test and the property includes it. */
export const expectedFailures: readonly FaultName[] = []

const expectedFaults: readonly Fault[] = expectedFailures.map((name) => faults[name])

export const isExpectedToFail = (request: Request): boolean =>
  expectedFaults.some(({ meets }) => meets?.(request) ?? false)
