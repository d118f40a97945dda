import { useCaller, useOrganizationId } from '../../caller'

/** True if the person's role is one in the organisation, and not in editions alone. */
export function useMayActWide(): boolean {
  const person = useCaller()
  const organization = useOrganizationId()
  const role = person?.organizations.find(({ id }) => id === organization)?.role
  return person?.is_superuser === true || role === 'admin' || role === 'manager'
}
