import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { abortUnless, commit } from '../../db/commit.ts'
import { editions, events } from '../../db/schema/editions.ts'
import { organizations } from '../../db/schema/organizations.ts'
import { select } from '../../db/select.ts'
import { insert } from '../../db/write.ts'
import { pickDefaultCurrency, formatEditionName, endsBeforeStart } from '../../domain/editions/editions.ts'
import { doesNotExist, fieldError, invalid, LostRace } from '../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../domain/text/fold.ts'
import { pickFreeSlug, slugify } from '../../domain/text/text.ts'
import { organizationSummaryFields } from '../organizations/index.ts'
import type { CreateEditionInput } from './contract.ts'
import type { EditionDetailRow, EditionRow } from './queries.ts'

export const createPeriodError = (field: 'start_date' | 'end_date') =>
  invalid(fieldError([field], 'end_before_start', 'The end must not be before the start.'))

type LanguageColumns = Pick<EditionRow, 'default_language' | 'enabled_languages'>

/**
 * Checks that the default language is enabled, if either has changed. `before` is null for a new edition. An unchanged
 * list must be the same array.
 */
export function checkLanguages(before: LanguageColumns | null, after: LanguageColumns): void {
  const { default_language, enabled_languages } = after
  const isChanged = before?.default_language !== default_language || before.enabled_languages !== enabled_languages
  if (!isChanged || enabled_languages.includes(default_language)) return
  const field = before?.default_language === default_language ? 'enabled_languages' : 'default_language'
  const detail = `The default language ${default_language} must be one of the enabled languages: ${enabled_languages.join(', ')}.`
  throw invalid(fieldError([field], 'language_not_enabled', detail))
}

const createSlugRace = () => new LostRace('another edition took the slug')

/** Loads the organisation and the name of its event. Throws if either does not exist. */
async function loadParents(ctx: Ctx, input: CreateEditionInput) {
  const row = await ctx.db.first(
    select({ ...organizationSummaryFields, event_name: events.name })
      .from(organizations)
      .leftJoin(events, and(eq(events.id, input.event_id), eq(events.organization_id, organizations.id)))
      .where(eq(organizations.id, input.organization_id)),
  )
  if (!row) throw doesNotExist('organization_id')
  const { event_name, ...organization } = row
  if (event_name === null) throw doesNotExist('event_id')
  return { organization, event_name }
}

/** Aborts the commit of a full name if the event was renamed since the read. */
export const requireEventName = (id: string, name: string): SQL =>
  abortUnless(sql`exists (select 1 from events where id = ${id} and name = ${name})`)

async function findFreeSlug(ctx: Ctx, organizationId: string, base: string): Promise<string> {
  const rows = await ctx.db.all(selectSlugsFrom(organizationId, base))
  return pickFreeSlug(base, new Set(rows.map((row) => row.slug)))
}

export async function createEdition(ctx: Ctx, input: CreateEditionInput): Promise<EditionDetailRow> {
  const period = { start_at: input.start_date ?? null, end_at: input.end_date ?? null }
  if (endsBeforeStart(period)) throw createPeriodError('end_date')
  const { default_language } = input
  const languages = { default_language, enabled_languages: input.enabled_languages ?? [default_language] }
  checkLanguages(null, languages)
  const { organization, event_name } = await loadParents(ctx, input)
  const full_name = formatEditionName(event_name, input.name)
  const slug = await findFreeSlug(ctx, input.organization_id, slugify(full_name, 'edition'))
  const now = ctx.now()
  const row = {
    id: ctx.newId('edition'),
    organization_id: input.organization_id,
    event_id: input.event_id,
    name: input.name,
    name_key: buildSortKey(input.name),
    full_name,
    slug,
    ...period,
    timezone: input.timezone,
    default_country_code: input.default_country_code,
    is_draft: true,
    is_archived: false,
    published_at: null,
    ...languages,
    tax_type: input.tax_type,
    default_price_tax_rate: 0,
    default_deposit_tax_rate: 0,
    default_packaging_deposit_tax_rate: 0,
    currency: pickDefaultCurrency(input.default_country_code),
    fee_rule_id: null,
    merchant_account_id: null,
    merchant_account_extra_parameters: {},
    merchant_id: {},
    metadata: {},
    sms_sender_name: 'Unset' as const,
    email_sender_name: null,
    email_sender_address: null,
    email_reply_to: null,
    sender_changed_by: null,
    sender_changed_at: null,
    meta_title: {},
    meta_description: {},
    meta_image_id: null,
    transaction_receipt_email_id: null,
    refund_confirmation_email_id: null,
    search: buildSearchText(full_name, slug),
    version: 1,
    created_at: now,
    modified_at: now,
  }
  const result = { ...row, ...organization, event_name, image_key: null }
  const statements = [requireEventName(input.event_id, event_name), insert(editions, row)]
  return commit(ctx, result, statements, { [uniqueSlug]: createSlugRace })
}

const { slug: column, organization_id } = editions

const selectSlugs = () => select({ slug: column }).from(editions)

/** The slugs of an organisation that begin with `base`, which `pickFreeSlug` must avoid. */
export const selectSlugsFrom = (organizationId: string, base: string) =>
  selectSlugs().where(and(eq(organization_id, organizationId), gte(column, base), lt(column, `${base}.`)))

export const selectSlug = (organizationId: string, slug: string) =>
  selectSlugs().where(and(eq(organization_id, organizationId), eq(column, slug)))

/** The columns of the unique index that an insert violates if another edition has the slug. */
export const uniqueSlug = 'editions.organization_id, editions.slug'
