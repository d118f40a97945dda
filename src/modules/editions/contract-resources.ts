import { z } from '@hono/zod-openapi'
import { countryCodes, editionStatuses, smsSenderNames, taxTypes } from '../../domain/editions.ts'
import { currencies } from '../../domain/money.ts'
import { slugPattern } from '../../domain/slug.ts'
import {
  Id,
  Image,
  JsonObject,
  LanguageCode,
  OrganizationSummary,
  orNull,
  Timestamp,
  Translated,
} from '../../http/fields.ts'

/** What goes out, and the fields that go out as they come in. */

const Slug = z.string().regex(slugPattern).openapi({ example: 'nordlys-festival-2026' })
export const CountryCode = z.enum(countryCodes)
export const TaxType = z.enum(taxTypes)
export const Currency = z.enum(currencies)
export const SmsSenderName = z.enum(smsSenderNames)
export const MetaTitle = Translated(1000)
export const MetaDescription = Translated(5000)

export const EditionListItem = z
  .object({
    id: Id('edt'),
    name: z.string(),
    full_name: z.string(),
    slug: Slug,
    start_date: Timestamp.nullable().openapi({ description: 'Null while the edition has no start.' }),
    end_date: Timestamp.nullable().openapi({ description: 'Null while the edition has no end.' }),
    timezone: z.string().openapi({ example: 'Europe/Copenhagen' }),
    is_draft: z.boolean(),
    is_archived: z.boolean(),
    published_at: Timestamp.nullable().openapi({ description: 'Null while the edition was never published.' }),
    organization: OrganizationSummary,
    status: z.enum(editionStatuses),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('EditionListItem')

export const EditionDetail = z
  .object({
    id: Id('edt'),
    name: z.string(),
    full_name: z.string(),
    slug: Slug,
    organization: OrganizationSummary,
    event: z.object({ id: Id('evt'), name: z.string() }),
    start_date: Timestamp.nullable().openapi({ description: 'Null while the edition has no start.' }),
    end_date: Timestamp.nullable().openapi({ description: 'Null while the edition has no end.' }),
    timezone: z.string().openapi({ example: 'Europe/Copenhagen' }),
    status: z.enum(editionStatuses),
    default_country_code: CountryCode,
    is_draft: z.boolean(),
    is_archived: z.boolean(),
    published_at: Timestamp.nullable().openapi({
      description: 'When it was first published; null while it never was.',
    }),
    default_language: LanguageCode,
    enabled_languages: z.array(LanguageCode),
    tax_type: TaxType,
    default_price_tax_rate: z.number(),
    default_deposit_tax_rate: z.number(),
    default_packaging_deposit_tax_rate: z.number(),
    currency: Currency,
    fee_rule_id: z.string().nullable().openapi({ description: 'Null while none is chosen.' }),
    merchant_account_id: z.string().nullable().openapi({ description: 'Null while none is chosen.' }),
    merchant_account_extra_parameters: JsonObject,
    merchant_id: JsonObject,
    metadata: JsonObject,
    sms_sender_name: SmsSenderName,
    email_sender_name: z
      .string()
      .nullable()
      .openapi({ description: 'Null: the name of the edition stands in the mail.' }),
    email_sender_address: z
      .string()
      .nullable()
      .openapi({ description: 'Null: mails come from the address of the platform.' }),
    email_reply_to: z.string().nullable().openapi({
      description: 'Null: replies go to `email_sender_address`, or to the platform where that is null too.',
    }),
    meta_title: MetaTitle,
    meta_description: MetaDescription,
    meta_image: orNull(Image).openapi({ description: 'Null without `meta_image_id`.' }),
    meta_image_id: z.string().nullable().openapi({ description: 'Null while none is chosen.' }),
    transaction_receipt_email_id: z
      .string()
      .nullable()
      .openapi({ description: 'Null while none is chosen: no receipts are sent.' }),
    refund_confirmation_email_id: z
      .string()
      .nullable()
      .openapi({ description: 'Null while none is chosen: no confirmations are sent.' }),
    created: Timestamp,
    modified: Timestamp,
  })
  .openapi('EditionDetail')

export const MetaChoice = z
  .object({ value: z.string(), label: z.string(), description: z.string() })
  .openapi('MetaChoice')

export const MerchantAccountMetaChoice = MetaChoice.extend({
  type: z.string(),
  supported_currencies: z.array(z.string()),
}).openapi('MerchantAccountMetaChoice')

export const EditionMeta = z
  .object({
    timezones: z.array(MetaChoice),
    languages: z.array(MetaChoice),
    country_codes: z.array(MetaChoice),
    currencies: z.array(MetaChoice),
    tax_types: z.array(MetaChoice),
    sms_sender_names: z.array(MetaChoice),
    fee_rules: z.array(MetaChoice),
    merchant_accounts: z.array(MerchantAccountMetaChoice),
    receipt_emails: z.array(MetaChoice),
    refund_confirmation_emails: z.array(MetaChoice),
    events: z.array(MetaChoice),
  })
  .openapi('EditionMeta')
