import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList, type Visibility, visibilityOf, visible } from '../../../db/visibility.ts'
import { receiptEmailTypes, refundConfirmationEmailTypes } from '../../../domain/editions/editions.ts'
import { choicesShown } from '../contract-resources.ts'

interface ChoiceRow {
  value: string
  label: string
  description: string
}

/** Choices that organisations keep. */
export interface EditionChoices {
  fee_rules: ChoiceRow[]
  merchant_accounts: (ChoiceRow & { type: string; supported_currencies: string[] })[]
  receipt_emails: ChoiceRow[]
  refund_confirmation_emails: ChoiceRow[]
  events: ChoiceRow[]
}

const editionIn = (ids: readonly string[]) => inList(sql`editions.id`, ids)

/** Who has a role in an edition chooses among the fee rules and merchant accounts of its organisation too. */
const organizationVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`organizations.id`, ids),
  inEditions: (ids) => sql`organizations.id in (select organization_id from editions where ${editionIn(ids)})`,
}

const eventVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`events.organization_id`, ids),
  inEditions: (ids) => sql`events.id in (select event_id from editions where ${editionIn(ids)})`,
}

const choice = sql`'value', value, 'label', label, 'description', description`

/** Messages that an edition may use: the platform's, the organisation's, and those of editions that the caller sees. */
const emails = (ctx: Ctx, types: readonly string[]) => sql`(select json_group_array(json_object(${choice})) from (
  select email_messages.id as value, email_messages.title as label,
    coalesce(editions.full_name, reached.name, 'Platform') as description
  from email_messages left join reached on reached.id = email_messages.organization_id
    left join editions on editions.id = email_messages.edition_id
  where ${inList(sql`email_messages.type`, types)}
    and (reached.id is not null or (email_messages.organization_id is null and exists (select 1 from reached)))
    and (email_messages.edition_id is null
      or ${visible(ctx.caller, visibilityOf(sql`email_messages.organization_id`, sql`email_messages.edition_id`))})
  order by label, value limit ${choicesShown}))`

/** All of them as one statement; none when `organizationId` is not one of the caller's organisations. */
export async function readEditionChoices(ctx: Ctx, organizationId: string | undefined): Promise<EditionChoices> {
  const narrowed = organizationId ? sql`organizations.id = ${organizationId}` : sql`1`
  const row = await ctx.db.first(sql<Record<keyof EditionChoices, string>>`
    with reached as (
      select id, name from organizations where ${visible(ctx.caller, organizationVisibility)} and ${narrowed}
    ) select
    (select json_group_array(json_object(${choice})) from (
      select fee_rules.id as value, fee_rules.name as label, fee_rules.description
      from fee_rules join reached on reached.id = organization_id
      where is_active = 1 order by label, value limit ${choicesShown})) as fee_rules,
    (select json_group_array(json_object(${choice}, 'type', type, 'supported_currencies', json(supported_currencies)))
      from (select merchant_accounts.id as value, merchant_accounts.name as label, description, type, supported_currencies
      from merchant_accounts join reached on reached.id = organization_id
      where is_active = 1 order by label, value limit ${choicesShown})) as merchant_accounts,
    ${emails(ctx, receiptEmailTypes)} as receipt_emails,
    ${emails(ctx, refundConfirmationEmailTypes)} as refund_confirmation_emails,
    (select json_group_array(json_object(${choice})) from (
      select events.id as value, events.name as label, reached.name as description
      from events join reached on reached.id = organization_id
      where ${visible(ctx.caller, eventVisibility)} order by label, value limit ${choicesShown})) as events`)
  const list = <Row>(json: string | undefined) => JSON.parse(json ?? '[]') as Row[]
  return {
    fee_rules: list(row?.fee_rules),
    merchant_accounts: list(row?.merchant_accounts),
    receipt_emails: list(row?.receipt_emails),
    refund_confirmation_emails: list(row?.refund_confirmation_emails),
    events: list(row?.events),
  }
}
