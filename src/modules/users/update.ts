import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit, refuseUnless, abortUnless } from '../../db/commit.ts'
import { listChangeableEditions, isSharedOutside, seesFullCustomers } from '../../db/customers.ts'
import type { Statement } from '../../db/database.ts'
import { editionCustomers, users } from '../../db/schema/customers.ts'
import { decodeAs, fromJson, type RowOf, buildSelectList } from '../../db/select.ts'
import { pickChanges, isEmpty, update, updateVersion } from '../../db/write.ts'
import { normalizePhone, buildSearchColumns, type Contact } from '../../domain/accounts/users.ts'
import { AppError, fieldError, invalid, notFound, sharedCustomer } from '../../domain/errors.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import { cleanKey } from '../../domain/text/invisible.ts'
import { restoreSuppressions } from '../suppressions/index.ts'
import { markHoldersChanged } from '../wallet/index.ts'
import { announceAll, type Announcement } from '../webhooks/index.ts'
import { buildUserEvent, compareContacts } from './announcement.ts'
import type { UpdateUserInput } from './contract.ts'
import { seesContact, type LoadedUser } from './queries.ts'

function parsePhone(user: LoadedUser, text: string | null): string | null {
  if (text === null || cleanKey(text) === '') return null
  const phone = normalizePhone(text, user.country_code)
  if (phone === null) throw invalid(fieldError(['phone_number'], 'invalid_phone', 'This is not a phone number.'))
  return phone
}

const buildEmailTakenError = () => invalid(fieldError(['email'], 'unique', 'Another customer has this e-mail address.'))
const buildPhoneTakenError = () =>
  invalid(fieldError(['phone_number'], 'unique', 'Another customer without an e-mail address has this phone number.'))

/** The error `unique` reveals that another customer exists, so only callers who may see that customer get it. */
async function chooseError(ctx: Ctx, user: LoadedUser, contact: Contact, error: unknown): Promise<unknown> {
  const field = error instanceof AppError && error.errors.find(({ code }) => code === 'unique')?.attr
  if (field !== 'email' && field !== 'phone_number') return error
  return (await seesContact(ctx, user.organization_id, { column: field, value: contact[field] }))
    ? error
    : sharedCustomer()
}

const listAddedAddresses = (before: Contact, after: Contact): ChannelAddress[] => [
  ...(after.email === null || after.email === before.email
    ? []
    : [{ channel: 'email' as const, address: after.email }]),
  ...(after.phone_number === null || after.phone_number === before.phone_number
    ? []
    : [{ channel: 'sms' as const, address: after.phone_number }]),
]

function chooseChannel(
  channel: LoadedUser['msg_channel'],
  { email, phone_number }: Contact,
): LoadedUser['msg_channel'] {
  if (email === null) return 'sms'
  return phone_number === null ? 'email' : channel
}

interface StoredContact extends Contact {
  search_text: string
}

const buildContactJson = (row: SQL): SQL =>
  sql`json_object('email', ${row}.email, 'phone_number', ${row}.phone_number, 'first_name', ${row}.first_name,
    'last_name', ${row}.last_name, 'search_text', ${row}.search_text)`

interface EditionContact {
  edition_id: string
  contact: StoredContact
}

const storedFields = {
  msg_channel: users.msg_channel,
  is_of_organization: users.is_of_organization,
  contact: fromJson<StoredContact>(buildContactJson(sql`users`)),
  /** The contact data of the customer in each of their editions. */
  editions: fromJson<EditionContact[]>(sql`(
    select json_group_array(json_object('edition_id', edition_contact.edition_id,
      'contact', ${buildContactJson(sql`edition_contact`)}))
    from edition_customers as edition_contact where edition_contact.user_seq = users.seq)`),
}

