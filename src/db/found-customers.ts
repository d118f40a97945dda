import { type Caller, reachOf } from '../domain/accounts/access.ts'
import { shortIds } from './short-ids.ts'

/** What a customer is found, shown and ordered by, as it is looked up. */
export type ValuesOfCustomer = readonly [
  name_folded: string,
  address_folded: string,
  phone_digits: string,
  email: string | null,
  phone_number: string | null,
  created_at: number,
]

/** An edition of a customer as it is looked up: its short id, and what it was given. */
export type FoundEdition = readonly [edition: string, ...ValuesOfCustomer]

/** By what a customer is found. */
interface ContactTexts {
  name_folded: string
  address_folded: string
  phone_digits: string
}

export interface FoundCustomer extends ContactTexts {
  organization_id: string
  editions: readonly FoundEdition[]
}

interface CustomerValues {
  email: string | null
  phone_number: string | null
  created_at: number
  last_seen_at: number | null
}

/** What a caller reaches, of rows that the search index found: as `visible` and `customersSeenBy` say it in SQL. */
export interface FoundView {
  /** Whether customers may be hidden: what editions were given of them is needed then. */
  hidesCustomers: boolean
  seesOrganization: (id: string) => boolean
  seesEdition: (shortId: string) => boolean
  /** The texts by which the caller finds a customer: own ones, or those that the caller's editions were given. */
  textsOf: (customer: FoundCustomer) => readonly ContactTexts[]
  valuesOf: (customer: FoundCustomer & CustomerValues) => CustomerValues
}

const textsOfEdition = ([, name_folded, address_folded, phone_digits]: FoundEdition): ContactTexts => ({
  name_folded,
  address_folded,
  phone_digits,
})

/** The newest first, as what is shown of a hidden customer is chosen. */
const newestFirst = (a: FoundEdition, b: FoundEdition): number => b[6] - a[6] || (a[0] < b[0] ? -1 : 1)

export function viewOfFound(caller: Caller): FoundView {
  const reach = reachOf(caller)
  if (reach.all)
    return {
      hidesCustomers: false,
      seesOrganization: () => true,
      seesEdition: () => true,
      textsOf: (customer) => [customer],
      valuesOf: (customer) => customer,
    }
  const organizations = new Set(reach.organizations)
  const mine = new Set(shortIds(reach.editions.flatMap((grant) => grant.edition_id ?? [])))
  const ofMine = ({ editions }: FoundCustomer) => editions.filter(([edition]) => mine.has(edition))
  const isHidden = ({ organization_id, editions }: FoundCustomer): boolean =>
    mine.size > 0 && !organizations.has(organization_id) && editions.some(([edition]) => !mine.has(edition))
  return {
    hidesCustomers: mine.size > 0,
    seesOrganization: (id) => organizations.has(id),
    seesEdition: (edition) => mine.has(edition),
    textsOf: (customer) => (isHidden(customer) ? ofMine(customer).map(textsOfEdition) : [customer]),
    valuesOf: (customer) => {
      const { email, phone_number, created_at, last_seen_at } = customer
      const given = ofMine(customer).toSorted(newestFirst)
      const joined = given.at(-1)?.[6] ?? created_at
      if (!isHidden(customer)) return { email, phone_number, created_at: joined, last_seen_at }
      return {
        email: given.find((one) => one[4])?.[4] ?? null,
        phone_number: given.find((one) => one[5])?.[5] ?? null,
        created_at: joined,
        last_seen_at: null,
      }
    },
  }
}
