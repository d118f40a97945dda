import { type Caller, makeCallers } from './callers.ts'
import type { Customers } from './customers.ts'
import type { LongList } from './model.ts'
import { type ImportedOrder, makeOrders } from './orders-world.ts'
import {
  auditList,
  deliveriesList,
  eventsList,
  filesList,
  importRowsList,
  organizationDeliveriesList,
  recipientsList,
} from './other-lists.ts'
import {
  joinDeliveries,
  makeAuditEntries,
  makeDeliveries,
  makeFiles,
  makeImportRows,
  makeRecipients,
  readEvents,
} from './other-rows.ts'
import { makePlaces, type Places } from './places.ts'
import { customersList, ordersList, purchasesList, refundsList } from './sales-lists.ts'

/** Two organisations with rows for all long lists, and all kinds of callers. */
export interface ListsWorld {
  places: Places
  callers: readonly Caller[]
  customers: Customers
  lists: readonly LongList[]
  imported: ReadonlyMap<string, ImportedOrder>
}

export async function buildListsWorld(): Promise<ListsWorld> {
  const places = await makePlaces()
  const imported = await makeImportRows(places)
  const ofA = await makeOrders(places.a, { prefix: 'nordlys', people: 108 })
  const ofB = await makeOrders(places.b, { prefix: 'kanaal', people: 24 })
  const customers = new Map([...ofA.customers, ...ofB.customers])
  const callers = await makeCallers(places)
  const deliveries = await makeDeliveries(places)
  return {
    places,
    callers,
    customers,
    imported: new Map([...ofA.imported, ...ofB.imported]),
    lists: [
      ordersList([...ofA.orders, ...ofB.orders]),
      purchasesList([...ofA.purchases, ...ofB.purchases]),
      customersList([...customers.values()]),
      refundsList([...ofA.refunds, ...ofB.refunds]),
      deliveriesList(deliveries),
      organizationDeliveriesList(joinDeliveries(deliveries)),
      eventsList(await readEvents(places, deliveries)),
      auditList(await makeAuditEntries(places)),
      filesList(await makeFiles(places)),
      importRowsList(imported),
      recipientsList(await makeRecipients(places)),
    ],
  }
}
