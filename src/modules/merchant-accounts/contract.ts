import { z } from '@hono/zod-openapi'
import { organizationReaders } from '../../domain/accounts/access.ts'
import { currencies } from '../../domain/money.ts'
import {
  apiKeyPattern,
  maxMerchantAccountDescriptionLength,
  maxMerchantAccountNameLength,
  maxMerchantAccounts,
  paymentServices,
  providerAccountPattern,
  webhookSecretPattern,
} from '../../domain/refunds/merchant-accounts.ts'
import { AnyCase, Id, IdParams, RequiredText, Timestamp } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { BooleanFilter, ListPage, type ListRequest, IdFilter, listQuery } from '../../http/requests/list-query.ts'

const Type = z.enum(paymentServices)

const Name = RequiredText(maxMerchantAccountNameLength).openapi({ example: 'Nordlys Stripe' })
const Description = z.string().trim().max(maxMerchantAccountDescriptionLength)

const Currencies = z
  .array(AnyCase(currencies))
  .min(1)
  .max(currencies.length)
  .refine((values) => new Set(values).size === values.length, {
    params: { code: 'repeated' },
    message: 'Each currency may appear once.',
  })
  .openapi({ uniqueItems: true, example: ['dkk', 'eur'] })

const SupportedCurrencies = z
  .array(z.enum(currencies))
  .min(1)
  .max(currencies.length)
  .openapi({ uniqueItems: true, example: ['dkk', 'eur'] })

const ProviderAccount = z
  .string()
  .regex(providerAccountPattern, 'This is not a Stripe account id, such as acct_1Nv0FGQ9RKHgCVdK.')
  .openapi({ description: 'The connected account at the provider. Null means the account that the key belongs to.' })

// zod does not repeat values in its errors, so no answer contains a key that was refused.
const ApiKey = z
  .string()
  .trim()
  .regex(apiKeyPattern, 'This is not a Stripe key: it begins with rk_live_, rk_test_, sk_live_ or sk_test_.')
  .openapi({
    description: 'Write only. A restricted key with write access to refunds and read access to payments is enough.',
    example: 'rk_test_51NordlysExample',
  })

const WebhookSecret = z
  .string()
  .trim()
  .regex(webhookSecretPattern, 'This is not the signing secret of a Stripe webhook: it begins with whsec_.')
  .openapi({
    description: 'Write only. The signing secret of the webhook at `webhook_url`.',
    example: 'whsec_NordlysExample',
  })

const SettleManually = z.boolean().openapi({
  description:
    'Only for accounts of type `manual`, where true is the default: approved refunds wait until a person confirms that they were paid.',
})

