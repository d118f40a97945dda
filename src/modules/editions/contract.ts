import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../domain/access.ts'
import { editionStatuses } from '../../domain/editions.ts'
import { senderNameFault } from '../../domain/mailbox.ts'
import { isTimeZone } from '../../domain/time-zones.ts'
import { Id, IdParams, InstantOrNull, JsonObject, LanguageCode, RequiredText } from '../../http/fields.ts'
import { BooleanFilter, envelope, IdFilter, listQuery, TextFilter } from '../../http/list-query.ts'
import { operation } from '../../http/operation.ts'
import {
  CountryCode,
  Currency,
  EditionDetail,
  EditionListItem,
  EditionMeta,
  MetaDescription,
  MetaTitle,
  SmsSenderName,
  TaxType,
} from './contract-resources.ts'

const TimeZone = z
  .string()
  .refine(isTimeZone, {
    params: { code: 'invalid_choice' },
    message: 'A name of the IANA time zone database, as in Europe/Copenhagen.',
  })
  .openapi({ example: 'Europe/Copenhagen' })

const EnabledLanguages = z
  .array(LanguageCode)
  .min(1)
  .superRefine((languages, context) => {
    for (const [index, language] of languages.entries())
      if (languages.indexOf(language) < index)
        context.addIssue({
          code: 'custom',
          path: [index],
          params: { code: 'duplicate' },
          message: 'Listed more than once.',
        })
  })

const TaxRate = z.number().min(0).max(100).openapi({ description: 'Per cent.', example: 25 })

const senderNameFaults = {
  invalid_characters: 'Control characters, characters that turn the direction, and =? are not part of a name.',
  holds_address: 'An address is not part of a name.',
}

/** It becomes part of a mail header. */
const SenderName = z
  .string()
  .trim()
  .max(50)
  .superRefine((name, context) => {
    const code = senderNameFault(name)
    if (code) context.addIssue({ code: 'custom', params: { code }, message: senderNameFaults[code] })
  })

const EmailAddress = z.email().max(254).openapi({ example: 'hello@example.dk' })

const CreateEdition = z.object({
  organization_id: Id('org'),
  event_id: Id('evt'),
  name: RequiredText(200),
  start_date: InstantOrNull.optional(),
  end_date: InstantOrNull.optional(),
  timezone: TimeZone.default('UTC'),
  default_country_code: CountryCode.default('+45'),
  default_language: LanguageCode.default('en'),
  enabled_languages: EnabledLanguages.optional().openapi({ description: 'The default language alone when absent.' }),
  tax_type: TaxType.default('none'),
})

const adminOnly = { description: 'For admins to change.' }

const UpdateEdition = z.object({
  name: RequiredText(200).optional(),
  start_date: InstantOrNull.optional(),
  end_date: InstantOrNull.optional(),
  timezone: TimeZone.optional(),
  default_country_code: CountryCode.optional(),
  is_draft: z.boolean().optional(),
  is_archived: z.boolean().optional().openapi(adminOnly),
  default_language: LanguageCode.optional(),
  enabled_languages: EnabledLanguages.optional(),
  tax_type: TaxType.optional(),
  default_price_tax_rate: TaxRate.optional(),
  default_deposit_tax_rate: TaxRate.optional(),
  default_packaging_deposit_tax_rate: TaxRate.optional(),
  currency: Currency.optional().openapi(adminOnly),
  fee_rule_id: Id('fee').nullable().optional().openapi(adminOnly),
  merchant_account_id: Id('mac').nullable().optional().openapi(adminOnly),
  merchant_account_extra_parameters: JsonObject.optional().openapi(adminOnly),
  merchant_id: JsonObject.optional().openapi(adminOnly),
  metadata: JsonObject.optional(),
  sms_sender_name: SmsSenderName.optional(),
  email_sender_name: SenderName.nullable().optional(),
  email_sender_address: EmailAddress.nullable().optional().openapi({
    description:
      'E-mails come from it once its domain is a verified sender domain of the organisation, and from the address of the platform until then.',
  }),
  email_reply_to: EmailAddress.nullable().optional(),
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
    is_archived: BooleanFilter.optional().openapi({ description: 'Archived editions are left out unless asked for.' }),
    status: z.enum(editionStatuses).optional(),
    search: TextFilter.optional().openapi({ description: 'In the full name and the slug.' }),
  },
})

export type EditionFilters = Omit<z.output<typeof listEditionsQuery>, 'ordering' | 'page' | 'page_size' | 'cursor'>
export type EditionOrdering = z.output<typeof listEditionsQuery>['ordering']

export const listEditions = operation({
  id: 'listEditions',
  tag,
  method: 'get',
  path: '/v1/editions',
  summary: 'List editions',
  description: 'Newest first. Editions without a date stand after those with one, before them in a reversed order.',
  roles: roleCodes,
  query: listEditionsQuery,
  response: envelope(EditionListItem),
})

export const createEdition = operation({
  id: 'createEdition',
  tag,
  method: 'post',
  path: '/v1/editions',
  summary: 'Create an edition',
  description: 'The edition is a draft. Its slug is made from its full name, its currency from the country code.',
  roles: ['OA', 'OM'],
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
  description: `Choices that organisations keep are those of the caller's organisations, or of \`organization_id\` alone; at most 500 of a kind.`,
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
    'Fields that are left out stay. `is_draft: false` publishes, unless the edition would fail a critical check of its health: 409 `edition_not_publishable` has the failed `checks`. `published_at` keeps the first time. An archived edition changes only by `is_archived: false`, which may bring other fields along. Merchant, fee, currency and archive fields are for admins to change: 403 names each of them with `admin_only`.',
  roles: ['OA', 'OM', 'EA', 'EM'],
  params: IdParams('edt'),
  body: UpdateEdition,
  example: { name: '2026', is_draft: false },
  response: EditionDetail,
  errors: ['edition_archived', 'edition_not_publishable'],
})
