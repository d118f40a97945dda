const names: Readonly<Record<string, string>> = { A: 'admin', M: 'manager', V: 'viewer' }

/** The names of the roles whose codes begin with a letter: `admin or manager`. */
const namesOf = (roles: readonly string[], level: 'O' | 'E'): string =>
  roles
    .filter((role) => role.startsWith(level))
    .map((role) => names[role.slice(1)])
    .join(' or ')

/** Advice for a caller whose role is not enough; `roles` are the codes of those that are. */
export function describeRoles(roles: readonly string[]): string {
  const inOrganization = namesOf(roles, 'O')
  const inEdition = namesOf(roles, 'E')
  if (!inOrganization && !inEdition) return 'Only the superuser of the platform may do it.'
  const place = inEdition === inOrganization ? 'of the organisation or of the edition' : 'of the organisation'
  const besides = inEdition && inEdition !== inOrganization ? `, or ${inEdition} of the edition` : ''
  const role = inOrganization ? `${inOrganization} ${place}${besides}` : `${inEdition} of the edition`
  return `It takes the role ${role}: ask an organisation admin for it.`
}
