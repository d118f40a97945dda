import { type SQL, sql } from 'drizzle-orm'
import { requireChanges, requireOneChange } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import { isSharedOutside } from '../../../db/customers.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { editionCustomers, users } from '../../../db/schema/customers.ts'
import { update } from '../../../db/write.ts'
import { buildSearchColumns, type Contact } from '../../../domain/accounts/users.ts'
import { signupSource } from '../../../domain/consents/signups.ts'
import { isRecord, isSameJson, readJson } from '../../../domain/text/json.ts'
import { buildEditionValues, type PersonUndo } from '../../order-import/index.ts'
import { isInRunningAudience, removeFromSegments } from '../../segments/index.ts'
import { buildUserEvent, compareContacts } from '../../users/index.ts'
import { markHoldersChanged } from '../../wallet/index.ts'
import type { Announcement } from '../../webhooks/index.ts'
import type { ImportRow } from '../background/steps.ts'

type User = Pick<
  typeof users.$inferSelect,
  'id' | 'seq' | 'email' | 'phone_number' | 'first_name' | 'last_name' | 'version'
>

interface PersonRow extends User {
  /** JSON of the organisation's metadata of the person. */
  metadata: string
  /** True if a row refers to the person, in this edition or elsewhere. */
  is_used: number
  is_in_edition: number
  is_elsewhere: number
  /** True if an order that the undo kept names the person. */
  has_kept_order: number
  /** True if the person also belongs to editions whose customers the undo may not change. */
  is_protected: number
  /** True if another customer without an e-mail address has the same phone number. */
  is_phone_taken: number
  /** The person's values in the edition, as JSON; null when the person is not in the edition. */
  edition_values: string | null
}

/** True if another import of customers, which is not undone, has the person in this edition. */
const hasOtherImport = ({ id, edition_id }: ImportRow) => sql`exists (select 1 from import_orders other
  join data_imports on data_imports.id = other.import_id where other.user_id = u.id and other.import_id <> ${id}
    and other.undo_outcome is null and data_imports.edition_id = ${edition_id})`

/** True for a person who has confirmed a sign-up form of the edition. */
const hasSignedUp = (userId: SQL, editionId: string) => sql`exists (select 1 from consent_records signup
  where signup.user_id = ${userId} and signup.edition_id = ${editionId} and signup.method = 'double_opt_in'
    and instr(signup.source, ${signupSource('')}) = 1)`

const hasOrder = sql`exists (select 1 from orders where user_id = u.id)
  or exists (select 1 from purchases where user_id = u.id)`

const isUsed = (editionId: string) => sql`(${hasOrder}
  or exists (select 1 from refund_requests where user_id = u.id)
  or exists (select 1 from transactional_emails where user_id = u.id)
  or exists (select 1 from consent_records where user_id = u.id)
  or exists (select 1 from campaign_receipts where user_id = u.id)
  or exists (select 1 from erasures where user_id = u.id)
  or exists (select 1 from user_merges where into_id = u.id)
  or exists (select 1 from import_orders later where later.undo_data ->> '$.updated.order.user_id' = u.id
    and later.undo_outcome is null)
  or exists (select 1 from edition_customers where user_seq = u.seq and edition_id <> ${editionId})
  or exists (select 1 from audit_log where organization_id = u.organization_id and resource_id = u.id)
  or u.last_seen_at is not null or ${isInRunningAudience(sql`u`)})`

const isKeptOrder = (importId: string) =>
  sql`in (select order_id from import_orders where import_orders.order_id = o.id and import_id = ${importId}
    and undo_outcome = 'kept')`

interface PeopleChanges {
  statements: readonly Statement[]
  announcements: readonly Announcement[]
}

const noChanges: PeopleChanges = { statements: [], announcements: [] }

/** Editions whose customers the undo may change; null for all of the organisation. */
export interface UndoRights {
  changeable: readonly string[] | null
}

/** True for a row of `users` who also belongs to editions whose customers the undo may not change. */
export const isProtected = (user: SQL, { changeable }: UndoRights): SQL =>
  changeable === null ? sql`0` : isSharedOutside(user, changeable)

