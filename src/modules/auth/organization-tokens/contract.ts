import { z } from '@hono/zod-openapi'
import { FullName, Id, IdParams, KnownEmail, orNull } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { type ListRequest, ListPage, listQuery } from '../../../http/requests/list-query.ts'
import { AccessToken } from '../contract.ts'

export const OrganizationToken = AccessToken.extend({
  holder: orNull(
    z.object({
      member_id: Id('mem'),
      email: KnownEmail.openapi({ example: 'ingrid@example.dk' }),
      full_name: FullName,
    }),
  ).openapi({ description: 'The member who acts by the token. Null when they have no role any more.' }),
}).openapi('OrganizationToken', { description: 'A token with its holder. The token itself is never shown.' })

const tag = 'Organizations' as const

export const listOrganizationTokens = operation({
  id: 'listOrganizationTokens',
  tag,
  method: 'get',
  path: '/v1/organizations/{id}/tokens',
  summary: 'List access tokens of an organisation',
  description:
    "Returns the valid tokens that work in this organisation only, of all members. A member's personal tokens belong to the member, who may have roles elsewhere. They are not listed, and end here with the membership.",
  roles: ['OA'],
  params: IdParams('org'),
  query: listQuery({ ordering: ['created', 'name', 'last_used_at'], filters: {} }),
  response: ListPage(OrganizationToken),
})

export type OrganizationTokenQuery = ListRequest<typeof listOrganizationTokens.query>

export const revokeOrganizationToken = operation({
  id: 'revokeOrganizationToken',
  tag,
  method: 'delete',
  path: '/v1/organizations/{id}/tokens/{token_id}',
  summary: 'Revoke an access token of an organisation',
  description: 'It takes effect at once, also for the tokens that it created, and cannot be undone.',
  agentAccess: 'confirm',
  roles: ['OA'],
  status: 204,
  params: IdParams('org').extend({ token_id: z.string().openapi({ param: { name: 'token_id', in: 'path' } }) }),
})