/** Loads the contact data of the organisation and, for a customer of a single edition, of that edition. */
async function loadStored({ db }: Ctx, user: LoadedUser) {
  const row = await db.first(
    decodeAs(
      storedFields,
      sql<RowOf<typeof storedFields>>`select ${buildSelectList(storedFields)} from users where users.id = ${user.id}`,
    ),
  )
  if (!row) throw notFound()
  const { editions, is_of_organization, ...storedUser } = row
  const [onlyEdition = null] = editions.length === 1 && !is_of_organization ? editions : []
  return { ...storedUser, onlyEdition }
}

function parseChanges(user: LoadedUser, { phone_number, ...input }: UpdateUserInput): Partial<Contact> {
  const changes = phone_number === undefined ? input : { ...input, phone_number: parsePhone(user, phone_number) }
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined))
}

const contactNames = ['email', 'phone_number', 'first_name', 'last_name'] as const

const applyChanges = ({ email, phone_number, first_name, last_name }: Contact, changes: Partial<Contact>): Contact => ({
  email,
  phone_number,
  first_name,
  last_name,
  ...changes,
})

/** Throws when the last address or number of a customer would be removed. */
function checkContacts(changes: Partial<Contact>, contacts: readonly Contact[]): void {
  const removedAddress = (['email', 'phone_number'] as const).find((name) => changes[name] === null)
  if (!removedAddress || contacts.every(({ email, phone_number }) => email !== null || phone_number !== null)) return
  throw invalid(
    fieldError([removedAddress], 'contact_required', 'A customer needs an e-mail address or a phone number.'),
  )
}

/** Changes the contact data that the customer's only edition has. */
function updateInEdition(
  user: LoadedUser,
  { edition_id, contact }: EditionContact,
  after: Contact,
  now: number,
): Statement[] {
  const changes = pickChanges<Contact>(contact, after)
  if (isEmpty(changes)) return []
  const isRenamed = changes.first_name !== undefined || changes.last_name !== undefined
  return [
    update(
      editionCustomers,
      { ...after, ...buildSearchColumns(after) },
      sql`edition_id = ${edition_id} and user_seq = ${user.seq} and search_text = ${contact.search_text}`,
    ),
    requireOneChange(),
    ...(isRenamed ? [markHoldersChanged(edition_id, [user.id], now)] : []),
  ]
}

/** Aborts the batch when a customer of a single edition has joined another one since the read. */
function requireOnlyEdition(user: LoadedUser, editionId: string, isOrganization: boolean): Statement {
  const hasOneEdition = sql`not exists (select 1 from users where users.id = ${user.id}
    and ${isSharedOutside(sql`users`, [editionId])})`
  return isOrganization ? abortUnless(hasOneEdition) : refuseUnless(hasOneEdition, 'shared_customer')
}

interface StoredCustomer {
  contact: Contact
  msg_channel: LoadedUser['msg_channel']
  editionContact: Contact | null
}

export interface UpdatedUser {
  /** The customer as the caller sees them. */
  user: LoadedUser
  /** The stored values, in which the audit log finds what changed. */
  storedValues: { before: Record<string, unknown>; after: Record<string, unknown> }
}

/** An edition learns of its own values alone, and the organisation of the values that it shows. */
function buildUserAnnouncements(
  { id: user_id, organization_id }: LoadedUser,
  { before, after }: Record<'before' | 'after', StoredCustomer>,
  edition_id: string | null,
  now: number,
): Announcement[] {
  const listValues = ({ contact, msg_channel }: StoredCustomer) => ({ ...contact, msg_channel })
  const fields = compareContacts(listValues(before), listValues(after))
  const editionFields =
    before.editionContact && after.editionContact ? compareContacts(before.editionContact, after.editionContact) : []
  return [
    ...buildUserEvent({ user_id, organization_id, edition_id: null }, fields, now),
    ...buildUserEvent({ user_id, organization_id, edition_id }, editionFields, now),
  ]
}

