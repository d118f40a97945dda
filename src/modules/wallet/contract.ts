import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../domain/accounts/access.ts'
import { walletPassStatuses, walletPlatforms, walletProviders } from '../../domain/wallet/wallet.ts'
import { Id, IdParams, Timestamp, waitingFields } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { type ListRequest, ListPage, listQuery } from '../../http/requests/list-query.ts'

const passFields = {
  id: Id('wps'),
  provider: z.enum(walletProviders).openapi({ description: 'The vendor of the wallet, as events name it.' }),
  platform: z.enum(walletPlatforms),
  serial_number: z.string().openapi({ example: '6f1d2c3b8a9e4f009d6b0c1a2b3c4d5e' }),
  status: z.enum(walletPassStatuses),
  added_at: Timestamp.nullable().openapi({ description: 'Null until somebody adds the pass to a wallet.' }),
  removed_at: Timestamp.nullable().openapi({ description: 'Null unless the pass was removed from the wallet.' }),
}

export const WalletPassSummary = z.object(passFields).openapi('WalletPassSummary')

export const WalletPass = z
  .object({
    ...passFields,
    organization_id: Id('org'),
    edition_id: Id('edt'),
    purchase_id: Id('pur'),
    voided_at: Timestamp.nullable().openapi({ description: 'Null while the pass is active.' }),
    ...waitingFields,
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('WalletPass', { description: 'A pass for the wallet of a phone. It stands for one purchase.' })

export const IssuedWalletPass = WalletPass.extend({
  add_url: z.string().openapi({
    description:
      'The link that adds the pass to the wallet of whoever opens it. Give it only to the owner of the purchase.',
    example: 'https://pay.google.com/gp/v/save/eyJhbGciOiJSUzI1NiJ9',
  }),
}).openapi('IssuedWalletPass')

const IssueWalletPass = z.object({ platform: z.enum(walletPlatforms) })
export type IssueWalletPassInput = z.output<typeof IssueWalletPass>

/** The body of `PUT /dev/wallet/google-keys`, in the form in which Google publishes its keys. */
export const CapturedGoogleKeys = z.object({
  keys: z.array(z.object({ keyValue: z.string().max(500), keyExpiration: z.string().max(20) })).max(20),
})

const tag = 'Purchases' as const
const path = '/v1/purchases/{id}/wallet-passes'

export const listWalletPasses = operation({
  id: 'listWalletPasses',
  tag,
  method: 'get',
  path,
  summary: 'List the wallet passes of a purchase',
  roles: roleCodes,
  params: IdParams('pur'),
  query: listQuery({
    ordering: ['created'],
    filters: { platform: z.enum(walletPlatforms).optional(), status: z.enum(walletPassStatuses).optional() },
  }),
  response: ListPage(WalletPass),
})

export type PassQuery = ListRequest<typeof listWalletPasses.query>

export const createWalletPass = operation({
  id: 'createWalletPass',
  tag,
  method: 'post',
  path,
  summary: 'Issue a wallet pass',
  description: `Issues a pass for an active purchase, in the design of its edition, and returns the link that adds it
to a wallet. A purchase has one active pass on each platform: another request returns the same pass. A purchase that
cannot have a pass fails with 409 \`wallet_pass_unavailable\`. While Google Wallet does not answer, requests for it fail
with 503 \`wallet_unavailable\`; send them again.`,
  roles: managers,
  status: 201,
  params: IdParams('pur'),
  body: IssueWalletPass,
  example: { platform: 'apple' },
  response: IssuedWalletPass,
  errors: ['wallet_pass_unavailable', 'user_erased', 'edition_archived', 'wallet_unavailable'],
})

export const voidWalletPass = operation({
  id: 'voidWalletPass',
  tag,
  method: 'delete',
  path: `${path}/{pass_id}`,
  summary: 'Void a wallet pass',
  description: 'Phones show the pass as void. Voiding it again changes nothing.',
  agentAccess: 'confirm',
  roles: managers,
  status: 204,
  errors: ['edition_archived'],
  params: IdParams('pur').extend({
    pass_id: z.string().openapi({ param: { name: 'pass_id', in: 'path' }, example: 'wps_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
  }),
})
