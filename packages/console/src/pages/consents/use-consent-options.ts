import { useQuery } from '@tanstack/react-query'
import { get } from '../../api'

/** The most consents that one answer of the API has. */
const maxConsents = 500

/** The consents that a form may ask for, by the edition that owns the form. Null: the organisation owns it. */
export function useConsentOptions(organization: string) {
  const query = { organization_id: organization, page_size: maxConsents, ordering: ['name' as const] }
  const consents = useQuery(get('/v1/consents', { params: { query } }))
  return (edition: string | null) =>
    (consents.data?.results ?? [])
      .filter((consent) => (consent.edition?.id ?? null) === edition)
      .map(({ id, name }) => ({ value: id, label: name }))
}