/** The organisation's stored values, and under `edition` those of the only edition where they change otherwise. */
function compareStored(before: StoredCustomer, after: StoredCustomer): UpdatedUser['storedValues'] {
  const differs = ({ contact, editionContact }: StoredCustomer, name: keyof Contact) =>
    editionContact?.[name] !== contact[name]
  const otherNames = contactNames.filter(
    (name) =>
      before.editionContact?.[name] !== after.editionContact?.[name] && (differs(before, name) || differs(after, name)),
  )
  const describe = ({ contact, msg_channel, editionContact }: StoredCustomer) => ({
    ...applyChanges(contact, {}),
    msg_channel,
    edition: Object.fromEntries(otherNames.map((name) => [name, editionContact?.[name]])),
  })
  return { before: describe(before), after: describe(after) }
}

/**
 * Changes a customer. For a customer of a single edition, the contact data of that edition changes too. Only roles of
 * the organisation change a customer of several editions, and the editions keep seeing what they imported.
 */
export async function updateUser(ctx: Ctx, user: LoadedUser, input: UpdateUserInput): Promise<UpdatedUser> {
  if (user.erased_at !== null) throw new AppError('user_erased', 'This customer was erased.')
  const editionIds = listChangeableEditions(ctx.caller, user.organization_id)
  const now = ctx.now()
  const { contact: before, onlyEdition, msg_channel } = await loadStored(ctx, user)
  if (editionIds !== null && (!onlyEdition || !editionIds.includes(onlyEdition.edition_id))) throw sharedCustomer()
  const requestedChanges = parseChanges(user, input)
  const contact = applyChanges(before, requestedChanges)
  const editionContact = onlyEdition && applyChanges(onlyEdition.contact, requestedChanges)
  const seesWholeCustomer = seesFullCustomers(ctx.caller, user.organization_id)
  checkContacts(requestedChanges, seesWholeCustomer || !editionContact ? [contact] : [contact, editionContact])
  const editionStatements = onlyEdition && editionContact ? updateInEdition(user, onlyEdition, editionContact, now) : []
  const storedBefore = { contact: before, msg_channel, editionContact: onlyEdition?.contact ?? null }
  if (isEmpty(pickChanges<Contact>(before, contact)) && editionStatements.length === 0)
    return commit(ctx, { user, storedValues: compareStored(storedBefore, storedBefore) }, [])
  const changes = {
    ...contact,
    ...buildSearchColumns(contact),
    msg_channel: chooseChannel(msg_channel, contact),
    modified_at: now,
  }
  const storedAfter = { contact, msg_channel: changes.msg_channel, editionContact }
  const stored = { before: storedBefore, after: storedAfter }
  const statements = [
    ...(onlyEdition ? [requireOnlyEdition(user, onlyEdition.edition_id, editionIds === null)] : []),
    ...editionStatements,
    ...updateVersion(users, user, changes),
    ...(await restoreSuppressions(user.organization_id, listAddedAddresses(before, contact))),
    ...announceAll(ctx, buildUserAnnouncements(user, stored, onlyEdition?.edition_id ?? null, now)),
  ]
  const visibleContact = seesWholeCustomer
    ? { ...contact, msg_channel: changes.msg_channel }
    : buildEditionView(editionContact ?? contact)
  const updatedUser: UpdatedUser = {
    user: { ...user, ...visibleContact, version: user.version + 1 },
    storedValues: compareStored(storedBefore, storedAfter),
  }
  try {
    return await commit(ctx, updatedUser, statements, {
      'users.organization_id, users.email': buildEmailTakenError,
      'users.organization_id, users.phone_number': buildPhoneTakenError,
    })
  } catch (error) {
    throw await chooseError(ctx, user, contact, error)
  }
}

/** Builds the contact data that roles of an edition see. `buildEditionColumn` does the same in SQL. */
const buildEditionView = (contact: Contact): Contact & Pick<LoadedUser, 'msg_channel'> => ({
  ...contact,
  msg_channel: contact.email === null && contact.phone_number !== null ? 'sms' : 'email',
})
