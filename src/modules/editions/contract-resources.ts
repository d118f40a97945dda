import { z } from '@hono/zod-openapi'
import { countryCodes, editionStatuses, smsSenderNames, taxTypes } from '../../domain/editions/editions.ts'
import { findSenderNameFault, toAsciiAddress, unquoteLocalPart } from '../../domain/messaging/mailbox.ts'
import { currencies } from '../../domain/money.ts'
import { cleanKey } from '../../domain/text/invisible.ts'
import {
  Id,
  Image,
  JsonObject,
  AnyCase,
  LanguageCode,
  LanguageInput,
  Name,
  OrganizationSummary,
  orNull,
  Slug,
  TimeZone,
  Timestamp,
  Translated,
} from '../../http/fields.ts'
import { ApprovalWarnings } from '../../http/operations/warnings.ts'

export const CountryCode = z.enum(countryCodes)
export const TaxType = z.enum(taxTypes)
const Currency = z.enum(currencies)
export const CurrencyInput = AnyCase(currencies)
export const SmsSenderName = z.enum(smsSenderNames)
export const MetaTitle = Translated(1000)
export const MetaDescription = Translated(5000)

export const EnabledLanguages = z
  .array(LanguageInput)
  .min(1)
  .superRefine((languages, context) => {
    for (const [index, language] of languages.entries())
      if (languages.indexOf(language) < index)
        context.addIssue({
          code: 'custom',
          path: [index],
          params: { code: 'duplicate' },
          message: 'This language is listed more than once.',
        })
  })
  .openapi({ uniqueItems: true, maxItems: LanguageCode.options.length })

export const TaxRate = z.number().min(0).max(100).openapi({ description: 'The rate in per cent.', example: 25 })

const senderNameErrors = {
  invalid_characters: 'Must not contain control characters, characters that change the text direction, or =?.',
  holds_address: 'Must not contain an e-mail address.',
}

/** The name becomes part of an e-mail header. */
export const SenderName = z
  .string()
  .trim()
  .max(50)
  .superRefine((name, context) => {
    const code = findSenderNameFault(name)
    if (code) context.addIssue({ code: 'custom', params: { code }, message: senderNameErrors[code] })
  })

/** The domain is in the form that DNS has, as in sender domains. */
export const SenderAddress = z
  .string()
  .overwrite((text) => toAsciiAddress(unquoteLocalPart(cleanKey(text).normalize('NFKC'))))
  .check(z.email())
  .max(254)
  .openapi({ format: 'email', example: 'hello@example.dk' })

export const EditionListItem = z
  .object({
    id: Id('edt'),
    name: Name,
    full_name: z.string(),
    slug: Slug,
    start_date: Timestamp.nullable().openapi({ description: 'Null when the edition has no start date.' }),
    end_date: Timestamp.nullable().openapi({ description: 'Null when the edition has no end date.' }),
    timezone: TimeZone,
    is_draft: z.boolean(),
    is_archived: z.boolean(),
    published_at: Timestamp.nullable().openapi({ description: 'Null when the edition was never published.' }),
    organization: OrganizationSummary,
    status: z.enum(editionStatuses),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('EditionListItem')

export const EditionDetail = z
  .object({
    id: Id('edt'),
    name: Name,
    full_name: z.string(),
    slug: Slug,
    organization: OrganizationSummary,
    event: z.object({ id: Id('evt'), name: Name }),
    start_date: Timestamp.nullable().openapi({ description: 'Null when the edition has no start date.' }),
    end_date: Timestamp.nullable().openapi({ description: 'Null when the edition has no end date.' }),
    timezone: TimeZone,
    status: z.enum(editionStatuses),
    default_country_code: CountryCode,
    is_draft: z.boolean(),
    is_archived: z.boolean(),
    published_at: Timestamp.nullable().openapi({
      description: 'The time of the first publication. Null when the edition was never published.',
    }),
    default_language: LanguageCode,
    enabled_languages: z.array(LanguageCode).min(1).max(LanguageCode.options.length).openapi({ uniqueItems: true }),
    tax_type: TaxType,
    default_price_tax_rate: TaxRate,
    default_deposit_tax_rate: TaxRate,
    default_packaging_deposit_tax_rate: TaxRate,
    currency: Currency,
    fee_rule_id: Id('fee').nullable().openapi({ description: 'Null when the edition has no fee rule.' }),
    merchant_account_id: Id('mac').nullable().openapi({
      description: 'The account of later payments. Null when the edition has none.',
    }),
    merchant_account_extra_parameters: JsonObject,
    merchant_id: JsonObject,
    metadata: JsonObject,
    sms_sender_name: SmsSenderName,
    email_sender_name: SenderName.nullable().openapi({
      description: 'The name of the sender of e-mails. Null: the name of the edition.',
    }),
    email_sender_address: SenderAddress.nullable().openapi({
      description: 'The address of the sender of e-mails. Null: the address of the platform.',
    }),
    email_reply_to: SenderAddress.nullable().openapi({
      description:
        'The address for replies. Null: `email_sender_address`, or the address of the platform if that is null too.',
    }),
    meta_title: MetaTitle,
    meta_description: MetaDescription,
    meta_image: orNull(Image).openapi({ description: 'Null when `meta_image_id` is null.' }),
    meta_image_id: Id('fil').nullable().openapi({ description: 'Null when the edition has no meta image.' }),
    transaction_receipt_email_id: Id('eml').nullable().openapi({ description: 'Null: the edition sends no receipts.' }),
    refund_confirmation_email_id: Id('eml')
      .nullable()
      .openapi({ description: 'Null: the edition sends no refund confirmations.' }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('EditionDetail')

export const EditionWithWarnings = EditionDetail.extend({ warnings: ApprovalWarnings }).openapi('EditionWithWarnings')

const MetaChoice = z.object({ value: z.string(), label: z.string(), description: z.string() }).openapi('MetaChoice')

const MerchantAccountMetaChoice = MetaChoice.extend({
  type: z.string(),
  supported_currencies: z.array(z.string()),
}).openapi('MerchantAccountMetaChoice')

/** At most this many choices of a kind are returned, if an organisation can add them. */
export const maxChoices = 500

const StoredChoices = z.array(MetaChoice).max(maxChoices)

export const EditionMeta = z
  .object({
    timezones: z.array(MetaChoice),
    languages: z.array(MetaChoice),
    country_codes: z.array(MetaChoice),
    currencies: z.array(MetaChoice),
    tax_types: z.array(MetaChoice),
    sms_sender_names: z.array(MetaChoice),
    fee_rules: StoredChoices,
    merchant_accounts: z.array(MerchantAccountMetaChoice).max(maxChoices),
    receipt_emails: StoredChoices,
    refund_confirmation_emails: StoredChoices,
    events: StoredChoices,
  })
  .openapi('EditionMeta')
