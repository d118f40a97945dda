import { useQuery } from '@tanstack/react-query'
import { get } from '../api'
import { useOrganizationId, useRefusalReason } from '../caller'
import { words } from '../words'

/** The person behind an account. Roles that may not list members read that it is a colleague. */
export function AccountName({ id, isOwn = false }: { id: string; isOwn?: boolean }) {
  const organization = useOrganizationId() ?? ''
  const mayList = useRefusalReason('listOrganizationMembers') === null
  const isMember = id !== 'root' && !isOwn
  const query = { account_id: id, page_size: 1 }
  const members = useQuery({
    ...get('/v1/organizations/{id}/members', { params: { path: { id: organization }, query } }),
    enabled: isMember && mayList && organization !== '',
    staleTime: 600_000,
  })
  if (isOwn) return words.common.you
  if (id === 'root') return words.common.superuser
  const member = members.data?.results[0]
  return member === undefined ? words.common.colleague : member.full_name || member.email
}
