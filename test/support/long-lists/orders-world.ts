import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { refundReasons, refundSources, refundStatuses } from '../../../src/domain/refunds/refunds.ts'
import { get, post, type Reply } from '../api.ts'
import { givenMember } from '../seeding/members.ts'
import { db, write } from '../seeding/rows.ts'
import { importOrders, type Shop } from '../seeding/sales/orders.ts'
import { seedRefundsOf } from '../seeding/sales/refunds.ts'
import type { Trade } from '../seeding/sales/trades.ts'
import type { Customer, Membership } from './customers.ts'
import type { Contact, Row } from './model.ts'
import type { OrganizationPlace } from './places.ts'
import { readAll } from './read-all.ts'

/** One order of a person in an edition, as the world imports it. */
interface PlannedOrder {
  edition: string
  person: number
  number: number
}

const firstNames = ['Ægir', 'Łukasz', 'Anna', 'anna', 'Bo', 'Chloé']
const lastNames = ['Holm', 'Straße', 'de la Cruz', 'Ng', '']

/** The contact data of a person. Every ninth person has no address, and some have no number. */
function buildContact(prefix: string, person: number): Contact {
  const hasEmail = person % 9 !== 4
  const hasPhone = !hasEmail || person % 5 !== 2
  return {
    email: hasEmail ? `${['anna', 'bo', 'soren', 'x'][person % 4]}.${person}@${prefix}.dk` : null,
    phone_number: hasPhone ? `+4520${prefix.length}${String(10_000 + 37 * person)}` : null,
    first_name: firstNames[person % firstNames.length] ?? '',
    last_name: lastNames[person % lastNames.length] ?? '',
  }
}

/** The contact data that an edition is given: the person's address or number, and a name of its own. */
function chooseContact(prefix: string, place: number, person: number): Contact {
  const contact = buildContact(prefix, person)
  if (place === 0) return contact
  const hasOwnNumber = contact.email !== null && person % 8 === 0
  return {
    ...contact,
    phone_number: hasOwnNumber ? `+4530${place}${String(10_000 + 41 * person)}` : contact.phone_number,
    first_name: `${['', 'Zoë', 'Mille'][place] ?? ''}${person % 3 === 0 ? '' : person}`,
  }
}

const hour = 3_600_000
const refundedAt = Date.UTC(2026, 3, 1)
const firstOrderAt = Date.UTC(2026, 2, 1, 8)
const statuses = ['completed', 'completed', 'completed', 'cancelled', 'confirmed', 'completed', 'pending'] as const
const prices = [100, 225, 225, 99.5, 0]

function externalOrder(prefix: string, place: number, { person, number }: PlannedOrder) {
  const { email, phone_number, first_name, last_name } = chooseContact(prefix, place, person)
  const customer = {
    ...(email === null ? {} : { email }),
    ...(phone_number === null ? {} : { phone_number }),
    first_name,
    last_name,
  }
  const order_number = [`A-${number % 30}`, String(number % 12), `00${number % 9}`, `Ø${number % 50}`, undefined][
    number % 5
  ]
  return {
    external_id: `${prefix}-${place}-${number}`,
    ...(order_number === undefined ? {} : { order_number }),
    currency: 'dkk',
    created: new Date(firstOrderAt + (number % 40) * hour).toISOString(),
    status: statuses[number % statuses.length],
    customer,
    items: [
      {
        product: number % 7 === 2 ? 'Camping' : 'Day ticket',
        quantity: 1 + (number % 2),
        unit_price: prices[number % prices.length],
        ...(number % 3 === 0 ? { vendor_code: `Code-${number % 20}` } : {}),
      },
    ],
  }
}

/** An order as it was imported. */
export interface ImportedOrder {
  shop: Shop
  order: ReturnType<typeof externalOrder>
}

export interface OrdersWorld {
  /** Imported orders by their ids. */
  imported: Map<string, ImportedOrder>
  orders: Row[]
  purchases: Row[]
  refunds: Row[]
  customers: Map<string, Customer>
}

interface Plan {
  prefix: string
  /** The number of people who buy in the first edition; some of them buy in others too. */
  people: number
}

function planOrders({ editions }: OrganizationPlace, { people }: Plan): PlannedOrder[][] {
  const persons = Array.from({ length: people }, (_, person) => person)
  const [first, second, third] = editions
  const inFirst = [...persons, ...persons.slice(0, Math.floor(people / 4))]
  const inSecond = [...persons.filter((person) => person % 4 === 0), people, people + 1, people + 2]
  const inThird = [...persons.filter((person) => person % 8 === 0), people + 2, people + 3]
  return [
    inFirst.map((person, number) => ({ edition: first, person, number })),
    inSecond.map((person, number) => ({ edition: second, person, number })),
    inThird.map((person, number) => ({ edition: third, person, number })),
  ]
}

