import type { Contact, Row } from './model.ts'

/** What an edition was given of a customer. */
export interface Membership {
  edition: string
  given: Contact
  joined: number
}

export interface Customer extends Row {
  memberships: readonly Membership[]
}

export type Customers = ReadonlyMap<string, Customer>
