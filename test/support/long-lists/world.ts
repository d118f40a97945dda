import { seedAccount } from '../seeding/members.ts'
import { seedEntries } from '../seeding/audit-log.ts'
import { auditList } from './audit-list.ts'
import { type Caller, makeCallers } from './callers.ts'
import type { Customers } from './customers.ts'
import type { LongList, Row } from './model.ts'
import { makeOrders } from './orders-world.ts'
import { makePlaces, type Places } from './places.ts'
import { readAll } from './read-all.ts'
import { customersList, ordersList, purchasesList, refundsList } from './sales-lists.ts'

/** Two organisations with all that long lists have rows of, and everybody who may ask for them. */
export interface ListsWorld {
  places: Places
  callers: readonly Caller[]
  customers: Customers
  lists: readonly LongList[]
}

async function makeAuditEntries({ a, b }: Places): Promise<Row[]> {
  const actors = [await seedAccount(), await seedAccount(), 'root']
  const actions = [
    ['updateSegment', 'segment'],
    ['updateOrder', 'order'],
    ['deleteSegment', 'segment'],
    ['exportSegment', null],
  ] as const
  for (let index = 0; index < 24; index++) {
    const [action, resource_type] = actions[index % actions.length] ?? actions[0]
    const resource_id = resource_type && `${resource_type}_${index % 5}`
    const actor_id = actors[index % actors.length] ?? 'root'
    await seedEntries(index % 6 === 5 ? b.id : a.id, 3, { action, resource_type, resource_id, actor_id })
  }
  const rows = [a, b].map(async ({ id }) =>
    (await readAll(`/v1/audit-log?organization_id=${id}`)).map((shown) => ({
      id: shown.id,
      organization: id,
      editions: [],
      shown,
    })),
  )
  return (await Promise.all(rows)).flat()
}

export async function buildListsWorld(): Promise<ListsWorld> {
  const places = await makePlaces()
  const ofA = await makeOrders(places.a, { prefix: 'nordlys', people: 108 })
  const ofB = await makeOrders(places.b, { prefix: 'kanaal', people: 24 })
  const callers = await makeCallers(places)
  const entries = await makeAuditEntries(places)
  const customers = new Map([...ofA.customers, ...ofB.customers])
  return {
    places,
    callers,
    customers,
    lists: [
      ordersList([...ofA.orders, ...ofB.orders]),
      purchasesList([...ofA.purchases, ...ofB.purchases]),
      customersList([...customers.values()]),
      refundsList([...ofA.refunds, ...ofB.refunds]),
      auditList(entries),
    ],
  }
}
