import { useQuery } from '@tanstack/react-query'
import { get, type Schema } from '../../api'
import { useOrganizationId } from '../../caller'
import { loadWords } from '../../words'

const refundsWords = await loadWords('refunds')

/** The refund policy of the organisation, undefined while it loads. */
export function usePolicy(): Schema['RefundPolicy'] | undefined {
  const id = useOrganizationId() ?? ''
  const organization = useQuery({ ...get('/v1/organizations/{id}', { params: { path: { id } } }), enabled: id !== '' })
  return organization.data?.refund_policy
}

/** Tells why the person may not decide about what they asked for. Null if they may. */
export const readFourEyes = (
  policy: Schema['RefundPolicy'] | undefined,
  isOwn: boolean,
  reason: string = refundsWords.fourEyes,
): string | null => (policy?.four_eyes === true && isOwn ? reason : null)
