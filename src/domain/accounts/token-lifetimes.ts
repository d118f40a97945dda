import { dayMs } from '../time/instants.ts'
import { type Caller, hasSignedIn, type MemberRole, mayAt, memberRoles } from './access.ts'

const defaultLifetimeMs = 365 * dayMs

/** The longest lifetime in days of a token that a session creates, or a token of the identity provider. */
const sessionDays: Readonly<Record<MemberRole, number>> = { admin: 90, manager: 180, viewer: 365 }

/** Tokens can create tokens. Every use of a token reads the whole chain above it, so the chain is limited. */
export const maxGeneration = 8

/** The grants of a token of the caller, which may be bound to one organisation. */
const listGrants = (caller: Caller, organizationId: string | null) =>
  caller.grants.filter((grant) => organizationId === null || grant.organization_id === organizationId)

/** True if the caller is an admin of every organisation that the token reaches. */
function isAdminOfAll(caller: Caller, organizationId: string | null): boolean {
  if (caller.is_superuser) return true
  const grants = listGrants(caller, organizationId)
  return (
    grants.length > 0 && grants.every(({ organization_id }) => mayAt(caller, ['OA'], { organization_id, editions: [] }))
  )
}

function findStrongestRole(caller: Caller, organizationId: string | null): MemberRole {
  const roles = listGrants(caller, organizationId).map(({ role }) => role)
  return memberRoles.find((role) => roles.includes(role)) ?? 'viewer'
}

export interface TokenGrant {
  caller: Caller
  /** The one organisation that the new token is bound to, or null. */
  organization_id: string | null
  /** The expiry of the caller's own token. Null: it does not expire, or the caller has none, as in a session. */
  parentExpiresAt: number | null
  now: number
}

export type TokenEnd =
  | { isAllowed: true; at: number | null }
  /** Null: only an admin may create a token with the requested lifetime. */
  | { isAllowed: false; latestEnd: number | null }

/** Decides when a new token expires. `requested` is null for a token that does not expire. */
export function decideTokenEnd(requestedEnd: number | null | undefined, grant: TokenGrant): TokenEnd {
  const { caller, organization_id, parentExpiresAt, now } = grant
  const sessionEnd = hasSignedIn(caller)
    ? now + sessionDays[findStrongestRole(caller, organization_id)] * dayMs
    : Infinity
  const sessionBound = Math.min(parentExpiresAt ?? Infinity, sessionEnd)
  const latestEnd = isAdminOfAll(caller, organization_id)
    ? sessionBound
    : Math.min(sessionBound, now + defaultLifetimeMs)
  const end = requestedEnd === undefined ? Math.min(now + defaultLifetimeMs, latestEnd) : (requestedEnd ?? Infinity)
  if (end <= latestEnd) return { isAllowed: true, at: end === Infinity ? null : end }
  return { isAllowed: false, latestEnd: requestedEnd === null && sessionBound === Infinity ? null : latestEnd }
}
