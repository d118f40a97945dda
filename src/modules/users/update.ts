import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { users } from '../../db/schema/users.ts'
import { changesIn, isEmpty, updateVersion } from '../../db/write.ts'
import { fieldError, invalid } from '../../domain/errors.ts'
import { searchSeparator } from '../../domain/fold.ts'
import { contactSearch, normalizePhone, searchColumns } from '../../domain/users.ts'
import type { UpdateUserInput } from './contract.ts'
import type { LoadedUser, UserRow } from './queries.ts'

function phoneOf(user: LoadedUser, given: string | null | undefined): string | null {
  if (given === undefined) return user.phone_number
  if (given === null || given.trim() === '') return null
  const phone = normalizePhone(given, user.country_code)
  if (phone === null) throw invalid(fieldError(['phone_number'], 'invalid_phone', 'No telephone number.'))
  return phone
}

const emailTaken = () => invalid(fieldError(['email'], 'unique', 'Another customer has this e-mail address.'))
const phoneTaken = () =>
  invalid(fieldError(['phone_number'], 'unique', 'Another customer has this number and no e-mail.'))

/** Orders are found by their customer's address and number too. */
export const customerOrdersSearch = (userId: string, contact: Pick<UserRow, 'email' | 'phone_number'>): Statement =>
  sql`update orders set search = search_own || ${searchSeparator + contactSearch(contact)} where user_id = ${userId}`

export async function updateUser(ctx: Ctx, user: LoadedUser, input: UpdateUserInput): Promise<LoadedUser> {
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
  if (isEmpty(changesIn<UserRow>(user, contact))) return commit(ctx, user, [])
  const changes = {
    ...contact,
    ...searchColumns(contact),
    msg_channel: contact.email === null ? 'sms' : contact.phone_number === null ? 'email' : user.msg_channel,
    modified_at: ctx.now(),
  }
  const isFoundOtherwise = contact.email !== user.email || contact.phone_number !== user.phone_number
  return commit(
    ctx,
    { ...user, ...changes, version: user.version + 1 },
    [...updateVersion(users, user, changes), ...(isFoundOtherwise ? [customerOrdersSearch(user.id, contact)] : [])],
    {
      'users.organization_id, users.email': emailTaken,
      'users.organization_id, users.phone_number': phoneTaken,
    },
  )
}
