import { sql, type SQL } from 'drizzle-orm'
import { foldedOrDigits } from '../../db/contains.ts'
import { markOfOrganization, marksOf, ordersOfContacts, ordersWithTexts } from '../../db/lists/match-texts.ts'
import type { IndexSearch } from '../../db/lists/paginate-search.ts'
import { fold, phoneDigits } from '../../domain/text/fold.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'

/** The filters of a list of orders that say how it is searched. */
interface Filters {
  edition_id?: string | undefined
  organization_id?: string | undefined
  customer_id?: string | undefined
  transaction_id?: string | undefined
  external_id?: string | undefined
  order_number?: string | undefined
  customer_email?: string | undefined
  customer_phone?: string | undefined
  search?: string | undefined
}

interface TextFilter {
  texts: readonly string[]
  /** Where the texts may be: in what the order has itself, or in what its customer has. */
  inOrder: boolean
  inContact: boolean
}

function textFiltersOf({ order_number, customer_email, customer_phone, search }: Filters): TextFilter[] {
  return [
    ...(order_number ? [{ texts: [fold(order_number)], inOrder: true, inContact: false }] : []),
    ...(customer_email ? [{ texts: [fold(customer_email)], inOrder: false, inContact: true }] : []),
    ...(customer_phone ? [{ texts: phoneDigits(customer_phone), inOrder: false, inContact: true }] : []),
    ...(search ? [{ texts: foldedOrDigits(search), inOrder: true, inContact: true }] : []),
  ]
}

const shortest = ({ texts }: TextFilter): number => Math.min(...texts.map(({ length }) => length))

/** What else limits a list to few orders, so that they are compared one by one. */
const isNarrow = ({ customer_id, transaction_id, external_id }: Filters): boolean =>
  !!customer_id || !!transaction_id || !!external_id

/**
 * How the index finds the orders of a list, by its longest text: null for a list that does not need it, and `short`
 * where no text is long enough. `isVisible` holds for an edition that the caller may see.
 */
export function searchOf(filters: Filters, isVisible: SQL): IndexSearch | 'short' | null {
  const all = textFiltersOf(filters)
  if (all.length === 0 || all.some(({ texts }) => texts.length === 0) || isNarrow(filters)) return null
  const [longest] = all.filter(({ texts }) => texts.every(isIndexed)).toSorted((a, b) => shortest(b) - shortest(a))
  if (!longest) return 'short'
  const { edition_id, organization_id } = filters
  const inEditions = sql`exists (select 1 from editions where ${edition_id ? sql`id = ${edition_id}` : sql`1`}
    and ${organization_id ? sql`organization_id = ${organization_id}` : sql`1`} and ${isVisible})`
  const ofOrganization = organization_id
    ? marksOf('organization', [organization_id])
    : edition_id
      ? markOfOrganization(edition_id)
      : null
  const marks = edition_id ? marksOf('edition', [edition_id]) : ofOrganization
  const { texts, inOrder, inContact } = longest
  return {
    parts: (limit) => [
      ...(inOrder ? [ordersWithTexts({ marks, isVisible: inEditions }, texts)(limit)] : []),
      ...(inContact ? [ordersOfContacts({ marks: ofOrganization, isVisible: inEditions }, texts)(limit)] : []),
    ],
  }
}
