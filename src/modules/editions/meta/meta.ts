import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { decodeAs, fromJson, type RowOf, buildSelectList } from '../../../db/select.ts'
import { type Visibility, buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import { receiptEmailTypes, refundConfirmationEmailTypes } from '../../../domain/editions/editions.ts'
import { maxChoices } from '../contract-resources.ts'

interface ChoiceRow {
  value: string
  label: string
  description: string
}

interface MerchantAccountChoiceRow extends ChoiceRow {
  type: string
  supported_currencies: string[]
}

const isEditionIn = (ids: readonly string[]) => inList(sql`editions.id`, ids)

/** A role in an edition gives access to the fee rules and merchant accounts of its organisation. */
const organizationVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`organizations.id`, ids),
  inEditions: (ids) => sql`organizations.id in (select organization_id from editions where ${isEditionIn(ids)})`,
}

const eventVisibility: Visibility = {
  inOrganizations: (ids) => inList(sql`events.organization_id`, ids),
  inEditions: (ids) => sql`events.id in (select event_id from editions where ${isEditionIn(ids)})`,
}

const choice = sql`'value', value, 'label', label, 'description', description`

/** Messages that an edition can use: the platform's, the organisation's, and those of editions that the caller may see. */
const selectEmails = (ctx: Ctx, types: readonly string[]) =>
  fromJson<ChoiceRow[]>(sql`(select json_group_array(json_object(${choice})) from (
  select email_messages.id as value, email_messages.title as label,
    coalesce(editions.full_name, reached.name, 'Platform') as description
  from email_messages left join reached on reached.id = email_messages.organization_id
    left join editions on editions.id = email_messages.edition_id
  where ${inList(sql`email_messages.type`, types)}
    and (reached.id is not null or (email_messages.organization_id is null and exists (select 1 from reached)))
    and (email_messages.edition_id is null
      or ${isVisibleTo(ctx.caller, buildVisibility(sql`email_messages.organization_id`, sql`email_messages.edition_id`))})
  order by title_key, value limit ${maxChoices}))`)

/** The fields of a query that has the caller's organisations as `reached`. */
const buildChoiceFields = (ctx: Ctx) => ({
  fee_rules: fromJson<ChoiceRow[]>(sql`(select json_group_array(json_object(${choice})) from (
    select fee_rules.id as value, fee_rules.name as label, fee_rules.description
    from fee_rules join reached on reached.id = organization_id
    where is_active = 1 order by label, value limit ${maxChoices}))`),
  merchant_accounts: fromJson<MerchantAccountChoiceRow[]>(sql`(select json_group_array(json_object(${choice},
      'type', type, 'supported_currencies', json(supported_currencies)))
    from (select merchant_accounts.id as value, merchant_accounts.name as label, description, type, supported_currencies
    from merchant_accounts join reached on reached.id = organization_id
    where is_active = 1 order by merchant_accounts.name_key, value limit ${maxChoices}))`),
  receipt_emails: selectEmails(ctx, receiptEmailTypes),
  refund_confirmation_emails: selectEmails(ctx, refundConfirmationEmailTypes),
  events: fromJson<ChoiceRow[]>(sql`(select json_group_array(json_object(${choice})) from (
    select events.id as value, events.name as label, reached.name as description
    from events join reached on reached.id = organization_id
    where ${isVisibleTo(ctx.caller, eventVisibility)} order by events.name_key, value limit ${maxChoices}))`),
})

export type EditionChoices = RowOf<ReturnType<typeof buildChoiceFields>>

/** Reads all choices in one statement. There are none if the caller has no role in `organizationId`. */
export async function readEditionChoices(ctx: Ctx, organizationId: string | undefined): Promise<EditionChoices> {
  const isRequested = organizationId ? sql`organizations.id = ${organizationId}` : sql`1`
  const fields = buildChoiceFields(ctx)
  const row = await ctx.db.first(
    decodeAs(
      fields,
      sql<EditionChoices>`with reached as (
          select id, name from organizations where ${isVisibleTo(ctx.caller, organizationVisibility)} and ${isRequested}
        ) select ${buildSelectList(fields)}`,
    ),
  )
  if (!row) throw new Error('a select without a table returns one row')
  return row
}