const perCall = 100

/** Imports orders of all editions of an organisation, and returns what the world knows about them. */
export async function makeOrders(place: OrganizationPlace, plan: Plan): Promise<OrdersWorld> {
  const customersOf = new Map<string, string>()
  const imported = new Map<string, ImportedOrder>()
  const memberships = new Map<string, Map<string, Contact>>()
  const details = []
  for (const [index, planned] of planOrders(place, plan).entries()) {
    const edition_id = place.editions[index] ?? ''
    const shop = { organization_id: place.id, edition_id }
    for (let from = 0; from < planned.length; from += perCall) {
      const part = planned.slice(from, from + perCall)
      const orders = part.map((order) => externalOrder(plan.prefix, index, order))
      const reply = await importOrders(shop, orders)
      expect([reply.status, reply.body.failed_orders, reply.body.created_orders]).toEqual([201, 0, part.length])
      const results = reply.body.results as { order_id: string }[]
      for (const [at, { order_id }] of results.entries()) {
        const { body: detail } = await get(`/v1/orders/${order_id}`)
        const customer = detail.customer.api_id as string
        const contacts = memberships.get(customer) ?? new Map<string, Contact>()
        contacts.set(edition_id, chooseContact(plan.prefix, index, part[at]?.person ?? 0))
        memberships.set(customer, contacts)
        customersOf.set(order_id, customer)
        details.push(detail)
        const order = orders[at]
        if (order) imported.set(order_id, { shop, order })
      }
    }
  }
  for (const { id } of await readAll(`/v1/orders?organization_id=${place.id}`)) {
    if (customersOf.has(id)) continue
    // Imports orders of a file, of people whom no other edition knows.
    const { body: detail } = await get(`/v1/orders/${id}`)
    const { api_id, email, phone_number } = detail.customer
    memberships.set(api_id, new Map([[detail.edition.id, { email, phone_number, first_name: 'Ægir', last_name: '' }]]))
    customersOf.set(id, api_id)
    details.push(detail)
  }
  const usedOrders = await varyOrders([...customersOf.keys()])
  const paidBy = await makeRefunds(place, details)
  const erased = await varyCustomers([...memberships.keys()], memberships)
  const customers = await readCustomers(place, memberships, erased)
  const shownOrders = await readAll(`/v1/orders?organization_id=${place.id}`)
  const transactions = new Map(
    details.map(({ id, transactions: all }) => [id, all.map((one: { id: string }) => one.id)]),
  )
  const shownPurchases = []
  for (const edition of place.editions)
    for (const purchase of await readAll(`/v1/purchases?edition_id=${edition}`))
      shownPurchases.push({ edition, shown: purchase })
  const purchasesOf = Map.groupBy(shownPurchases, ({ shown }) => shown.order.id as string)
  const listCodes = (order: string): string[] =>
    (purchasesOf.get(order) ?? []).flatMap(({ shown }) => (shown.vendor_code as string | null) ?? [])
  const importedOrders = await db.all(sql<{ order_id: string; import_id: string }>`select order_id, import_id
    from import_orders where outcome in ('created', 'updated')`)
  const imports = Map.groupBy(importedOrders, ({ order_id }) => order_id)
  const ofOrders = new Map(
    shownOrders.map(({ id, external_id }) => [id, { external_id, transaction_ids: transactions.get(id) ?? [] }]),
  )
  const shownRefunds = await readAll(`/v1/refund-requests?organization_id=${place.id}`)
  return {
    imported,
    customers,
    refunds: shownRefunds.map((shown) => ({
      id: shown.id,
      organization: place.id,
      editions: [shown.edition.id],
      customer: shown.customer.api_id,
      shown: { ...shown, ...ofOrders.get(shown.order.id), purchase_ids: paidBy.get(shown.id) ?? [] },
    })),
    orders: shownOrders.map((shown) => ({
      id: shown.id,
      organization: place.id,
      editions: [shown.edition.id],
      customer: customersOf.get(shown.id) ?? '',
      shown: {
        ...shown,
        transaction_ids: transactions.get(shown.id) ?? [],
        ticket_codes: listCodes(shown.id),
        product_ids: (purchasesOf.get(shown.id) ?? []).map((one) => one.shown.product.api_id as string),
        data_import_ids: (imports.get(shown.id) ?? []).map(({ import_id }) => import_id),
      },
    })),
    purchases: shownPurchases.map(({ edition, shown }) => ({
      id: shown.id,
      organization: place.id,
      editions: [edition],
      customer: shown.user.api_id,
      shown: { ...shown, is_used: usedOrders.has(shown.order.id) },
    })),
  }
}