export const findPeople = (
  db: Database,
  row: ImportRow,
  ids: readonly string[],
  rights: UndoRights,
): Promise<PersonRow[]> =>
  db.all(sql<PersonRow>`select u.id, u.seq, u.metadata, u.email, u.phone_number, u.first_name, u.last_name, u.version,
      (${isUsed(row.edition_id)} or ${hasOtherImport(row)}) as is_used,
      (exists (select 1 from orders where user_id = u.id and edition_id = ${row.edition_id})
        or exists (select 1 from purchases where user_id = u.id and edition_id = ${row.edition_id})
        or ${hasOtherImport(row)} or ${hasSignedUp(sql`u.id`, row.edition_id)}) as is_in_edition,
      exists (select 1 from edition_customers where user_seq = u.seq and edition_id <> ${row.edition_id}) as is_elsewhere,
      (exists (select 1 from orders o where o.user_id = u.id and o.id ${isKeptOrder(row.id)})
        or exists (select 1 from purchases p join orders o on o.id = p.order_id
          where p.user_id = u.id and o.id ${isKeptOrder(row.id)})) as has_kept_order,
      ${isProtected(sql`u`, rights)} as is_protected,
      exists (select 1 from users other where other.organization_id = u.organization_id and other.email is null
        and other.phone_number = u.phone_number and other.id <> u.id) as is_phone_taken,
      iif(ue.seq is null, null, ${buildEditionValues(sql`ue`)}) as edition_values
    from json_each(${JSON.stringify(ids)}) as person cross join users u on u.id = person.value
    left join edition_customers ue on ue.edition_id = ${row.edition_id} and ue.user_seq = u.seq
    where u.organization_id = ${row.organization_id}`)

function buildDeletions({ organization_id, edition_id }: ImportRow, deletedPeople: readonly PersonRow[]): Statement[] {
  if (deletedPeople.length === 0) return []
  const [ids, seqs] = [deletedPeople.map(({ id }) => id), deletedPeople.map(({ seq }) => seq)]
  return [
    sql`delete from edition_customers where edition_id = ${edition_id} and ${inList(sql`user_seq`, seqs)}`,
    ...removeFromSegments(organization_id, seqs),
    sql`delete from users where ${inList(sql`id`, ids)} and last_seen_at is null`,
    requireChanges(ids.length),
  ]
}

/**
 * Decides which fields to clear: those that the import filled and that still have its value. The person keeps an address
 * or a number. Returns null when there are none.
 */
function decideClearing(person: PersonRow, filledFields: PersonUndo['filled_fields']): Contact | null {
  const { email, phone_number, first_name, last_name } = person
  const contact = { email, phone_number, first_name, last_name }
  const hasImportedValue = (name: keyof typeof contact) => name in filledFields && filledFields[name] === contact[name]
  const hasNoOtherContact = phone_number === null || hasImportedValue('phone_number')
  const after = {
    email: hasImportedValue('email') && !hasNoOtherContact && !person.is_phone_taken ? null : email,
    phone_number: hasImportedValue('phone_number') && email !== null ? null : phone_number,
    first_name: hasImportedValue('first_name') ? '' : first_name,
    last_name: hasImportedValue('last_name') ? '' : last_name,
  }
  return JSON.stringify(after) === JSON.stringify(contact) ? null : after
}

/** Removes the metadata that the import added and that still have its values. Returns null when there are none. */
function decideMetadata(person: PersonRow, filledMetadata: Record<string, unknown>): Record<string, unknown> | null {
  const metadata = readJson(person.metadata, isRecord)
  const isImported = ([key, value]: [string, unknown]) =>
    Object.hasOwn(filledMetadata, key) && isSameJson(JSON.stringify(value), JSON.stringify(filledMetadata[key]))
  const entries = Object.entries(metadata)
  const remainingEntries = entries.filter((entry) => !isImported(entry))
  return remainingEntries.length === entries.length ? null : Object.fromEntries(remainingEntries)
}

/** Fails if the person has changed since the read, or now belongs to an edition that the undo may not change. */
function buildClearing(
  { organization_id }: ImportRow,
  person: PersonRow,
  { filled_fields, filled_metadata = {} }: PersonUndo,
  { now, changeable }: UndoRights & { now: number },
): PeopleChanges {
  if (person.is_protected) return noChanges
  const clearedContact = decideClearing(person, filled_fields)
  const metadata = decideMetadata(person, filled_metadata)
  if (clearedContact === null && metadata === null) return noChanges
  const { email, phone_number, first_name, last_name } = clearedContact ?? person
  const clearedFields = { email, phone_number, first_name, last_name }
  const changes = {
    ...clearedFields,
    ...(metadata ? { metadata } : {}),
    ...buildSearchColumns(clearedFields),
    modified_at: now,
    version: person.version + 1,
  }
  const isAsRead = sql`id = ${person.id} and version = ${person.version}`
  const changedUser = { user_id: person.id, organization_id, edition_id: null }
  const storedMetadata = readJson(person.metadata, isRecord)
  const changedFields = compareContacts(
    { ...person, metadata: storedMetadata },
    { ...clearedFields, metadata: metadata ?? storedMetadata },
  )
  return {
    statements: [
      update(users, changes, sql`${isAsRead} and not ${isProtected(sql`users`, { changeable })}`),
      requireOneChange(),
    ],
    announcements: buildUserEvent(changedUser, changedFields, now),
  }
}

