import type { Ctx } from '../../context.ts'
import { users } from '../../db/schema/users.ts'
import { updateVersion } from '../../db/write.ts'
import type { ExternalOrder } from '../../domain/external-orders.ts'
import type { Language } from '../../domain/languages.ts'
import { orderSearch } from '../../domain/orders.ts'
import { contactSearch, searchColumns } from '../../domain/users.ts'
import { customerOrdersSearch } from '../users/index.ts'
import type { ImportState, UserRow } from './state.ts'
import type { Edition, Writes } from './writes.ts'

const remember = (state: ImportState, user: UserRow): void => {
  if (user.email) state.usersByEmail.set(user.email, user)
  if (user.phone_number) state.usersByPhone.set(user.phone_number, user)
}

/** The customer with that address, else with that number; what is known of them is filled up, never overwritten. */
export function resolveCustomer(
  ctx: Ctx,
  edition: Edition,
  state: ImportState,
  writes: Writes,
  order: ExternalOrder,
  phone: string | null,
): UserRow {
  const { customer } = order
  const byPhone = phone === null ? undefined : state.usersByPhone.get(phone)
  // A number alone says who it is only where no address says otherwise.
  const sameByPhone =
    byPhone && (!customer.email || !byPhone.email || byPhone.email === customer.email) ? byPhone : undefined
  const known = (customer.email ? state.usersByEmail.get(customer.email) : undefined) ?? sameByPhone
  const user = known ? fillUp(ctx, writes, known, customer, phone) : create(ctx, edition, writes, customer, phone)
  remember(state, user)
  writes.userEditions.push({ edition_id: edition.id, user_id: user.id, created_at: ctx.now() })
  return user
}

function create(
  ctx: Ctx,
  edition: Edition,
  writes: Writes,
  customer: ExternalOrder['customer'],
  phone: string | null,
): UserRow {
  const now = ctx.now()
  const contact = {
    email: customer.email,
    phone_number: phone,
    first_name: customer.first_name,
    last_name: customer.last_name,
  }
  const row = {
    id: ctx.newId('user'),
    organization_id: edition.organization_id,
    ...contact,
    ...searchColumns(contact),
    locale: customer.locale ?? (edition.default_language as Language),
    msg_channel: customer.email === null ? 'sms' : 'email',
    is_verified: 0,
    is_active: 1,
    metadata: JSON.stringify(customer.metadata),
    last_seen_at: null,
    erased_at: null,
    version: 1,
    created_at: now,
    modified_at: now,
  }
  writes.users.push(row)
  return { ...row, seq: 0 }
}

function fillUp(
  ctx: Ctx,
  writes: Writes,
  known: UserRow,
  customer: ExternalOrder['customer'],
  phone: string | null,
): UserRow {
  const contact = {
    email: known.email ?? customer.email,
    phone_number: known.phone_number ?? phone,
    first_name: known.first_name || customer.first_name,
    last_name: known.last_name || customer.last_name,
  }
  const isComplete = (Object.keys(contact) as (keyof typeof contact)[]).every((name) => contact[name] === known[name])
  if (isComplete) return known
  const changes = { ...contact, ...searchColumns(contact), modified_at: ctx.now() }
  for (const order of writes.orders)
    if (order.user_id === known.id) order.search = orderSearch(order.search_own, contactSearch(contact))
  const created = writes.users.findIndex((row) => row.id === known.id)
  if (created >= 0) {
    const row = { ...known, ...changes }
    const { seq: _, ...insertable } = row
    writes.users[created] = insertable
    return row
  }
  writes.changes.push(...updateVersion(users, known, changes), customerOrdersSearch(known.id, contact))
  return { ...known, ...changes, version: known.version + 1 }
}
