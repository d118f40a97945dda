import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { get, getWithEtag, type Schema } from './api'
import { type Operation, roles } from './generated/roles'
import { words } from './words'

/** The query of the person who is signed in, with the organisations and editions that this person sees. */
export const caller = { ...getWithEtag('/v1/auth/user-info'), staleTime: 60_000 }

export const useCaller = (): Schema['UserInfo'] | undefined => useQuery(caller).data?.data

const key = 'ecm-edition'
export const readLastEdition = (): string | null => localStorage.getItem(key)
export const storeLastEdition = (id: string): void => localStorage.setItem(key, id)

/** The id of the page's edition; on pages of an organisation, its edition of the last visit. */
export function useEditionId(): string | undefined {
  const { edition, organization } = useParams({ strict: false })
  const editions = useCaller()?.editions ?? []
  if (edition) return edition
  const ofOrganization = editions.filter((one) => !organization || one.organization_id === organization)
  return (ofOrganization.find(({ id }) => id === readLastEdition()) ?? ofOrganization[0])?.id
}

/** The edition of the page, undefined while it loads. */
export function useEdition(): Schema['EditionDetail'] | undefined {
  const id = useEditionId()
  return useQuery({
    ...get('/v1/editions/{id}', { params: { path: { id: id ?? '' } } }),
    enabled: id !== undefined,
    staleTime: 60_000,
  }).data
}

/** Tells why nothing can be changed in the page's edition if it is archived. Null for others. */
export const useArchivedReason = (): string | null => (useEdition()?.is_archived ? words.common.editionArchived : null)

/** The id of the page's organisation, undefined while it is not known. */
export function useOrganizationId(): string | undefined {
  const { organization } = useParams({ strict: false })
  const edition = useEditionId()
  const person = useCaller()
  if (organization) return organization
  return person?.editions.find(({ id }) => id === edition)?.organization_id ?? person?.organizations[0]?.id
}

const letters = { admin: 'A', manager: 'M', viewer: 'V' } as const

/** Tells why the person may not call the operation here. Null if the person may. Pages show once the person is loaded. */
export function useRefusalReason(operation: Operation | undefined): string | null {
  const person = useCaller()
  const { edition: id } = useParams({ strict: false })
  const organization = useOrganizationId()
  if (!operation || !person) return null
  const { roles: allowed, isWrite } = roles[operation]
  if (isWrite && !person.token.scopes.includes('write')) return words.common.needsWriteScope
  if (person.is_superuser) return null
  const codes = [
    ...person.organizations.flatMap(({ id: one, role }) =>
      one === organization && role !== null ? [`O${letters[role]}`] : [],
    ),
    ...person.editions
      .filter((one) => one.source === 'edition' && (one.id === id || (!id && one.organization_id === organization)))
      .map(({ role }) => `E${letters[role]}`),
  ]
  const list = allowed === '' ? [] : allowed.split(' ')
  if (codes.some((code) => list.includes(code))) return null
  if (list.length === 0) return words.common.needsSuperuser
  const names = list.map((code) => words.common.roles[code as keyof typeof words.common.roles])
  return `${words.common.needsRole} ${new Intl.ListFormat(words.common.locale, { type: 'disjunction' }).format(names)}`
}
