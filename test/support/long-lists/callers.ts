import type { MemberRole, RoleCode } from '../../../src/domain/accounts/access.ts'
import { rootToken } from '../api.ts'
import { seedAccount, seedMember, seedToken } from '../seeding/members.ts'
import type { Places } from './places.ts'

export interface Grant {
  organization: string
  edition: string | null
  role: MemberRole
}

export interface Caller {
  name: string
  token: string
  isSuperuser: boolean
  grants: readonly Grant[]
}

/** The organisations and editions that a caller reaches through its roles. */
export interface Reach {
  all: boolean
  organizations: readonly string[]
  editions: readonly string[]
}

export const roleCode = ({ edition, role }: Grant): RoleCode =>
  `${edition === null ? 'O' : 'E'}${role === 'admin' ? 'A' : role === 'manager' ? 'M' : 'V'}`

/** Makes a person with these roles, and a token. */
export async function makeCaller(
  name: string,
  grants: readonly Grant[],
  token: Parameters<typeof seedToken>[1] = {},
): Promise<Caller> {
  const account = await seedAccount()
  for (const { organization, edition, role } of grants)
    await seedMember(account, { organization, edition: edition ?? undefined, role })
  const { token: secret } = await seedToken(account, token)
  const bound = token.organization ?? null
  return {
    name,
    token: secret,
    isSuperuser: false,
    grants: grants.filter(({ organization }) => bound === null || organization === bound),
  }
}

/** Makes callers of every role, of several roles, and of none. */
export async function makeCallers({ a, b }: Places): Promise<Caller[]> {
  const inA = (role: MemberRole, edition: string | null = null): Grant => ({ organization: a.id, edition, role })
  const inB = (role: MemberRole, edition: string | null = null): Grant => ({ organization: b.id, edition, role })
  const [first, second, third] = a.editions
  const [bFirst] = b.editions
  return [
    { name: 'superuser', token: rootToken, isSuperuser: true, grants: [] },
    await makeCaller('admin of A', [inA('admin')]),
    await makeCaller('manager of A', [inA('manager')]),
    await makeCaller('viewer of A', [inA('viewer')]),
    await makeCaller('admin of A with a token for reading', [inA('admin')], { scopes: ['read'] }),
    await makeCaller('admin of B', [inB('admin')]),
    await makeCaller('admin of A and B', [inA('admin'), inB('admin')]),
    await makeCaller('admin of the first edition', [inA('admin', first)]),
    await makeCaller('manager of the first edition', [inA('manager', first)]),
    await makeCaller('viewer of the second edition', [inA('viewer', second)]),
    await makeCaller('manager and viewer of two editions', [inA('manager', first), inA('viewer', second)]),
    await makeCaller('viewer of two other editions', [inA('viewer', third), inA('viewer', second)]),
    await makeCaller('manager of A and of an edition of B', [inA('manager'), inB('manager', bFirst)]),
    await makeCaller('admin of B and admin of an edition of A', [inB('admin'), inA('admin', first)]),
    await makeCaller('viewer of editions of A and B', [inA('viewer', first), inB('viewer', bFirst)]),
    await makeCaller('admin of A with a token for B', [inA('admin'), inB('viewer')], { organization: b.id }),
    await makeCaller('somebody without a role', []),
  ]
}