export const MerchantAccount = z
  .object({
    id: Id('mac'),
    organization_id: Id('org'),
    name: Name,
    description: Description,
    type: Type,
    supported_currencies: SupportedCurrencies,
    provider_account: ProviderAccount.nullable(),
    has_api_key: z.boolean(),
    api_key_last4: z
      .string()
      .nullable()
      .openapi({ description: 'The last four characters of the key; null without one.', example: 'Ab3d' }),
    api_key_modified: Timestamp.nullable().openapi({ description: 'When the key was set; null without one.' }),
    has_webhook_secret: z.boolean(),
    webhook_secret_modified: Timestamp.nullable().openapi({
      description: 'When the secret was set; null without one.',
    }),
    webhook_url: z.string().nullable().openapi({
      description: 'The webhook URL to enter at the provider for refund events. Null for types without webhooks.',
      example: 'https://events.example.com/provider-events/stripe/mac_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    }),
    settle_manually: z.boolean(),
    is_active: z.boolean(),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('MerchantAccount')

const CreateMerchantAccount = z.object({
  organization_id: Id('org'),
  name: Name,
  description: Description.default(''),
  type: Type,
  supported_currencies: Currencies,
  provider_account: ProviderAccount.nullable().default(null),
  api_key: ApiKey.nullable().default(null),
  webhook_secret: WebhookSecret.nullable().default(null),
  settle_manually: SettleManually.optional(),
  is_active: z.boolean().default(true),
})

const UpdateMerchantAccount = z.object({
  name: Name.optional(),
  description: Description.optional(),
  supported_currencies: Currencies.optional(),
  provider_account: ProviderAccount.nullable().optional(),
  api_key: ApiKey.nullable().optional(),
  webhook_secret: WebhookSecret.nullable().optional(),
  settle_manually: SettleManually.optional(),
  is_active: z.boolean().optional(),
})

export type CreateMerchantAccountInput = z.output<typeof CreateMerchantAccount>
export type UpdateMerchantAccountInput = z.output<typeof UpdateMerchantAccount>

const tag = 'Organizations' as const

const listMerchantAccountsQuery = listQuery({
  ordering: ['created', 'modified', 'name'],
  filters: { organization_id: IdFilter.optional(), type: Type.optional(), is_active: BooleanFilter.optional() },
})

export type MerchantAccountQuery = ListRequest<typeof listMerchantAccountsQuery>

export const listMerchantAccounts = operation({
  id: 'listMerchantAccounts',
  tag,
  method: 'get',
  path: '/v1/merchant-accounts',
  summary: 'List merchant accounts',
  description: 'Newest first. Responses never contain keys or secrets.',
  roles: organizationReaders,
  query: listMerchantAccountsQuery,
  response: ListPage(MerchantAccount),
})

export const createMerchantAccount = operation({
  id: 'createMerchantAccount',
  tag,
  method: 'post',
  path: '/v1/merchant-accounts',
  summary: 'Create a merchant account',
  description: `Editions that use the account refund their payments through it: by hand (\`manual\`), through Stripe (\`stripe\`), or
with simulated outcomes outside production (\`test\`). Keys are stored encrypted and never returned. An organisation has
at most ${maxMerchantAccounts} accounts: 409 \`too_many_merchant_accounts\`.`,
  agentAccess: 'confirm',
  roles: ['OA'],
  status: 201,
  body: CreateMerchantAccount,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: 'Nordlys Stripe',
    type: 'stripe',
    supported_currencies: ['dkk', 'eur'],
    api_key: 'rk_test_51NordlysExample',
    webhook_secret: 'whsec_NordlysExample',
  },
  response: MerchantAccount,
  errors: ['too_many_merchant_accounts', 'sealing_unavailable'],
})

export const getMerchantAccount = operation({
  id: 'getMerchantAccount',
  tag,
  method: 'get',
  path: '/v1/merchant-accounts/{id}',
  summary: 'Retrieve a merchant account',
  roles: organizationReaders,
  params: IdParams('mac'),
  response: MerchantAccount,
})

export const updateMerchantAccount = operation({
  id: 'updateMerchantAccount',
  tag,
  method: 'patch',
  path: '/v1/merchant-accounts/{id}',
  summary: 'Update a merchant account',
  description: `Fields that you leave out stay as they are. A new \`api_key\` or \`webhook_secret\` replaces the current one at once; null
removes it. Without a key, or with \`is_active\` false, the account takes no new refunds; refunds that have begun continue.`,
  agentAccess: 'none',
  roles: ['OA'],
  params: IdParams('mac'),
  body: UpdateMerchantAccount,
  example: { api_key: 'rk_test_51NordlysAnother', is_active: true },
  response: MerchantAccount,
  errors: ['sealing_unavailable'],
})

export const deleteMerchantAccount = operation({
  id: 'deleteMerchantAccount',
  tag,
  method: 'delete',
  path: '/v1/merchant-accounts/{id}',
  summary: 'Delete a merchant account',
  description:
    'An account that editions, payments or refunds use cannot be deleted; `related_objects` lists some of them.',
  agentAccess: 'confirm',
  roles: ['OA'],
  status: 204,
  params: IdParams('mac'),
  errors: ['merchant_account_in_use'],
})
