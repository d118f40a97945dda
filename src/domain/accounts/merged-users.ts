import { isSameJson } from '../text/json.ts'
import { type Contact, formatFullName, type messageChannels } from './users.ts'

type Metadata = Readonly<Record<string, unknown>>

/** A value that two customers have in two forms, of which one is left. */
export interface MergeCollision {
  type: 'field' | 'metadata' | 'edition' | 'consent' | 'campaign'
  name: string
  kept: string | null
  dropped: string | null
}

export interface MergeableUser extends Contact {
  msg_channel: (typeof messageChannels)[number]
  is_verified: boolean
  is_active: boolean
  metadata: Metadata
  created_at: number
  last_seen_at: number | null
}

/** What is empty is filled from the other customer. A name is taken as a whole. */
function mergeContacts(own: Contact, other: Contact): Contact {
  const { first_name, last_name } = formatFullName(own) === '' ? other : own
  return {
    email: own.email ?? other.email,
    phone_number: own.phone_number ?? other.phone_number,
    first_name,
    last_name,
  }
}

/** Values of an edition, or of the organisation, for a customer into whom another one is merged. */
export const mergeValues = <Values extends Contact & { metadata: Metadata; created_at: number }>(
  own: Values,
  other: Values,
) => ({
  ...mergeContacts(own, other),
  metadata: { ...other.metadata, ...own.metadata },
  created_at: Math.min(own.created_at, other.created_at),
})

const maxTime = (one: number | null, other: number | null): number | null =>
  one === null && other === null ? null : Math.max(one ?? 0, other ?? 0)

/** The values of a customer into whom another one is merged. */
export const mergeUserValues = (own: MergeableUser, other: MergeableUser) => ({
  ...mergeValues<MergeableUser>(own, other),
  msg_channel: own.email === null && own.phone_number === null ? other.msg_channel : own.msg_channel,
  is_verified: own.is_verified || (own.email === null && other.is_verified),
  is_active: own.is_active && other.is_active,
  last_seen_at: maxTime(own.last_seen_at, other.last_seen_at),
})

const contactFields = ['email', 'phone_number', 'first_name', 'last_name'] as const

const describe = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Lists the values of the other customer that the merge drops. */
export function listValueCollisions(
  own: Pick<MergeableUser, (typeof contactFields)[number] | 'metadata'>,
  other: Pick<MergeableUser, (typeof contactFields)[number] | 'metadata'>,
): MergeCollision[] {
  const fields = contactFields.flatMap((name): MergeCollision[] => {
    const [kept, dropped] = [own[name], other[name]]
    return kept && dropped && kept !== dropped ? [{ type: 'field', name, kept, dropped }] : []
  })
  const metadata = Object.entries(other.metadata).flatMap(([name, value]): MergeCollision[] => {
    const ownValue = own.metadata[name]
    const isSame = isSameJson(JSON.stringify(ownValue ?? null), JSON.stringify(value ?? null))
    return !Object.hasOwn(own.metadata, name) || isSame
      ? []
      : [{ type: 'metadata', name, kept: describe(ownValue), dropped: describe(value) }]
  })
  return [...fields, ...metadata]
}
