import { sql } from 'drizzle-orm'
import type { users } from '../../src/db/schema/customers.ts'
import { seedEdition } from './seeding/editions.ts'
import { givenMember } from './seeding/members.ts'
import { db } from './seeding/rows.ts'
import { anOrder, seedShop, importOrders, type Shop } from './seeding/sales/orders.ts'

export type UserRow = typeof users.$inferSelect

export const stranger = {
  email: 'hidden@example.dk',
  phone_number: '+4532123456',
  first_name: 'Hemmelig',
  last_name: 'Holm',
  locale: 'pl',
  metadata: { note: 'secret' },
}

export interface TwoEditions {
  mine: Shop
  theirs: Shop
  manager: string
  viewer: string
  organizationManager: string
  organizationViewer: string
}

/** Makes an organisation of two editions. Edition roles belong to `mine`, and the stranger has bought in `theirs`. */
export async function givenTwo(): Promise<TwoEditions & { user: string }> {
  const mine = await seedShop()
  const organization = { id: mine.organization_id }
  const other = await seedEdition(organization)
  const theirs = { ...mine, edition_id: other.id }
  await importOrders(theirs, [anOrder({ customer: stranger })])
  const token = async (role: 'manager' | 'viewer', edition?: string) =>
    (await givenMember(organization, role, edition)).token
  return {
    mine,
    theirs,
    manager: await token('manager', mine.edition_id),
    viewer: await token('viewer', mine.edition_id),
    organizationManager: await token('manager'),
    organizationViewer: await token('viewer'),
    user: (await loadCustomer(mine, stranger.email)).id,
  }
}

export async function loadCustomer(shop: Shop, email: string): Promise<UserRow> {
  const row = await db.first(
    sql<UserRow>`select * from users where organization_id = ${shop.organization_id} and email = ${email}`,
  )
  if (!row) throw new Error('no such customer')
  return row
}

export const attach = (two: TwoEditions, customer: Record<string, unknown>, token = two.manager) =>
  importOrders(two.mine, [anOrder({ customer })], {}, token)