function buildRestoration(
  row: ImportRow,
  person: PersonRow,
  { is_new, edition_values }: PersonUndo,
  now: number,
): PeopleChanges {
  const { organization_id, edition_id } = row
  const isEditionCustomer = sql`edition_id = ${edition_id} and user_seq = ${person.seq}`
  if (is_new || edition_values?.before === null) {
    const staysInEdition = person.is_in_edition === 1 || (is_new && person.is_elsewhere === 0)
    return staysInEdition
      ? noChanges
      : {
          ...noChanges,
          statements: [
            sql`delete from edition_customers where ${isEditionCustomer}
              and not ${hasSignedUp(sql`${person.id}`, edition_id)}`,
          ],
        }
  }
  const { before, after } = edition_values ?? {}
  if (!before || !after || person.edition_values === null) return noChanges
  if (!isSameJson(person.edition_values, JSON.stringify(after))) return noChanges
  const isRenamed = before.first_name !== after.first_name || before.last_name !== after.last_name
  const changedUser = { user_id: person.id, organization_id, edition_id }
  return {
    statements: [
      update(editionCustomers, { ...before, ...buildSearchColumns(before) }, isEditionCustomer),
      ...(isRenamed ? [markHoldersChanged(edition_id, [person.id], now)] : []),
    ],
    announcements: buildUserEvent(changedUser, compareContacts(after, before), now),
  }
}

/**
 * Merges the changes of each person. Orders are undone from the last to the first, so the last entry of a person has
 * the values before the import, and the first one those after it.
 */
function mergePeople(changes: readonly PersonUndo[]): PersonUndo[] {
  const byId = new Map<string, PersonUndo>()
  for (const change of changes) {
    const later = byId.get(change.id)
    const editionValues =
      later?.edition_values && change.edition_values
        ? { before: change.edition_values.before, after: later.edition_values.after }
        : (change.edition_values ?? later?.edition_values)
    byId.set(change.id, {
      id: change.id,
      is_new: change.is_new,
      filled_fields: { ...later?.filled_fields, ...change.filled_fields },
      filled_metadata: { ...later?.filled_metadata, ...change.filled_metadata },
      edition_values: editionValues ?? null,
    })
  }
  return [...byId.values()]
}

export function buildPeopleChanges(
  row: ImportRow,
  people: readonly PersonRow[],
  changes: readonly PersonUndo[],
  rights: UndoRights & { now: number },
): PeopleChanges {
  const byId = new Map(mergePeople(changes).map((one) => [one.id, one]))
  const isDeleted = (person: PersonRow) => byId.get(person.id)?.is_new === true && !person.is_used
  const remainingPeople = people.filter((person) => !isDeleted(person) && !person.has_kept_order)
  const peopleChanges = remainingPeople.flatMap((person) => {
    const change = byId.get(person.id)
    return change ? [buildRestoration(row, person, change, rights.now), buildClearing(row, person, change, rights)] : []
  })
  return {
    statements: [
      ...buildDeletions(row, people.filter(isDeleted)),
      ...peopleChanges.flatMap(({ statements }) => statements),
    ],
    announcements: peopleChanges.flatMap(({ announcements }) => announcements),
  }
}

/** Lists the ids of people who keep what the import filled in, because the undo may not change them. */
export function listProtectedPeople(people: readonly PersonRow[], changes: readonly PersonUndo[]): string[] {
  const byId = new Map(mergePeople(changes).map((one) => [one.id, one]))
  return people
    .filter((person) => person.is_protected && !person.has_kept_order)
    .filter((person) => decideClearing(person, byId.get(person.id)?.filled_fields ?? {}) !== null)
    .map(({ id }) => id)
}

/** Lists the ids of people who stay in the edition, although the import brought them there. */
export function listRemainingPeople(people: readonly PersonRow[], changes: readonly PersonUndo[]): string[] {
  const byId = new Map(mergePeople(changes).map((one) => [one.id, one]))
  const remains = ({ id, is_used, is_in_edition, is_elsewhere }: PersonRow): boolean => {
    const change = byId.get(id)
    if (change?.is_new) return is_used === 1 && (is_in_edition === 1 || is_elsewhere === 0)
    return change?.edition_values?.before === null && is_in_edition === 1
  }
  return people.filter(remains).map(({ id }) => id)
}
