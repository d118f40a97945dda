/** The six roles of operations: organisation or edition, then admin, manager or viewer. */
export const roleCodes = ['OA', 'OM', 'OV', 'EA', 'EM', 'EV'] as const
export type RoleCode = (typeof roleCodes)[number]

type RoleSet = readonly RoleCode[]

/** Sets of roles that operations share. Operations that every role may call have `roleCodes`. */
export const managers: RoleSet = ['OA', 'OM', 'EA', 'EM']
export const admins: RoleSet = ['OA', 'EA']
export const organizationReaders: RoleSet = ['OA', 'OM', 'OV']
export const organizationManagers: RoleSet = ['OA', 'OM']
export const organizationManagersAndEditionAdmins: RoleSet = ['OA', 'OM', 'EA']

export const memberRoles = ['admin', 'manager', 'viewer'] as const
export type MemberRole = (typeof memberRoles)[number]

export const pickStrongerRole = (one: MemberRole, other: MemberRole): MemberRole =>
  memberRoles.indexOf(one) <= memberRoles.indexOf(other) ? one : other

export const tokenScopes = ['read', 'write'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** Parses the stored scopes of a token, which are separated by spaces. */
export function parseScopes(text: string): TokenScope[] {
  const words = text.split(' ')
  return tokenScopes.filter((scope) => words.includes(scope))
}

/** A membership in the whole organisation, or, with `edition_id`, only in that edition. */
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
  /** The roles of the current operation. The caller sees rows only through these, or through all roles if absent. */
  acting_roles?: readonly RoleCode[]
  scopes: readonly TokenScope[]
  credential: {
    kind: 'token' | 'session' | 'oidc' | 'root' | 'previous_root' | 'none'
    id: string | null
    /** The one organisation that the token is bound to, or null. */
    organization_id: string | null
    /** When the person signed in. Null if that is unknown, and for programs. */
    signed_in_at: number | null
  }
}

/** True for a person who has signed in, and false for a program with an access token. */
export const hasSignedIn = ({ credential }: Caller): boolean =>
  credential.kind === 'session' || credential.kind === 'oidc'

/** The holder of the platform's root token. */
export const superuser: Caller = {
  id: 'root',
  email: null,
  is_superuser: true,
  grants: [],
  scopes: ['read', 'write'],
  credential: { kind: 'root', id: null, organization_id: null, signed_in_at: null },
}

/** The holder of the root token that is being replaced. */
export const previousSuperuser: Caller = {
  ...superuser,
  credential: { ...superuser.credential, kind: 'previous_root' },
}

/** The caller of a public operation. */
export const anonymous: Caller = {
  id: 'anonymous',
  email: null,
  is_superuser: false,
  grants: [],
  scopes: [],
  credential: { kind: 'none', id: null, organization_id: null, signed_in_at: null },
}

/**
 * The organisation and the editions that a row belongs to. Only organisation roles reach a row without editions, and
 * every role in the organisation reaches a row of `any` edition.
 */
export interface Tenant {
  organization_id: string
  editions: readonly string[] | 'any'
}

const roleLetters = { admin: 'A', manager: 'M', viewer: 'V' } as const

const getRoleCode = (grant: Grant): RoleCode => `${grant.edition_id === null ? 'O' : 'E'}${roleLetters[grant.role]}`

const covers = (grant: Grant, tenant: Tenant): boolean =>
  grant.organization_id === tenant.organization_id &&
  (grant.edition_id === null || tenant.editions === 'any' || tenant.editions.includes(grant.edition_id))

export const listRolesAt = (caller: Caller, tenant: Tenant): RoleCode[] =>
  caller.grants.filter((grant) => covers(grant, tenant)).map(getRoleCode)

export const mayAt = (caller: Caller, allowedRoles: readonly RoleCode[], tenant: Tenant): boolean =>
  caller.is_superuser || listRolesAt(caller, tenant).some((role) => allowedRoles.includes(role))

/** Limits the caller to rows that these roles reach. */
export const actAs = (caller: Caller, roles: readonly RoleCode[]): Caller => ({ ...caller, acting_roles: roles })

export const pickOrganizationRoles = (roles: readonly RoleCode[]): RoleCode[] =>
  roles.filter((role) => role.startsWith('O'))

export const mayAnywhere = (caller: Caller, allowedRoles: readonly RoleCode[]): boolean =>
  caller.is_superuser || caller.grants.some((grant) => allowedRoles.includes(getRoleCode(grant)))

/** The reach of a caller: everything, or whole organisations and single editions of others. */
export type Reach = { all: true } | { all: false; organizations: string[]; editions: Grant[] }

export function getReach(caller: Caller, allowedRoles: readonly RoleCode[] = roleCodes): Reach {
  if (caller.is_superuser) return { all: true }
  const matchingGrants = caller.grants.filter((grant) => allowedRoles.includes(getRoleCode(grant)))
  const organizations = matchingGrants
    .filter((grant) => grant.edition_id === null)
    .map((grant) => grant.organization_id)
  return {
    all: false,
    organizations,
    editions: matchingGrants.filter(
      (grant) => grant.edition_id !== null && !organizations.includes(grant.organization_id),
    ),
  }
}

/** The names of the organisation roles or of the edition roles: `admin or manager`. */
const joinRoleNames = (roles: readonly RoleCode[], level: 'O' | 'E'): string =>
  memberRoles.filter((role) => roles.includes(`${level}${roleLetters[role]}`)).join(' or ')

/** Tells a caller which roles an operation requires. */
export function describeRoles(roles: readonly RoleCode[]): string {
  const inOrganization = joinRoleNames(roles, 'O')
  const inEdition = joinRoleNames(roles, 'E')
  if (!inOrganization && !inEdition) return 'Only the superuser of the platform can do this.'
  const place = inEdition === inOrganization ? 'of the organisation or of the edition' : 'of the organisation'
  const besides = inEdition && inEdition !== inOrganization ? `, or ${inEdition} of the edition` : ''
  const role = inOrganization ? `${inOrganization} ${place}${besides}` : `${inEdition} of the edition`
  return `It requires the role ${role}. Ask an organisation admin.`
}
