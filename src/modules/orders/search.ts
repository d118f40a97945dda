import { sql, type SQL } from 'drizzle-orm'
import { containsAny, containsDigits, containsFolded, foldedOrDigits } from '../../db/contains.ts'
import { customersSeenBy } from '../../db/customer-visibility.ts'
import type { IndexSearch } from '../../db/lists/find-few.ts'
import {
  customersWithContacts,
  type IndexEntries,
  lookedUp,
  markOfOrganization,
  marksOf,
  ordersWithTexts,
} from '../../db/lists/match-texts.ts'
import { orders } from '../../db/schema/sales/orders.ts'
import { editionsSeenBy } from '../../db/visibility.ts'
import { type Caller, reachOf } from '../../domain/accounts/access.ts'
import { fold, phoneDigits } from '../../domain/text/fold.ts'
import { isIndexed } from '../../domain/text/trigrams.ts'
import type { OrderFilters } from './contract.ts'

interface TextFilter {
  texts: readonly string[]
  /** Whether the texts may be in what the order has itself. */
  inOrder: boolean
  /** Whether they may be in what the customer has. */
  inCustomer: boolean
  /** Says of a customer who is seen whole whether it is the text that is looked for that has them, and not another. */
  isOfText?: (textOf: TextsOfCustomer) => SQL
}

/** A text of a customer as a query has it. */
export type TextsOfCustomer = (name: 'address_folded' | 'phone_digits') => SQL

function textFiltersOf({ order_number, customer_email, customer_phone, search }: OrderFilters): TextFilter[] {
  return [
    ...(order_number ? [{ texts: [fold(order_number)], inOrder: true, inCustomer: false }] : []),
    ...(customer_email
      ? [
          {
            texts: [fold(customer_email)],
            inOrder: false,
            inCustomer: true,
            isOfText: (textOf: TextsOfCustomer) => containsFolded(textOf('address_folded'), customer_email),
          },
        ]
      : []),
    ...(customer_phone
      ? [
          {
            texts: phoneDigits(customer_phone),
            inOrder: false,
            inCustomer: true,
            isOfText: (textOf: TextsOfCustomer) => containsDigits(textOf('phone_digits'), customer_phone),
          },
        ]
      : []),
    ...(search ? [{ texts: foldedOrDigits(search), inOrder: true, inCustomer: true }] : []),
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
  filters: OrderFilters
}

const placesOfValues = { organization_id: 1, address_folded: 3, phone_digits: 4 }

/** A value of the customer whom an entry leads to; null where the row is gone, for which a column of the index would fail. */
const valueOfCustomer = (name: keyof typeof placesOfValues): SQL =>
  sql`(${lookedUp('found_customers', 'customers')} ->> ${sql.raw(`'$[0][${placesOfValues[name]}]'`)})`

/** Entries of customers by whom orders may be found. */
function contactsOf(list: OrderSearch, by: TextFilter, isVisible: SQL): IndexEntries | null {
  if (!by.inCustomer) return null
  const { caller, filters } = list
  const found = customersWithContacts({ marks: organizationMark(filters), isVisible, texts: by.texts })
  // What hidden customers are found by is not theirs alone.
  if (!customersSeenBy(caller).isWhole) return found
  const { organization_id } = filters
  const isOfText = by.isOfText?.((name) => valueOfCustomer(name)) ?? sql`1`
  const ofOrganization = organization_id ? sql`${valueOfCustomer('organization_id')} = ${organization_id}` : sql`1`
  return { ...found, where: sql`${found.match} and ${isOfText} and ${ofOrganization}` }
}

/** The marks of the orders of a list: of its edition, or those of the editions that roles of editions alone reach. */
function marksOfOrders({ caller, filters }: OrderSearch): SQL | null {
  if (filters.edition_id) return marksOf('edition', [filters.edition_id])
  const reach = reachOf(caller)
  if (reach.all || reach.organizations.length > 0 || reach.editions.length === 0) return organizationMark(filters)
  return marksOf(
    'edition',
    reach.editions.flatMap((grant) => grant.edition_id ?? []),
  )
}

export interface FoundByIndex extends Omit<IndexSearch, 'readFew'> {
  /** What else is asked of the customers among its entries; null for nothing. */
  isOfText: ((textOf: TextsOfCustomer) => SQL) | null
}

/**
 * How the index finds the orders of a list, by its longest text: null for a list that does not need it, and `short`
 * where no text is long enough.
 */
export function searchOfOrders(caller: Caller, filters: OrderFilters): FoundByIndex | 'short' | null {
  const list = { caller, filters }
  const all = textFiltersOf(filters)
  if (all.length === 0 || all.some(({ texts }) => texts.length === 0) || isNarrow(filters)) return null
  const [longest] = all.filter(({ texts }) => texts.every(isIndexed)).toSorted((a, b) => shortest(b) - shortest(a))
  if (!longest) return 'short'
  const isVisible = sql`exists (${editionsSeenBy(caller, filters)})`
  return {
    own: longest.inOrder ? ordersWithTexts({ marks: marksOfOrders(list), isVisible, texts: longest.texts }) : null,
    contacts: contactsOf(list, longest, isVisible),
    isOwn: longest.inOrder ? containsAny(sql`${orders}.own_search_text`, longest.texts) : sql`0`,
    isOfText: (customersSeenBy(caller).isWhole && longest.isOfText) || null,
  }
}
