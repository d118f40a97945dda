import { sql, type SQL } from 'drizzle-orm'
import { foldedOrDigits } from '../../db/contains.ts'
import { markOfOrganization, marksOf, ordersOfContacts, ordersWithTexts } from '../../db/lists/match-texts.ts'
import type { IndexSearch } from '../../db/lists/paginate-search.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import type { Caller } from '../../domain/accounts/access.ts'
import { fold, phoneDigits } from '../../domain/text/fold.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import type { OrderFilters } from './filters.ts'

interface TextFilter {
  texts: readonly string[]
  /** Where the texts may be: in what the order has itself, or in what its customer has. */
  inOrder: boolean
  inContact: boolean
}

function textFiltersOf({ order_number, customer_email, customer_phone, search }: OrderFilters): TextFilter[] {
  return [
    ...(order_number ? [{ texts: [fold(order_number)], inOrder: true, inContact: false }] : []),
    ...(customer_email ? [{ texts: [fold(customer_email)], inOrder: false, inContact: true }] : []),
    ...(customer_phone ? [{ texts: phoneDigits(customer_phone), inOrder: false, inContact: true }] : []),
    ...(search ? [{ texts: foldedOrDigits(search), inOrder: true, inContact: true }] : []),
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

/**
 * How the index finds the orders of a list, by its longest text: null for a list that does not need it, and `short`
 * where no text is long enough.
 */
export function searchOf(caller: Caller, filters: OrderFilters): IndexSearch | 'short' | null {
  const all = textFiltersOf(filters)
  if (all.length === 0 || all.some(({ texts }) => texts.length === 0) || isNarrow(filters)) return null
  const [longest] = all.filter(({ texts }) => texts.every(isIndexed)).toSorted((a, b) => shortest(b) - shortest(a))
  if (!longest) return 'short'
  const isVisible = sql`exists (${editionsSeenBy(caller, filters)})`
  const ofOrganization = organizationMark(filters)
  const marks = filters.edition_id ? marksOf('edition', [filters.edition_id]) : ofOrganization
  const { texts, inOrder, inContact } = longest
  return (limit) => [
    ...(inOrder ? [ordersWithTexts({ marks, isVisible, texts, limit })] : []),
    ...(inContact ? [ordersOfContacts({ marks: ofOrganization, isVisible, texts, limit })] : []),
  ]
}
