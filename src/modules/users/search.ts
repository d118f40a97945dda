import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { type FoundCustomer, type FoundEdition, type ValuesOfCustomer, viewOfFound } from '../../db/found-customers.ts'
import type { NoFilters } from '../../db/lists/filters.ts'
import { firstEntries, matchingRow, type FewSearch, mostAtOnce, withRows } from '../../db/lists/find-few.ts'
import type { OldSortKey } from '../../db/lists/list-source.ts'
import { customersWithTexts, lookedUp, markOfOrganization, marksOf } from '../../db/lists/match-texts.ts'
import { fromJson, type RowOf } from '../../db/select.ts'
import { shortId } from '../../db/short-ids.ts'
import { editionsSeenBy, organizationsReached } from '../../db/visibility.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import type { UserFilters } from './contract.ts'
import type { CustomerOrder } from './starts.ts'

/** A customer as they are looked up. */
type CustomerEntry = readonly [
  readonly [id: string, organization_id: string, ...ValuesOfCustomer, last_seen_at: number | null],
  editions: readonly FoundEdition[],
]

const fields = {
  key: sql<number>`users.rowid`,
  entry: fromJson<CustomerEntry>(lookedUp('found_customers', 'users')),
}

function foundCustomer({ key, entry: [[id, organization_id, ...values], editions] }: RowOf<typeof fields>) {
  const [name_folded, address_folded, phone_digits, email, phone_number, created_at, last_seen_at] = values
  const texts = { name_folded, address_folded, phone_digits }
  return { key, id, organization_id, ...texts, email, phone_number, created_at, last_seen_at, editions }
}

/** Organisations whose customers a list may have; null for all. */
export function organizationsOf(ctx: Ctx, { organization_id }: UserFilters): string[] | null {
  const reached = organizationsReached(ctx.caller)
  if (reached === null) return organization_id === undefined ? null : [organization_id]
  return reached.filter((id) => organization_id === undefined || id === organization_id)
}

/** Says of a customer whether a search for the texts has them. It compares as the list does in SQL. */
function judgeOf(caller: Caller, filters: Omit<UserFilters, 'search'>, texts: readonly string[]) {
  const { edition_id, organization_id, ...unnamed } = filters
  unnamed satisfies NoFilters
  const view = viewOfFound(caller)
  const edition = edition_id && shortId(edition_id)
  return (customer: FoundCustomer): boolean =>
    (!edition || customer.editions.some(([one]) => one === edition)) &&
    (!organization_id || customer.organization_id === organization_id) &&
    (view.seesOrganization(customer.organization_id) || customer.editions.some(([one]) => view.seesEdition(one))) &&
    view
      .textsOf(customer)
      .some((of) =>
        texts.some((text) => [of.name_folded, of.address_folded, of.phone_digits].some((one) => one.includes(text))),
      )
}

interface CustomerSearch {
  filters: UserFilters
  texts: readonly string[]
  keys: Readonly<Record<CustomerOrder, OldSortKey['by']>>
}

/** How the index finds customers: it has those of an organisation, also by what each edition was given. */
export function searchOf(ctx: Ctx, { filters, texts, keys }: CustomerSearch): FewSearch {
  const { caller } = ctx
  const organizations = organizationsOf(ctx, filters)
  const { edition_id } = filters
  const ofOrganizations = organizations?.length ? marksOf('organization', organizations) : null
  const marks = edition_id ? markOfOrganization(edition_id) : ofOrganizations
  const isAny = organizations?.length === 0 ? sql`0` : sql`1`
  const isVisible = edition_id ? sql`exists (${editionsSeenBy(caller, filters)})` : isAny
  const own = customersWithTexts({ marks, isVisible, texts })
  const [isMatch, view] = [judgeOf(caller, filters, texts), viewOfFound(caller)]
  return {
    own,
    contacts: null,
    isOwn: sql`1`,
    readFew: async (db) => {
      const found = await db.all(firstEntries(fields, own))
      if (found.length > mostAtOnce) return { own: found, rows: null }
      const rows = withRows(found)
        .map(foundCustomer)
        .filter(isMatch)
        .map((customer) => {
          const { email, phone_number, created_at, last_seen_at } = view.valuesOf(customer)
          // An erased customer has the id in place of a number.
          const number = phone_number === customer.id ? null : phone_number
          return matchingRow(customer.key, keys, {
            email,
            phone_number: number,
            date_joined: created_at,
            last_seen: last_seen_at,
          })
        })
      return { own: found, rows }
    },
  }
}
