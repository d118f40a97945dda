import { type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { requireOneChange, commit, refuseUnless, abortUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { editionCustomers, users } from '../../db/schema/users.ts'
import { listChangeableEditions, isSharedOutside } from '../../db/customers.ts'
import { seesOrganization } from '../../db/visibility.ts'
import { decodeAs, fromJson, type RowOf, buildSelectList } from '../../db/select.ts'
import { pickChanges, isEmpty, update, updateVersion } from '../../db/write.ts'
import { AppError, fieldError, invalid, notFound, sharedCustomer } from '../../domain/errors.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import { normalizePhone, buildSearchColumns, type Contact } from '../../domain/accounts/users.ts'
import { restoreSuppressions } from '../suppressions/index.ts'
import type { UpdateUserInput } from './contract.ts'
import { isShown, type LoadedUser } from './queries.ts'

function parsePhone(user: LoadedUser, given: string | null): string | null {
  if (given === null || given.trim() === '') return null
  const phone = normalizePhone(given, user.country_code)
  if (phone === null) throw invalid(fieldError(['phone_number'], 'invalid_phone', 'This is not a telephone number.'))
  return phone
}

const emailTaken = () => invalid(fieldError(['email'], 'unique', 'Another customer has this e-mail address.'))
const phoneTaken = () =>
  invalid(fieldError(['phone_number'], 'unique', 'Another customer has this number and no e-mail.'))

/** The error that an address is taken shows that its owner exists, so only callers who may see the owner get it. */
async function chooseRefusal(ctx: Ctx, user: LoadedUser, contact: Contact, error: unknown): Promise<unknown> {
  const field = error instanceof AppError && error.errors.find(({ code }) => code === 'unique')?.attr
  if (field !== 'email' && field !== 'phone_number') return error
  return (await isShown(ctx, user.organization_id, { column: field, value: contact[field] })) ? error : sharedCustomer()
}

/** The addresses that a change adds. */
const listGained = (before: Contact, after: Contact): ChannelAddress[] => [
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

interface StoredRow extends Contact {
  search_text: string
}

const contactJson = (row: SQL): SQL =>
  sql`json_object('email', ${row}.email, 'phone_number', ${row}.phone_number, 'first_name', ${row}.first_name,
    'last_name', ${row}.last_name, 'search_text', ${row}.search_text)`

const storedFields = {
  msg_channel: users.msg_channel,
  own: fromJson<StoredRow>(contactJson(sql`users`)),
  /** What each edition of the customer knows. */
  editions: fromJson<{ edition_id: string; contact: StoredRow }[]>(sql`(
    select json_group_array(json_object('edition_id', known.edition_id, 'contact', ${contactJson(sql`known`)}))
    from edition_customers as known where known.user_seq = users.seq)`),
}

/** A customer as the organisation has them, and as the edition knows them that alone has them. */
async function loadStored({ db }: Ctx, user: LoadedUser) {
  const row = await db.first(
    decodeAs(
      storedFields,
      sql<RowOf<typeof storedFields>>`select ${buildSelectList(storedFields)} from users where users.id = ${user.id}`,
    ),
  )
  if (!row) throw notFound()
  const { editions, ...stored } = row
  const [only, ...others] = editions
  return { ...stored, known: only && others.length === 0 ? only : null }
}

function parseChanges(user: LoadedUser, { phone_number, ...input }: UpdateUserInput): Partial<Contact> {
  const given = phone_number === undefined ? input : { ...input, phone_number: parsePhone(user, phone_number) }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

const applyChanges = ({ email, phone_number, first_name, last_name }: Contact, changes: Partial<Contact>): Contact => ({
  email,
  phone_number,
  first_name,
  last_name,
  ...changes,
})

/** Refuses to take away the last way to reach a customer. */
function checkContacts(changes: Partial<Contact>, contacts: readonly Contact[]): void {
  const removed = (['email', 'phone_number'] as const).find((name) => changes[name] === null)
  if (!removed || contacts.every(({ email, phone_number }) => email !== null || phone_number !== null)) return
  throw invalid(fieldError([removed], 'contact_required', 'A customer keeps an e-mail address or a number.'))
}

type KnownRow = NonNullable<Awaited<ReturnType<typeof loadStored>>['known']>

/** Changes what the only edition of a customer knows. */
function changeInEdition(user: LoadedUser, { edition_id, contact }: KnownRow, after: Contact): Statement[] {
  if (isEmpty(pickChanges<Contact>(contact, after))) return []
  return [
    update(
      editionCustomers,
      { ...after, ...buildSearchColumns(after) },
      sql`edition_id = ${edition_id} and user_seq = ${user.seq} and search_text = ${contact.search_text}`,
    ),
    requireOneChange(),
  ]
}

/** Aborts when a customer of one edition alone has joined another one meanwhile. */
function requireOnlyEdition(user: LoadedUser, editionId: string, isOrganization: boolean): Statement {
  const isAlone = sql`not exists (select 1 from users where users.id = ${user.id}
    and ${isSharedOutside(sql`users`, [editionId])})`
  return isOrganization ? abortUnless(isAlone) : refuseUnless(isAlone, 'shared_customer')
}

/**
 * Changes a customer. One of one edition alone is changed as the organisation has them and as the edition knows them. One
 * of several editions is changed by roles of the organisation, and editions go on seeing what their imports said.
 */
export async function updateUser(ctx: Ctx, user: LoadedUser, input: UpdateUserInput): Promise<LoadedUser> {
  if (user.erased_at !== null) throw new AppError('user_erased', 'This customer was erased.')
  const editionIds = listChangeableEditions(ctx.caller, user.organization_id)
  const { own, known, msg_channel } = await loadStored(ctx, user)
  if (editionIds !== null && (!known || !editionIds.includes(known.edition_id))) throw sharedCustomer()
  const requested = parseChanges(user, input)
  const contact = applyChanges(own, requested)
  const knownContact = known && applyChanges(known.contact, requested)
  const seesOwn = seesOrganization(ctx.caller, user.organization_id)
  checkContacts(requested, seesOwn || !knownContact ? [contact] : [contact, knownContact])
  const inEdition = known && knownContact ? changeInEdition(user, known, knownContact) : []
  if (isEmpty(pickChanges<Contact>(own, contact)) && inEdition.length === 0) return commit(ctx, user, [])
  const changes = {
    ...contact,
    ...buildSearchColumns(contact),
    msg_channel: chooseChannel(msg_channel, contact),
    modified_at: ctx.now(),
  }
  const statements = [
    ...(known ? [requireOnlyEdition(user, known.edition_id, editionIds === null)] : []),
    ...inEdition,
    ...updateVersion(users, user, changes),
    ...(await restoreSuppressions(user.organization_id, listGained(own, contact))),
  ]
  const shown = seesOwn ? { ...contact, msg_channel: changes.msg_channel } : showKnown(knownContact ?? contact)
  try {
    return await commit(ctx, { ...user, ...shown, version: user.version + 1 }, statements, {
      'users.organization_id, users.email': emailTaken,
      'users.organization_id, users.phone_number': phoneTaken,
    })
  } catch (error) {
    throw await chooseRefusal(ctx, user, contact, error)
  }
}

/** As `buildEditionColumn` says it in SQL. */
const showKnown = (contact: Contact): Contact & Pick<LoadedUser, 'msg_channel'> => ({
  ...contact,
  msg_channel: contact.email === null && contact.phone_number !== null ? 'sms' : 'email',
})
