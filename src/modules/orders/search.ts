import { sql, type SQL } from 'drizzle-orm'
import { containsAny, containsDigits, containsFolded, foldedOrDigits } from '../../db/contains.ts'
import type { CustomerView } from '../../db/customer-visibility.ts'
import type { ContactSearch, IndexSearch } from '../../db/lists/find-few.ts'
import { customersWithContacts, markOfOrganization, marksOf, ordersWithTexts } from '../../db/lists/match-texts.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { shortId } from '../../db/short-ids.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import { isOrderedByOwn } from '../../domain/page.ts'
import { fold, phoneDigits } from '../../domain/text/fold.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import type { OrderFilters, OrderOrdering } from './filters.ts'

interface TextFilter {
  texts: readonly string[]
  /** Whether the texts may be in what the order has itself. */
  inOrder: boolean
  /** Says of a customer who is seen whole whether the orders may be found by them; null where no customer is looked for. */
  ofCustomer: SQL | null
}

function textFiltersOf({ order_number, customer_email, customer_phone, search }: OrderFilters): TextFilter[] {
  const ofAddress = (text: string) => containsFolded(sql`customers.address_folded`, text)
  const ofNumber = (text: string) => containsDigits(sql`customers.phone_digits`, text)
  return [
    ...(order_number ? [{ texts: [fold(order_number)], inOrder: true, ofCustomer: null }] : []),
    ...(customer_email
      ? [{ texts: [fold(customer_email)], inOrder: false, ofCustomer: ofAddress(customer_email) }]
      : []),
    ...(customer_phone
      ? [{ texts: phoneDigits(customer_phone), inOrder: false, ofCustomer: ofNumber(customer_phone) }]
      : []),
    ...(search ? [{ texts: foldedOrDigits(search), inOrder: true, ofCustomer: sql`1` }] : []),
  ]
}

const shortest = ({ texts }: TextFilter): number => Math.min(...texts.map(({ length }) => length))

/** What else limits a list to few orders, so that they are compared one by one. */
const isNarrow = ({ customer_id, transaction_id, external_id }: OrderFilters): boolean =>
  !!customer_id || !!transaction_id || !!external_id

/** The mark of the organisation of a list; null for a list of several. */
function organizationMark({ edition_id, organization_id }: OrderFilters): SQL | null {
  if (organization_id) return marksOf('organization', [organization_id])
  return edition_id ? markOfOrganization(edition_id) : null
}

interface OrderSearch {
  caller: Caller
  view: CustomerView
  filters: OrderFilters
  ordering: OrderOrdering
  /** The conditions of the list, on columns of the index. */
  whereOfFound: () => readonly SQL[]
}

/** Whether a list has nothing but a scope and one text, in the order of creation. */
function isPlain({ status, type, created_after, created_before }: OrderFilters, ordering: OrderOrdering): boolean {
  return (
    isOrderedByOwn(ordering, 'created') &&
    [status, type, created_after, created_before].every((value) => value === undefined)
  )
}

/** Judges orders of customers of the organisation, of which the caller sees all in the list. */
const judgeOf = ({ edition_id }: OrderFilters, { texts, inOrder }: TextFilter): ContactSearch['judge'] => {
  const edition = edition_id && shortId(edition_id)
  return ({ edition_short_id, contact }) =>
    (!edition || edition_short_id === edition) && (!inOrder || texts.some((text) => contact.includes(text)))
}

function contactSearch(
  list: OrderSearch,
  all: readonly TextFilter[],
  by: TextFilter,
  isVisible: SQL,
): ContactSearch | null {
  if (!by.ofCustomer) return null
  const { view, filters, ordering } = list
  const found = customersWithContacts({ marks: organizationMark(filters), isVisible, texts: by.texts })
  // What hidden customers are found by is not theirs alone.
  if (!view.isWhole) return { customers: found, judge: null }
  const { organization_id } = filters
  const ofOrganization = organization_id ? sql`customers.organization_id = ${organization_id}` : sql`1`
  const customers = { ...found, where: sql`${found.where} and ${by.ofCustomer} and ${ofOrganization}` }
  return { customers, judge: all.length === 1 && isPlain(filters, ordering) ? judgeOf(filters, by) : null }
}

/**
 * How the index finds the orders of a list, by its longest text: null for a list that does not need it, and `short`
 * where no text is long enough.
 */
export function searchOf(list: OrderSearch): IndexSearch | 'short' | null {
  const { caller, filters, whereOfFound } = list
  const all = textFiltersOf(filters)
  if (all.length === 0 || all.some(({ texts }) => texts.length === 0) || isNarrow(filters)) return null
  const [longest] = all.filter(({ texts }) => texts.every(isIndexed)).toSorted((a, b) => shortest(b) - shortest(a))
  if (!longest) return 'short'
  const isVisible = sql`exists (${editionsSeenBy(caller, filters)})`
  const marks = filters.edition_id ? marksOf('edition', [filters.edition_id]) : organizationMark(filters)
  return {
    own: longest.inOrder ? ordersWithTexts({ marks, isVisible, texts: longest.texts }) : null,
    contacts: contactSearch(list, all, longest, isVisible),
    isOwn: longest.inOrder ? containsAny(sql`${orders}.own_search_text`, longest.texts) : sql`0`,
    where: whereOfFound(),
  }
}
