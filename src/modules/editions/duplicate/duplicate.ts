import { and, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, abortUnless } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import { copyWordings } from '../../../db/consents.ts'
import type { Statement } from '../../../db/database.ts'
import { categories, locations, options, products, variants } from '../../../db/schema/catalog.ts'
import { consents } from '../../../db/schema/consents.ts'
import { editions, events } from '../../../db/schema/editions.ts'
import { emailMessages } from '../../../db/schema/email-messages.ts'
import { triggers } from '../../../db/schema/transactional-emails.ts'
import { passDesigns } from '../../../db/schema/wallet.ts'
import { select } from '../../../db/select.ts'
import { copiedParent, copyRows, insert } from '../../../db/write.ts'
import { type CopyPlan, type CopySource, emptyCopySource, planCopy } from '../../../domain/editions/edition-copy.ts'
import { formatEditionName } from '../../../domain/editions/editions.ts'
import { doesNotExist, fieldError, invalid, LostRace } from '../../../domain/errors.ts'
import { buildSearchText, buildSortKey } from '../../../domain/text/fold.ts'
import { pickFreeSlug, slugify } from '../../../domain/text/text.ts'
import { requireEventName, selectSlug, uniqueSlug, selectSlugsFrom } from '../create.ts'
import type { EditionDetailRow } from '../queries.ts'
import { selectCopySource } from './copy-source.ts'
import type { DuplicateEditionInput } from './duplicate-contract.ts'

const createSlugError = () =>
  fieldError(
    ['slug'],
    'unique',
    'Another edition of the organisation has this slug. Choose another one, or leave `slug` out.',
  )

/** Loads the rows to copy, and decides the event and the slug of the copy. */
async function load(ctx: Ctx, source: EditionDetailRow, input: DuplicateEditionInput) {
  const event_id = input.event_id ?? source.event_id
  const statements = selectCopySource(source, input.email_template_mode)
  const event = select({ name: events.name })
    .from(events)
    .where(and(eq(events.id, event_id), eq(events.organization_id, source.organization_id)))
  const { event: [eventRow] = [], ...sourceRows } = await ctx.db.batchNamed({ event, ...statements })
  const rows: CopySource = { ...emptyCopySource, ...sourceRows }
  if (!eventRow) throw doesNotExist('event_id')
  const full_name = formatEditionName(eventRow.name, input.name)
  return { rows, event_id, event_name: eventRow.name, full_name, slug: await chooseSlug(ctx, source, input, full_name) }
}

async function chooseSlug(
  ctx: Ctx,
  { organization_id }: EditionDetailRow,
  input: DuplicateEditionInput,
  fullName: string,
): Promise<string> {
  const base = input.slug ?? slugify(fullName, 'edition')
  const query = input.slug === undefined ? selectSlugsFrom(organization_id, base) : selectSlug(organization_id, base)
  const takenSlugs = new Set((await ctx.db.all(query)).map(({ slug }) => slug))
  if (input.slug !== undefined && takenSlugs.size) throw invalid(createSlugError())
  return input.slug ?? pickFreeSlug(base, takenSlugs)
}

/** Aborts the batch if the source has changed, or a message that it uses was deleted. */
function requireUnchangedSource(source: EditionDetailRow, plan: CopyPlan): Statement {
  const messages = plan.rows.email_messages.map(({ from }) => from)
  return abortUnless(sql`exists (select 1 from editions where id = ${source.id} and version = ${source.version})
    and (select count(*) from email_messages where ${inList(sql`id`, messages)}) = ${messages.length}`)
}

/** The aliases belong to the copied products with the same names. */
const copyAliases = (source: string, edition: EditionDetailRow): Statement =>
  sql`insert into product_aliases (edition_id, name_folded, product_id, name, created_at)
    select ${edition.id}, alias.name_folded, copied.id, alias.name, ${edition.created_at}
    from product_aliases as alias cross join products as original on original.id = alias.product_id
      cross join products as copied on copied.edition_id = ${edition.id} and copied.name_folded = original.name_folded
    where alias.edition_id = ${source}`

function copyContents(source: string, edition: EditionDetailRow, { rows }: CopyPlan): Statement[] {
  const now = edition.created_at
  const copyColumns = {
    edition_id: sql`${edition.id}`,
    created_at: sql`${now}`,
    modified_at: sql`${now}`,
    version: sql`1`,
  }
  const message = { organization_id: sql`${edition.organization_id}`, scope: sql`'edition'`, is_locked: sql`0` }
  const consent = { origin_id: sql`source.id`, wording_version: sql`1` }
  const copiedConsents = copyRows(consents, rows.consents, { ...copyColumns, ...consent })
  return [
    ...copyRows(categories, rows.categories, copyColumns),
    ...copyRows(products, rows.products, { ...copyColumns, category_id: copiedParent }),
    copyAliases(source, edition),
    ...copyRows(variants, rows.variants, { ...copyColumns, product_id: copiedParent }),
    ...copyRows(options, rows.options, { ...copyColumns, product_id: copiedParent }),
    ...copyRows(locations, rows.locations, copyColumns),
    ...copyRows(emailMessages, rows.email_messages, { ...copyColumns, ...message }),
    ...copyRows(triggers, rows.triggers, { ...copyColumns, email_message_id: copiedParent }),
    ...copiedConsents,
    ...(copiedConsents.length ? [copyWordings(edition.id)] : []),
    ...copyRows(passDesigns, rows.pass_designs, { ...copyColumns, product_id: copiedParent }),
  ]
}

/** Copies an edition as a draft, in one transaction. */
export async function duplicateEdition(
  ctx: Ctx,
  source: EditionDetailRow,
  input: DuplicateEditionInput,
): Promise<EditionDetailRow> {
  const { rows, event_id, event_name, full_name, slug } = await load(ctx, source, input)
  const plan = planCopy(rows, input.email_template_mode, ctx.newId)
  const now = ctx.now()
  const copy: EditionDetailRow = {
    ...source,
    id: ctx.newId('edition'),
    event_id,
    event_name,
    name: input.name,
    name_key: buildSortKey(input.name),
    full_name,
    slug,
    is_draft: true,
    is_archived: false,
    published_at: null,
    transaction_receipt_email_id: plan.findMessage(source.transaction_receipt_email_id),
    refund_confirmation_email_id: plan.findMessage(source.refund_confirmation_email_id),
    search: buildSearchText(full_name, slug),
    version: 1,
    created_at: now,
    modified_at: now,
  }
  return commit(
    ctx,
    copy,
    [
      requireUnchangedSource(source, plan),
      requireEventName(event_id, event_name),
      insert(editions, copy),
      ...copyContents(source.id, copy, plan),
    ],
    {
      [uniqueSlug]: () =>
        input.slug === undefined ? new LostRace('another edition took the slug') : invalid(createSlugError()),
    },
  )
}
