import { type RoleCode, roleCodes } from '../../../src/domain/accounts/access.ts'
import { type Caller, type Reach, roleCode } from './callers.ts'
import type { Customers } from './customers.ts'
import type { Contact, LongList, Parent, Row, SeenRow } from './model.ts'

export function getReach(caller: Caller, roles: readonly RoleCode[] = roleCodes): Reach {
  const grants = caller.grants.filter((grant) => roles.includes(roleCode(grant)))
  const organizations = grants.filter(({ edition }) => edition === null).map(({ organization }) => organization)
  return {
    all: caller.isSuperuser,
    organizations,
    editions: grants.flatMap(({ edition, organization }) =>
      edition === null || organizations.includes(organization) ? [] : [edition],
    ),
  }
}

export const sees = (reach: Reach, { organization, editions }: Pick<Row, 'organization' | 'editions'>): boolean =>
  reach.all ||
  reach.organizations.includes(organization) ||
  editions.some((edition) => reach.editions.includes(edition))

/** Tells which rows of a list a caller sees. */
export function listVisibleRows(caller: Caller, list: LongList, parent: Parent | null): readonly Row[] {
  const reach = getReach(caller, list.roles)
  return list.rows(parent).filter((row) => sees(reach, row))
}

const noContact: Contact = { email: null, phone_number: null, first_name: '', last_name: '' }

/**
 * Returns a row as a caller sees it. An organisation role sees the organisation's data of a customer, and an edition
 * role the data of the edition that the customer joined last among those of the caller.
 */
export function presentRow(caller: Caller, row: Row, customers: Customers): SeenRow {
  const customer = row.customer === undefined ? undefined : customers.get(row.customer)
  if (!customer) return { ...row, contact: noContact, contacts: [] }
  const reach = getReach(caller)
  if (reach.all || reach.organizations.includes(customer.organization))
    return { ...row, contact: customer.shown as Contact, contacts: [customer.shown as Contact] }
  const [latest] = customer.memberships
    .filter(({ edition }) => reach.editions.includes(edition))
    .toSorted((one, other) => other.joined - one.joined)
  if (!latest) return { ...row, contact: noContact, contacts: [] }
  const contact = latest.given
  if (row.id !== row.customer) return { ...row, contact, contacts: [contact] }
  const visibleFields = {
    ...row.shown,
    ...contact,
    date_joined: new Date(latest.joined).toISOString(),
    msg_channel: contact.email === null && contact.phone_number !== null ? 'sms' : 'email',
    is_verified: false,
    metadata: {},
    last_seen: null,
  }
  return { ...row, contact, contacts: [contact], shown: visibleFields }
}

/** The status of an answer before the query is checked. */
export function predictStatus(caller: Caller, list: LongList, parent: Parent | null): 200 | 403 | 404 {
  const allowed = getReach(caller, list.roles)
  if (!allowed.all && allowed.organizations.length + allowed.editions.length === 0) return 403
  if (!parent) return 200
  const place = { organization: parent.organization, editions: parent.edition === null ? [] : [parent.edition] }
  if (!sees(getReach(caller), place)) return 404
  return sees(allowed, place) ? 200 : 403
}
