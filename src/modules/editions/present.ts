import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../context.ts'
import { getEditionStatus } from '../../domain/editions/editions.ts'
import { buildImageOrNull } from '../../domain/files/addresses.ts'
import { toIso, toIsoOrNull } from '../../domain/time/instants.ts'
import { presentOrganizationSummary } from '../organizations/index.ts'
import type { EditionDetail, EditionListItem } from './contract-resources.ts'
import type { EditionDetailRow, EditionListRow } from './queries.ts'

export const presentEditionListItem = (row: EditionListRow, ctx: Ctx): z.input<typeof EditionListItem> => ({
  id: row.id,
  name: row.name,
  full_name: row.full_name,
  slug: row.slug,
  start_date: toIsoOrNull(row.start_at),
  end_date: toIsoOrNull(row.end_at),
  timezone: row.timezone,
  is_draft: row.is_draft,
  is_archived: row.is_archived,
  published_at: toIsoOrNull(row.published_at),
  organization: presentOrganizationSummary(row, ctx),
  status: getEditionStatus(row, ctx.now()),
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})

export const presentEdition = (row: EditionDetailRow, ctx: Ctx): z.input<typeof EditionDetail> => ({
  id: row.id,
  name: row.name,
  full_name: row.full_name,
  slug: row.slug,
  organization: presentOrganizationSummary(row, ctx),
  event: { id: row.event_id, name: row.event_name },
  start_date: toIsoOrNull(row.start_at),
  end_date: toIsoOrNull(row.end_at),
  timezone: row.timezone,
  status: getEditionStatus(row, ctx.now()),
  default_country_code: row.default_country_code,
  is_draft: row.is_draft,
  is_archived: row.is_archived,
  published_at: toIsoOrNull(row.published_at),
  default_language: row.default_language,
  enabled_languages: [...row.enabled_languages],
  tax_type: row.tax_type,
  default_price_tax_rate: row.default_price_tax_rate,
  default_deposit_tax_rate: row.default_deposit_tax_rate,
  default_packaging_deposit_tax_rate: row.default_packaging_deposit_tax_rate,
  currency: row.currency,
  fee_rule_id: row.fee_rule_id,
  merchant_account_id: row.merchant_account_id,
  merchant_account_extra_parameters: row.merchant_account_extra_parameters,
  merchant_id: row.merchant_id,
  metadata: row.metadata,
  sms_sender_name: row.sms_sender_name,
  email_sender_name: row.email_sender_name,
  email_sender_address: row.email_sender_address,
  email_reply_to: row.email_reply_to,
  meta_title: row.meta_title,
  meta_description: row.meta_description,
  meta_image: buildImageOrNull(ctx.config.files.url, row.meta_image_id, row.image_key),
  meta_image_id: row.meta_image_id,
  transaction_receipt_email_id: row.transaction_receipt_email_id,
  refund_confirmation_email_id: row.refund_confirmation_email_id,
  created: toIso(row.created_at),
  modified: toIso(row.modified_at),
})
