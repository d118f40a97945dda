import { type Caller, type MemberRole, mayAt, memberRoles } from './access.ts'
import { dayMs } from '../time/instants.ts'

const usualMs = 365 * dayMs

/**
 * The longest lifetime in days of a token that a session of the identity provider mints: shorter for stronger roles.
 */
const sessionDays: Readonly<Record<MemberRole, number>> = { admin: 90, manager: 180, viewer: 365 }

/** The longest chain of tokens above one: each of them is read at every use. */
export const maxGeneration = 8

/** Grants that a token of the caller has, bound to an organisation or not. */
const grantsOf = (caller: Caller, organizationId: string | null) =>
  caller.grants.filter((grant) => organizationId === null || grant.organization_id === organizationId)

/** An admin of each organisation that the token will reach. */
function isAdminOfAll(caller: Caller, organizationId: string | null): boolean {
  if (caller.is_superuser) return true
  const reached = grantsOf(caller, organizationId)
  return (
    reached.length > 0 &&
    reached.every(({ organization_id }) => mayAt(caller, ['OA'], { organization_id, editions: [] }))
  )
}

function strongestRole(caller: Caller, organizationId: string | null): MemberRole {
  const roles = grantsOf(caller, organizationId).map(({ role }) => role)
  return memberRoles.find((role) => roles.includes(role)) ?? 'viewer'
}

export interface TokenGrant {
  caller: Caller
  /** The one organisation that the new token is bound to, or null. */
  organization_id: string | null
  /** When the token of the caller ends; null when it does not end, or when the caller has no token. */
  minterEnd: number | null
  now: number
}

export type TokenEnd =
  | { isAllowed: true; at: number | null }
  /** `latest` is null when only an admin may have the requested lifetime. */
  | { isAllowed: false; latest: number | null }

/** When a new token ends; `asked` is undefined where the request does not say, and null for a token without an end. */
export function decideTokenEnd(asked: number | null | undefined, minting: TokenGrant): TokenEnd {
  const { caller, organization_id, minterEnd, now } = minting
  const sessionEnd =
    caller.credential.kind === 'oidc' ? now + sessionDays[strongestRole(caller, organization_id)] * dayMs : Infinity
  const bound = Math.min(minterEnd ?? Infinity, sessionEnd)
  const latest = isAdminOfAll(caller, organization_id) ? bound : Math.min(bound, now + usualMs)
  const end = asked === undefined ? Math.min(now + usualMs, latest) : (asked ?? Infinity)
  if (end <= latest) return { isAllowed: true, at: end === Infinity ? null : end }
  return { isAllowed: false, latest: asked === null && bound === Infinity ? null : latest }
}
