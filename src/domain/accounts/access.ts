/** The six roles as `operations` name them: organisation or edition, then admin, manager or viewer. */
export const roleCodes = ['OA', 'OM', 'OV', 'EA', 'EM', 'EV'] as const
export type RoleCode = (typeof roleCodes)[number]

export const memberRoles = ['admin', 'manager', 'viewer'] as const
export type MemberRole = (typeof memberRoles)[number]

/** The role that allows more, and the first of two equal ones. */
export const pickStrongerRole = (one: MemberRole, other: MemberRole): MemberRole =>
  memberRoles.indexOf(one) <= memberRoles.indexOf(other) ? one : other

export const tokenScopes = ['read', 'write'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** The scopes of a token, which are stored with spaces between them. */
export function readScopes(text: string): TokenScope[] {
  const words = text.split(' ')
  return tokenScopes.filter((scope) => words.includes(scope))
}

/** A membership: in the whole organisation, or, with `edition_id`, in that edition only. */
export interface Grant {
  organization_id: string
  edition_id: string | null
  role: MemberRole
}

export interface Caller {
  /** Account id, or `root` for the platform's superuser. */
  id: string
  email: string | null
  is_superuser: boolean
  grants: readonly Grant[]
  /** The roles of the operation at hand: the caller sees rows through these alone. Every role where it is absent. */
  acting_roles?: readonly RoleCode[]
  scopes: readonly TokenScope[]
  credential: {
    kind: 'token' | 'oidc' | 'root'
    id: string | null
    /** The one organisation that the token is bound to, or null. */
    organization_id: string | null
  }
}

/** The holder of the platform's root token. */
export const superuser: Caller = {
  id: 'root',
  email: null,
  is_superuser: true,
  grants: [],
  scopes: ['read', 'write'],
  credential: { kind: 'root', id: null, organization_id: null },
}

/**
 * The organisation and editions of a row. Without editions it is a row of the organisation itself, which only
 * organisation roles reach. With `any` every role inside the organisation reaches it.
 */
export interface Tenant {
  organization_id: string
  editions: readonly string[] | 'any'
}

const letter = { admin: 'A', manager: 'M', viewer: 'V' } as const

const roleOf = (grant: Grant): RoleCode => `${grant.edition_id === null ? 'O' : 'E'}${letter[grant.role]}`

const covers = (grant: Grant, tenant: Tenant): boolean =>
  grant.organization_id === tenant.organization_id &&
  (grant.edition_id === null || tenant.editions === 'any' || tenant.editions.includes(grant.edition_id))

export const listRolesAt = (caller: Caller, tenant: Tenant): RoleCode[] =>
  caller.grants.filter((grant) => covers(grant, tenant)).map(roleOf)

export const mayAt = (caller: Caller, allowed: readonly RoleCode[], tenant: Tenant): boolean =>
  caller.is_superuser || listRolesAt(caller, tenant).some((role) => allowed.includes(role))

/** The caller who sees rows through these roles alone. */
export const actAs = (caller: Caller, roles: readonly RoleCode[]): Caller => ({ ...caller, acting_roles: roles })

/** The organisation roles among some roles. */
export const pickOrganizationRoles = (roles: readonly RoleCode[]): RoleCode[] =>
  roles.filter((role) => role.startsWith('O'))

export const mayAnywhere = (caller: Caller, allowed: readonly RoleCode[]): boolean =>
  caller.is_superuser || caller.grants.some((grant) => allowed.includes(roleOf(grant)))

/** What the caller reaches through the allowed roles: everything, or whole organisations and single editions. */
export type Reach = { all: true } | { all: false; organizations: string[]; editions: Grant[] }

export function getReach(caller: Caller, allowed: readonly RoleCode[] = roleCodes): Reach {
  if (caller.is_superuser) return { all: true }
  const granted = caller.grants.filter((grant) => allowed.includes(roleOf(grant)))
  const organizations = granted.filter((grant) => grant.edition_id === null).map((grant) => grant.organization_id)
  return {
    all: false,
    organizations,
    editions: granted.filter((grant) => grant.edition_id !== null && !organizations.includes(grant.organization_id)),
  }
}

const roleNames: Readonly<Record<string, string>> = { A: 'admin', M: 'manager', V: 'viewer' }

/** The names of the roles whose codes begin with a letter: `admin or manager`. */
const joinRoleNames = (roles: readonly string[], level: 'O' | 'E'): string =>
  roles
    .filter((role) => role.startsWith(level))
    .map((role) => roleNames[role.slice(1)])
    .join(' or ')

/** Advice for a caller whose role is not enough; `roles` are the codes of those that are. */
export function describeRoles(roles: readonly string[]): string {
  const inOrganization = joinRoleNames(roles, 'O')
  const inEdition = joinRoleNames(roles, 'E')
  if (!inOrganization && !inEdition) return 'Only the superuser of the platform may do it.'
  const place = inEdition === inOrganization ? 'of the organisation or of the edition' : 'of the organisation'
  const besides = inEdition && inEdition !== inOrganization ? `, or ${inEdition} of the edition` : ''
  const role = inOrganization ? `${inOrganization} ${place}${besides}` : `${inEdition} of the edition`
  return `It takes the role ${role}: ask an organisation admin for it.`
}
