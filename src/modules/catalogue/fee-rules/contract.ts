import { z } from '@hono/zod-openapi'
import { organizationReaders } from '../../../domain/accounts/access.ts'
import { maxCatalogueRows, maxFeeRuleDescriptionLength } from '../../../domain/catalogue.ts'
import { currencies, maxAmountMinor, toMajor } from '../../../domain/money.ts'
import { AmountInput, AnyCase, Id, IdParams } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { BooleanFilter, IdFilter, ListPage, type ListRequest, listQuery } from '../../../http/requests/list-query.ts'
import { CatalogueName, exampleOwner, NameFilter, tag, times } from '../contract-fields.ts'

const Description = z.string().trim().max(maxFeeRuleDescriptionLength)
const Currency = z.enum(currencies)
const Rate = z.number().min(0).max(100).openapi({ description: 'Per cent of the amount of an order.', example: 2.5 })

const fixedAmount = { description: 'An amount in major units beside the rate.', example: 5 }
const FixedAmount = z.number().min(0).max(toMajor(maxAmountMinor)).multipleOf(0.01).openapi(fixedAmount)
const FixedAmountInput = AmountInput().openapi(fixedAmount)

export const FeeRule = z
  .object({
    id: Id('fee'),
    organization_id: Id('org'),
    name: CatalogueName,
    description: Description,
    currency: Currency,
    rate: Rate,
    fixed_amount: FixedAmount,
    is_active: z.boolean(),
    ...times,
  })
  .openapi('FeeRule')

const CreateFeeRule = z.object({
  organization_id: Id('org'),
  name: CatalogueName,
  description: Description.default(''),
  currency: AnyCase(currencies),
  rate: Rate.default(0),
  fixed_amount: FixedAmountInput.default(0),
  is_active: z.boolean().default(true),
})

const UpdateFeeRule = z.object({
  name: CatalogueName.optional(),
  description: Description.optional(),
  currency: AnyCase(currencies).optional(),
  rate: Rate.optional(),
  fixed_amount: FixedAmountInput.optional(),
  is_active: z.boolean().optional(),
})

export type CreateFeeRuleInput = z.output<typeof CreateFeeRule>
export type UpdateFeeRuleInput = z.output<typeof UpdateFeeRule>

const listFeeRulesQuery = listQuery({
  ordering: ['created', 'modified', 'name'],
  filters: {
    organization_id: IdFilter.optional(),
    currency: AnyCase(currencies).optional(),
    is_active: BooleanFilter.optional(),
    search: NameFilter,
  },
})

export type FeeRuleQuery = ListRequest<typeof listFeeRulesQuery>

export const listFeeRules = operation({
  id: 'listFeeRules',
  tag,
  method: 'get',
  path: '/v1/fee-rules',
  summary: 'List fee rules',
  description: 'Newest first.',
  roles: organizationReaders,
  query: listFeeRulesQuery,
  response: ListPage(FeeRule),
})

export const createFeeRule = operation({
  id: 'createFeeRule',
  tag,
  method: 'post',
  path: '/v1/fee-rules',
  summary: 'Create a fee rule',
  description: `Tells sales channels which fee to add to an order of an edition with this \`fee_rule_id\`: \`rate\` per cent of
its amount, and \`fixed_amount\`. Imported orders keep the fees that they come with. An organisation has at most
${maxCatalogueRows} fee rules.`,
  roles: ['OA'],
  status: 201,
  body: CreateFeeRule,
  example: {
    organization_id: exampleOwner.organization_id,
    name: 'Standard fee',
    currency: 'dkk',
    rate: 2.5,
    fixed_amount: 5,
  },
  response: FeeRule,
  errors: ['catalogue_full'],
})

export const getFeeRule = operation({
  id: 'getFeeRule',
  tag,
  method: 'get',
  path: '/v1/fee-rules/{id}',
  summary: 'Retrieve a fee rule',
  roles: organizationReaders,
  params: IdParams('fee'),
  response: FeeRule,
})

export const updateFeeRule = operation({
  id: 'updateFeeRule',
  tag,
  method: 'patch',
  path: '/v1/fee-rules/{id}',
  summary: 'Update a fee rule',
  description: 'Fields that you leave out stay as they are. Editions that use the rule use it as it is then.',
  roles: ['OA'],
  params: IdParams('fee'),
  body: UpdateFeeRule,
  example: { rate: 3, is_active: true },
  response: FeeRule,
})

export const deleteFeeRule = operation({
  id: 'deleteFeeRule',
  tag,
  method: 'delete',
  path: '/v1/fee-rules/{id}',
  summary: 'Delete a fee rule',
  description:
    'A rule that editions use cannot be deleted: 409 `fee_rule_in_use` with their `counts`, and some of them in `related_objects`.',
  agentAccess: 'confirm',
  roles: ['OA'],
  status: 204,
  params: IdParams('fee'),
  errors: ['fee_rule_in_use'],
})
