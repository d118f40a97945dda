import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit, refuseUnless } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { shortIds } from '../../db/short-ids.ts'
import { editionCustomers, users } from '../../db/schema/users.ts'
import { changeableEditions, isSharedOutside } from '../../db/customer-visibility.ts'
import { inList } from '../../db/visibility.ts'
import { changesIn, isEmpty, update, updateVersion } from '../../db/write.ts'
import { AppError, fieldError, invalid, sharedCustomer } from '../../domain/errors.ts'
import type { ChannelAddress } from '../../domain/messaging/suppressions.ts'
import { givenSearchColumns, normalizePhone, searchColumns, type Contact } from '../../domain/accounts/users.ts'
import { restoredSuppressions } from '../suppressions/index.ts'
import type { UpdateUserInput } from './contract.ts'
import { isShown, type LoadedUser, type ShownUserRow } from './queries.ts'

function phoneOf(user: LoadedUser, given: string | null | undefined): string | null {
  if (given === undefined) return user.phone_number
  if (given === null || given.trim() === '') return null
  const phone = normalizePhone(given, user.country_code)
  if (phone === null) throw invalid(fieldError(['phone_number'], 'invalid_phone', 'This is not a telephone number.'))
  return phone
}

const emailTaken = () => invalid(fieldError(['email'], 'unique', 'Another customer has this e-mail address.'))
const phoneTaken = () =>
  invalid(fieldError(['phone_number'], 'unique', 'Another customer has this number and no e-mail.'))

/** Refuses a customer of other editions, and stores the contact with the caller's editions too. */
const changeInEditions = (user: LoadedUser, contact: Contact, editionIds: readonly string[]): Statement[] => [
  refuseUnless(
    sql`not exists (select 1 from users where users.id = ${user.id} and ${isSharedOutside(sql`users`, editionIds)})`,
    'shared_customer',
  ),
  update(
    editionCustomers,
    { ...contact, ...givenSearchColumns(contact) },
    sql`user_seq = ${user.seq} and ${inList(sql`edition_short_id`, shortIds(editionIds))}`,
  ),
]

/** The error that an address is taken shows that its owner exists, so only callers who may see the owner get it. */
async function refusalOf(ctx: Ctx, user: LoadedUser, contact: Contact, error: unknown): Promise<unknown> {
  const field = error instanceof AppError && error.errors.find(({ code }) => code === 'unique')?.attr
  if (field !== 'email' && field !== 'phone_number') return error
  return (await isShown(ctx, user.organization_id, { column: field, value: contact[field] })) ? error : sharedCustomer()
}

/** Refuses a customer who also belongs to an edition that the caller may not change. */
function judgeChange(user: LoadedUser, editionIds: readonly string[] | null): void {
  if (
    editionIds !== null &&
    user.tenant.editions !== 'any' &&
    user.tenant.editions.some((id) => !editionIds.includes(id))
  )
    throw sharedCustomer()
}

/** The addresses that a change adds. */
const gained = (user: ShownUserRow, contact: Pick<ShownUserRow, 'email' | 'phone_number'>): ChannelAddress[] => [
  ...(contact.email === null || contact.email === user.email
    ? []
    : [{ channel: 'email' as const, address: contact.email }]),
  ...(contact.phone_number === null || contact.phone_number === user.phone_number
    ? []
    : [{ channel: 'sms' as const, address: contact.phone_number }]),
]

function channelAfter({ msg_channel }: LoadedUser, { email, phone_number }: Contact): LoadedUser['msg_channel'] {
  if (email === null) return 'sms'
  return phone_number === null ? 'email' : msg_channel
}

export async function updateUser(ctx: Ctx, user: LoadedUser, input: UpdateUserInput): Promise<LoadedUser> {
  if (user.erased_at !== null) throw new AppError('user_erased', 'This customer was erased.')
  const editionIds = changeableEditions(ctx.caller, user.organization_id)
  judgeChange(user, editionIds)
  const contact = {
    email: input.email === undefined ? user.email : input.email,
    phone_number: phoneOf(user, input.phone_number),
    first_name: input.first_name ?? user.first_name,
    last_name: input.last_name ?? user.last_name,
  }
  if (contact.email === null && contact.phone_number === null)
    throw invalid(
      fieldError(
        [input.email === null ? 'email' : 'phone_number'],
        'contact_required',
        'A customer keeps an e-mail address or a number.',
      ),
    )
  if (isEmpty(changesIn<ShownUserRow>(user, contact))) return commit(ctx, user, [])
  const changes = {
    ...contact,
    ...searchColumns(contact),
    msg_channel: channelAfter(user, contact),
    modified_at: ctx.now(),
  }
  const statements = [
    ...(editionIds === null ? [] : changeInEditions(user, contact, editionIds)),
    ...updateVersion(users, user, changes),
    ...(await restoredSuppressions(user.organization_id, gained(user, contact))),
  ]
  try {
    return await commit(ctx, { ...user, ...changes, version: user.version + 1 }, statements, {
      'users.organization_short_id, users.email': emailTaken,
      'users.organization_short_id, users.phone_number': phoneTaken,
    })
  } catch (error) {
    throw await refusalOf(ctx, user, contact, error)
  }
}
