import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { changedOne } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { users } from '../../db/schema/users.ts'
import { isKnownElsewhere } from '../../db/shared-customers.ts'
import { update } from '../../db/write.ts'
import type { ExternalOrder } from '../../domain/external-orders.ts'
import { longestList } from '../../domain/json.ts'
import type { Language } from '../../domain/languages.ts'
import { orderSearch } from '../../domain/orders.ts'
import { contactSearch, givenSearchColumns, searchColumns } from '../../domain/users.ts'
import { customerOrdersSearch } from '../users/index.ts'
import type { ImportState, UserRow } from './state.ts'
import type { Edition, Writes } from './writes.ts'

/** Where customers come in, and the editions whose customers the caller may change; null for all. */
interface Scope {
  edition: Edition
  changeable: readonly string[] | null
}

interface Given {
  order: ExternalOrder
  phone: string | null
}

const contactOf = ({ order: { customer }, phone }: Given) => ({
  email: customer.email,
  phone_number: phone,
  first_name: customer.first_name,
  last_name: customer.last_name,
})

const remember = (state: ImportState, user: UserRow): void => {
  if (user.email) state.usersByEmail.set(user.email, user)
  if (user.phone_number) state.usersByPhone.set(user.phone_number, user)
}

/** The customer whom an order means: by the address, else by the number where no address says otherwise. */
function knownCustomer(state: ImportState, { order: { customer }, phone }: Given): UserRow | undefined {
  const byEmail = customer.email ? state.usersByEmail.get(customer.email) : undefined
  const byPhone = phone === null ? undefined : state.usersByPhone.get(phone)
  if (byEmail || !byPhone || !customer.email) return byEmail ?? byPhone
  // Somebody without an address gets this one, unless the caller may not change them: then it is another customer's.
  const fits = byPhone.email === null ? byPhone.is_kept === 0 : byPhone.email === customer.email
  return fits ? byPhone : undefined
}

/** The order's customer: what is known of them is filled up where the caller may, never overwritten. */
export function resolveCustomer(ctx: Ctx, scope: Scope, state: ImportState, writes: Writes, given: Given): UserRow {
  const known = knownCustomer(state, given)
  const found = known ? fillUp(ctx, scope, writes, known, given) : create(ctx, scope, writes, given)
  const { customer } = given.order
  const user = { ...found, given_email: customer.email ?? found.given_email }
  remember(state, user)
  const contact = contactOf(given)
  writes.userEditions.push({
    edition_id: scope.edition.id,
    user_id: user.id,
    created_at: ctx.now(),
    ...contact,
    ...givenSearchColumns(contact),
    locale: customer.locale,
  })
  return user
}

function create(ctx: Ctx, { edition }: Scope, writes: Writes, given: Given): UserRow {
  const now = ctx.now()
  const { customer } = given.order
  const contact = contactOf(given)
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
  writes.lists.user_metadata = Math.max(writes.lists.user_metadata, longestList(customer.metadata))
  return { ...row, is_shared: 0, is_kept: 0, given_email: customer.email }
}

/** A change of the customer as they were read, whom no edition knows by now that the caller may not speak for. */
function guardedChange(
  known: UserRow,
  changes: Partial<typeof users.$inferInsert>,
  { changeable }: Scope,
): Statement[] {
  const isOurs = changeable === null ? sql`1` : sql`not ${isKnownElsewhere(sql`users`, changeable)}`
  return [
    update(
      users,
      { ...changes, version: known.version + 1 },
      sql`id = ${known.id} and version = ${known.version} and ${isOurs}`,
    ),
    changedOne(),
  ]
}

function fillUp(ctx: Ctx, scope: Scope, writes: Writes, known: UserRow, given: Given): UserRow {
  if (known.is_kept) return known
  const said = contactOf(given)
  const contact = {
    email: known.email ?? said.email,
    phone_number: known.phone_number ?? said.phone_number,
    first_name: known.first_name || said.first_name,
    last_name: known.last_name || said.last_name,
  }
  const isComplete = (Object.keys(contact) as (keyof typeof contact)[]).every((name) => contact[name] === known[name])
  if (isComplete) return known
  const changes = { ...contact, ...searchColumns(contact), modified_at: ctx.now() }
  for (const order of writes.orders)
    if (order.user_id === known.id) order.search = orderSearch(order.search_own, contactSearch(contact))
  const created = writes.users.findIndex((row) => row.id === known.id)
  const isNew = created >= 0
  if (isNew) writes.users[created] = { ...writes.users[created], ...known, ...changes }
  else writes.changes.push(...guardedChange(known, changes, scope), customerOrdersSearch(known.id, contact))
  return { ...known, ...changes, version: isNew ? known.version : known.version + 1 }
}
