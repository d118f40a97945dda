import type { Contact } from '../../domain/accounts/users.ts'
import { isSameJson } from '../../domain/text/json.ts'
import { toIso } from '../../domain/time/instants.ts'
import type { Announcement } from '../webhooks/index.ts'

type AnnouncedValues = Contact & { locale?: string; msg_channel?: string; metadata?: unknown }

const announcedFields = [
  'email',
  'phone_number',
  'first_name',
  'last_name',
  'locale',
  'msg_channel',
  'metadata',
] as const satisfies (keyof AnnouncedValues)[]

export type UserField = (typeof announcedFields)[number] | 'is_active'

/** Lists the fields, by their names in the API, in which two states of a customer differ. */
export const compareContacts = (before: AnnouncedValues, after: AnnouncedValues): UserField[] =>
  announcedFields.filter(
    (name) => !isSameJson(JSON.stringify(before[name] ?? null), JSON.stringify(after[name] ?? null)),
  )

interface ChangedUser {
  user_id: string
  organization_id: string
  /** The edition whose values changed; null for those of the organisation. */
  edition_id: string | null
}

/** Builds the event about changed fields of a customer; none if no field changed. Its payload has no values. */
export const buildUserEvent = (
  { user_id, organization_id, edition_id }: ChangedUser,
  fields: UserField[],
  now: number,
): Announcement[] =>
  fields.length === 0
    ? []
    : [
        {
          kind: 'user.updated',
          organization_id,
          edition_id,
          data: { user: { api_id: user_id }, fields, occurred_at: toIso(now) },
        },
      ]
