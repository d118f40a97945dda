import type { Contact, Row } from './model.ts'

/** The contact data of a customer that an edition was given. */
export interface Membership {
  edition: string
  given: Contact
  joined: number
}

export interface Customer extends Row {
  memberships: readonly Membership[]
}

export type Customers = ReadonlyMap<string, Customer>
