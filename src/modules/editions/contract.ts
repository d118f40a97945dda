import { z } from '@hono/zod-openapi'
import { roleCodes, managers, organizationManagers } from '../../domain/accounts/access.ts'
import { editionStatuses } from '../../domain/editions/editions.ts'
import { Id, IdParams, InstantOrNull, JsonObject, LanguageInput, Name, TimeZone } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import {
  BooleanFilter,
  ListPage,
  type ListRequest,
  IdFilter,
  listQuery,
  TextFilter,
} from '../../http/requests/list-query.ts'
import {
  maxChoices,
  CountryCode,
  CurrencyInput,
  EditionDetail,
  EditionWithWarnings,
  EditionListItem,
  EditionMeta,
  SenderAddress,
  EnabledLanguages,
  MetaDescription,
  MetaTitle,
  SenderName,
  SmsSenderName,
  TaxRate,
  TaxType,
} from './contract-resources.ts'

const CreateEdition = z.object({
  organization_id: Id('org'),
  event_id: Id('evt'),
  name: Name,
  start_date: InstantOrNull.optional(),
  end_date: InstantOrNull.optional(),
  timezone: TimeZone.default('UTC'),
  default_country_code: CountryCode.default('+45'),
  default_language: LanguageInput.default('en'),
  enabled_languages: EnabledLanguages.optional().openapi({
    description: 'By default it is only the default language.',
  }),
  tax_type: TaxType.default('none'),
})

const UpdateEdition = z.object({
  name: Name.optional(),
  start_date: InstantOrNull.optional(),
  end_date: InstantOrNull.optional(),
  timezone: TimeZone.optional(),
  default_country_code: CountryCode.optional(),
  is_draft: z.boolean().optional(),
  is_archived: z.boolean().optional(),
  default_language: LanguageInput.optional(),
  enabled_languages: EnabledLanguages.optional(),
  tax_type: TaxType.optional(),
  default_price_tax_rate: TaxRate.optional(),
  default_deposit_tax_rate: TaxRate.optional(),
  default_packaging_deposit_tax_rate: TaxRate.optional(),
  currency: CurrencyInput.optional(),
  fee_rule_id: Id('fee').nullable().optional(),
  merchant_account_id: Id('mac').nullable().optional(),
  merchant_account_extra_parameters: JsonObject.optional(),
  merchant_id: JsonObject.optional(),
  metadata: JsonObject.optional(),
  sms_sender_name: SmsSenderName.optional(),
  email_sender_name: SenderName.nullable().optional(),
  email_sender_address: SenderAddress.nullable().optional().openapi({
    description:
      'E-mails come from this address if its domain is a verified sender domain of the organisation. Otherwise they come from the address of the platform.',
  }),
  email_reply_to: SenderAddress.nullable().optional(),
  meta_title: MetaTitle.optional(),
  meta_description: MetaDescription.optional(),
  meta_image_id: Id('fil').nullable().optional(),
  transaction_receipt_email_id: Id('eml').nullable().optional(),
  refund_confirmation_email_id: Id('eml').nullable().optional(),
})

export type CreateEditionInput = z.output<typeof CreateEdition>
export type UpdateEditionInput = z.output<typeof UpdateEdition>

const tag = 'Editions' as const

const listEditionsQuery = listQuery({
  ordering: ['created', 'modified', 'start_date', 'end_date', 'name'],
  filters: {
    organization_id: IdFilter.optional(),
    event_id: IdFilter.optional(),
    is_draft: BooleanFilter.optional(),
    is_archived: BooleanFilter.optional().openapi({
      description: 'Set it to true to list archived editions. By default they are left out.',
    }),
    status: z.enum(editionStatuses).optional(),
    search: TextFilter.optional().openapi({ description: 'Searches the full name and the slug.' }),
  },
})

export type EditionQuery = ListRequest<typeof listEditionsQuery>

export const listEditions = operation({
  id: 'listEditions',
  tag,
  method: 'get',
  path: '/v1/editions',
  summary: 'List editions',
  description:
    'Returns editions, newest first. If you sort by a date, editions without it come last in both directions.',
  roles: roleCodes,
  query: listEditionsQuery,
  response: ListPage(EditionListItem),
})

export const createEdition = operation({
  id: 'createEdition',
  tag,
  method: 'post',
  path: '/v1/editions',
  summary: 'Create an edition',
  description: 'Creates a draft. Its slug is made from its full name, and its currency follows the country code.',
  roles: organizationManagers,
  status: 201,
  body: CreateEdition,
  example: {
    organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    event_id: 'evt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
    name: '2026',
    start_date: '2026-06-01T10:00:00+02:00',
    timezone: 'Europe/Copenhagen',
  },
  response: EditionDetail,
})

export const getEditionMeta = operation({
  id: 'getEditionMeta',
  tag,
  method: 'get',
  path: '/v1/editions/_meta',
  summary: 'Retrieve the choices of edition fields',
  description: `Returns the values that the fields of an edition can have. Fee rules, merchant accounts, e-mails and events are those of your organisations, or only of \`organization_id\`: at most ${maxChoices} of each kind.`,
  roles: roleCodes,
  query: z.object({ organization_id: IdFilter.optional() }),
  response: EditionMeta,
})

export const getEdition = operation({
  id: 'getEdition',
  tag,
  method: 'get',
  path: '/v1/editions/{id}',
  summary: 'Retrieve an edition',
  roles: roleCodes,
  params: IdParams('edt'),
  response: EditionDetail,
})

export const updateEdition = operation({
  id: 'updateEdition',
  tag,
  method: 'patch',
  path: '/v1/editions/{id}',
  summary: 'Update an edition',
  description:
    'Fields that you leave out stay as they are. `is_draft: false` publishes the edition, unless it fails a critical health check: 409 `edition_not_publishable` lists the failed `checks`. `published_at` is the time of the first publication. You can change an archived edition only together with `is_archived: false`.',
  roles: managers,
  params: IdParams('edt'),
  body: UpdateEdition,
  example: { name: '2026', is_draft: false },
  response: EditionWithWarnings,
  errors: ['edition_archived', 'edition_not_publishable'],
})