/** Seeds requests in every status, several for each time and amount. Returns the purchases of each. */
async function makeRefunds(
  place: OrganizationPlace,
  details: readonly Reply['body'][],
): Promise<Map<string, string[]>> {
  const paidBy = new Map<string, string[]>()
  for (const edition of place.editions) {
    const trades = details
      .filter((detail) => detail.edition.id === edition && detail.transactions.length > 0)
      .filter((_, index) => index % 2 === 0)
      .map((detail): Trade => ({
        order: detail.id,
        user: detail.customer.api_id,
        purchase: detail.purchases[0].id,
        transaction: detail.transactions[0].id,
      }))
    const seeded = await seedRefundsOf({ organization: place.id, edition }, trades, (index) => {
      const at = refundedAt + (index % 13) * hour
      return {
        status: refundStatuses[index % refundStatuses.length] ?? 'pending',
        reason: refundReasons[index % 4] ?? 'other',
        source: refundSources[index % 3] ?? 'api',
        requested_minor: [5_000, 5_000, 100, 22_500][index % 4] ?? 0,
        provider_reference: index % 9 === 0 ? `re_${edition.slice(-6)}${index}` : null,
        created_at: at,
        modified_at: at + (index % 3) * hour,
      }
    })
    for (const { refund, purchase } of seeded) paidBy.set(refund, [purchase])
  }
  return paidBy
}

/** Imports create orders of one type, and purchases without uses. Returns the orders whose purchases are used. */
async function varyOrders(ids: readonly string[]): Promise<Set<string>> {
  const listEvery = (step: number) => ids.filter((_, index) => index % step === 1)
  const usedOrders = listEvery(4)
  await write(
    sql`update orders set type = 'online' where id in (select value from json_each(${JSON.stringify(listEvery(3))}))`,
    sql`update orders set type = 'in-person' where id in (select value from json_each(${JSON.stringify(listEvery(7))}))`,
    sql`update purchases set uses_count = uses_limit
      where order_id in (select value from json_each(${JSON.stringify(usedOrders)}))`,
  )
  return new Set(usedOrders)
}

/** Some customers were seen, several at the same time, and some are erased. */
async function varyCustomers(
  ids: readonly string[],
  memberships: ReadonlyMap<string, ReadonlyMap<string, Contact>>,
): Promise<Set<string>> {
  const visits = ids.flatMap((id, index) => (index % 3 === 0 ? [{ id, at: firstOrderAt + (index % 12) * hour }] : []))
  await write(
    sql`update users set last_seen_at = (select value ->> 'at' from json_each(${JSON.stringify(visits)}) where value ->> 'id' = users.id)
      where id in (select value ->> 'id' from json_each(${JSON.stringify(visits)}))`,
  )
  const shared = ids.filter((id) => (memberships.get(id)?.size ?? 0) > 1)
  const alone = ids.filter((id) => memberships.get(id)?.size === 1)
  const erased = new Set([...shared.slice(1, 3), ...alone.slice(3, 7)])
  for (const id of erased) expect((await post(`/v1/user/${id}/erase`, {})).status).toBe(200)
  return erased
}

async function readCustomers(
  place: OrganizationPlace,
  memberships: ReadonlyMap<string, ReadonlyMap<string, Contact>>,
  erased: ReadonlySet<string>,
): Promise<Map<string, Customer>> {
  const joined = new Map<string, Map<string, number>>()
  for (const edition of place.editions) {
    const { token } = await givenMember(place, 'viewer', edition)
    const users = await readAll('/v1/user', token)
    joined.set(edition, new Map(users.map(({ id, date_joined }) => [id, Date.parse(date_joined)])))
  }
  const customers = new Map<string, Customer>()
  for (const user of await readAll(`/v1/user?organization_id=${place.id}`)) {
    const contacts = memberships.get(user.id) ?? new Map<string, Contact>()
    const all = [...contacts].map(([edition, contact]): Membership => ({
      edition,
      given: erased.has(user.id) ? { email: null, phone_number: null, first_name: '', last_name: '' } : contact,
      joined: joined.get(edition)?.get(user.id) ?? Number.NaN,
    }))
    customers.set(user.id, {
      id: user.id,
      organization: place.id,
      editions: [...contacts.keys()],
      customer: user.id,
      shown: user,
      memberships: all,
    })
  }
  return customers
}
