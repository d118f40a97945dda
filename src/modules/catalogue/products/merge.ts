import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { countApprovedCampaigns } from '../../../db/campaign-approvals.ts'
import { abortUnless, commit, requireChanges } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { productMerges, products } from '../../../db/schema/catalog.ts'
import { select } from '../../../db/select.ts'
import { buildVisibility, isVisibleTo } from '../../../db/visibility.ts'
import { insert, update, updateVersion } from '../../../db/write.ts'
import { warnAboutLostApprovals } from '../../../domain/campaigns/approval.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import type { Block } from '../../../domain/email/blocks/blocks.ts'
import { mapConditions } from '../../../domain/email/blocks/conditions.ts'
import { doesNotExist, fieldError, type FieldError, invalid } from '../../../domain/errors.ts'
import { fold } from '../../../domain/text/fold.ts'
import { openEditions } from '../../editions/index.ts'
import { buildStep, findStepEnd, ordersPerStep, type ProductMerge, productMerging, replaceId } from './move-orders.ts'
import type { MergeProductsInput } from './product-contract.ts'
import { type LoadedProduct, type ProductRow, selectProduct } from './queries.ts'

interface Part {
  id: string
  name: string
}

/** Pairs the parts of the source product with the parts of the same name. Others move as they are. */
function pairParts(
  sourceParts: readonly Part[],
  ownParts: readonly Part[],
): { replacements: Record<string, string>; unpairedParts: Part[] } {
  const ownIds = new Map(ownParts.map(({ id, name }) => [fold(name), id]))
  const pairs = sourceParts.flatMap(({ id, name }) => {
    const ownId = ownIds.get(fold(name))
    return ownId === undefined ? [] : [[id, ownId] as const]
  })
  const replacements = Object.fromEntries(pairs)
  return { replacements, unpairedParts: sourceParts.filter(({ id }) => !(id in replacements)) }
}

interface Plan {
  merge: ProductMerge
  result: ProductRow
  unpairedVariants: Part[]
  unpairedOptions: Part[]
}

function planMerge(ctx: Ctx, product: LoadedProduct, source: ProductRow): Plan {
  const now = ctx.now()
  const variants = pairParts(source.variants, product.variants)
  const options = pairParts(source.options, product.options)
  const unpairedIds = new Set([...variants.unpairedParts, ...options.unpairedParts].map(({ id }) => id))
  const images = product.image_ids.length > 0 ? product : source
  return {
    unpairedVariants: variants.unpairedParts,
    unpairedOptions: options.unpairedParts,
    merge: {
      id: source.id,
      edition_id: product.edition_id,
      into_id: product.id,
      ids: { [source.id]: product.id, ...variants.replacements, ...options.replacements },
      orders_created_at: -1,
      orders_seq: -1,
      due_at: now,
      claimed_until: null,
      merged_at: now,
    },
    result: {
      ...product,
      category_id: product.category_id ?? source.category_id,
      name_translations: { ...source.name_translations, ...product.name_translations },
      price_minor: product.price_minor ?? source.price_minor,
      deposit_minor: product.deposit_minor ?? source.deposit_minor,
      image_ids: images.image_ids,
      images: images.images,
      aliases: [...product.aliases, ...source.aliases, source.name],
      variants: [...product.variants, ...source.variants.filter(({ id }) => unpairedIds.has(id))],
      options: [...product.options, ...source.options.filter(({ id }) => unpairedIds.has(id))],
      version: product.version + 1,
      modified_at: now,
    },
  }
}

/** Aborts the batch if a variant or an option was added or removed meanwhile, or the source product has changed. */
const requireSameParts = (product: ProductRow): Statement =>
  abortUnless(sql`(select count(*) from variants where product_id = ${product.id}) = ${product.variants.length}
    and (select count(*) from options where product_id = ${product.id}) = ${product.options.length}`)

const moveParts = (table: 'variants' | 'options', parts: readonly Part[], intoId: string): Statement[] =>
  parts.length === 0
    ? []
    : [
        sql`update ${sql.raw(table)} set product_id = ${intoId}
          where ${inList(
            sql`id`,
            parts.map(({ id }) => id),
          )}`,
        requireChanges(parts.length),
      ]

function buildProductStatements(product: ProductRow, source: ProductRow, { result }: Plan): Statement[] {
  const { id, edition_id } = product
  const now = result.modified_at
  return [
    update(products, { merged_into_id: id }, eq(products.merged_into_id, source.id)),
    // The source has the other name while orders have its id. Its own name becomes an alias, and its id stands in for it.
    ...updateVersion(products, source, {
      ...buildNameColumns(product.name),
      name_translations: result.name_translations,
      name_folded: source.id,
      merged_into_id: id,
      category_id: null,
      images: [],
      modified_at: now,
    }),
    ...updateVersion(products, product, {
      category_id: result.category_id,
      name_translations: result.name_translations,
      price_minor: result.price_minor,
      deposit_minor: result.deposit_minor,
      images: result.image_ids,
      modified_at: now,
    }),
    sql`update product_aliases set product_id = ${id} where product_id = ${source.id}`,
    sql`insert into product_aliases (edition_id, name_folded, product_id, name, created_at)
      values (${edition_id}, ${fold(source.name)}, ${id}, ${source.name}, ${now})`,
  ]
}

/** The designs of the source product go to the other one, unless that one has its own. */
const buildDesignStatements = ({ edition_id, id, into_id }: ProductMerge): Statement[] => {
  const isOfSource = sql`edition_id = ${edition_id} and product_id = ${id}`
  return [
    sql`delete from pass_designs where ${isOfSource}
      and exists (select 1 from pass_designs where edition_id = ${edition_id} and product_id = ${into_id})`,
    sql`update pass_designs set product_id = ${into_id} where ${isOfSource}`,
  ]
}

/** Mappings of imports, what the edition remembers of them, and the filters of refund batches name the other product. */
function buildReferenceStatements({ edition_id, id, into_id, ids: replacements }: ProductMerge): Statement[] {
  const ids = JSON.stringify(replacements)
  const target = sql`product_id = ${into_id}, variant_id = ${replaceId(ids, sql`variant_id`)},
    option_ids = (select json_group_array(${replaceId(ids, sql`value`)}) from json_each(option_ids))`
  const isOfEdition = sql`import_id in (select id from data_imports where edition_id = ${edition_id})`
  const hasReplacement = (column: SQL): SQL => sql`${ids} ->> (${column}) is not null`
  return [
    sql`update import_products set ${target} where ${isOfEdition} and product_id = ${id}`,
    sql`update import_products
      set similar_product = json_set(similar_product, '$.id', ${ids} ->> (similar_product ->> 'id'))
      where ${isOfEdition} and similar_product is not null and ${hasReplacement(sql`similar_product ->> 'id'`)}`,
    sql`update import_product_history set ${target} where edition_id = ${edition_id} and product_id = ${id}`,
    ...['product_id', 'variant_id'].map(
      (name) => sql`update refund_batches
        set filter = json_set(filter, ${`$.${name}`}, ${ids} ->> (filter ->> ${name}))
        where edition_id = ${edition_id} and ${hasReplacement(sql`filter ->> ${name}`)}`,
    ),
  ]
}

interface NamingRow {
  id: string
  text: string
}

interface ChangedRow extends NamingRow {
  changedText: string
}

/** The segments, messages and started campaigns of which an expression names a product that is merged. */
interface NamingRows {
  segments: readonly ChangedRow[]
  messages: readonly ChangedRow[]
  campaignIds: readonly string[]
}

function replaceInBlocks(text: string, replaceIds: (expression: string) => string): string {
  const blocks = JSON.parse(text) as Block[]
  const changedBlocks = mapConditions(blocks, replaceIds)
  return JSON.stringify(changedBlocks) === JSON.stringify(blocks) ? text : JSON.stringify(changedBlocks)
}

/** Finds what names the replaced ids in expressions of segments and in conditions of blocks. */
async function findNamingRows(
  ctx: Ctx,
  { organization_id }: ProductRow,
  ids: Record<string, string>,
): Promise<NamingRows> {
  const formerIds = JSON.stringify(Object.keys(ids))
  const namesOne = (text: SQL) =>
    sql`exists (select 1 from json_each(${formerIds}) as former where instr(${text}, former.value))`
  const replaceIds = (text: string): string =>
    Object.entries(ids).reduce((result, [former, id]) => result.replaceAll(former, id), text)
  const rows = await ctx.db.all(
    sql<NamingRow & { kind: 'segment' | 'message' | 'campaign' }>`select 'segment' as kind, id, expression as text
        from segments where organization_id = ${organization_id} and deleted_at is null and ${namesOne(sql`expression`)}
      union all select 'message', id, blocks from email_messages
        where organization_id = ${organization_id} and ${namesOne(sql`blocks`)}
      union all select 'campaign', campaign_id, expression from campaign_conditions
        where campaign_id in (select id from campaigns where organization_id = ${organization_id})
          and ${namesOne(sql`expression`)}`,
  )
  const pick = (kind: string): NamingRow[] => rows.filter((row) => row.kind === kind)
  return {
    segments: pick('segment').map((row) => ({ ...row, changedText: replaceIds(row.text) })),
    // Texts of blocks may contain an id too, and stay.
    messages: pick('message')
      .map((row) => ({ ...row, changedText: replaceInBlocks(row.text, replaceIds) }))
      .filter(({ text, changedText }) => text !== changedText),
    campaignIds: pick('campaign').map(({ id }) => id),
  }
}

/** Replaces texts with the changed ones, and sets further columns. An edit at the same time aborts the batch. */
function replaceTexts(table: SQL, column: SQL, rows: readonly ChangedRow[], columns: SQL): Statement[] {
  if (rows.length === 0) return []
  const changes = rows.map(({ id, text, changedText }) => [id, text, changedText])
  return [
    sql`update ${table} set ${column} = item.value ->> 2, ${columns} from json_each(${JSON.stringify(changes)}) as item
      where ${table}.id = item.value ->> 0 and ${table}.${column} = item.value ->> 1`,
    requireChanges(changes.length),
  ]
}

/**
 * Replaces the ids in segments, in messages, and in the conditions of campaigns that have begun. The product has the
 * buyers of both from now on, so campaigns to these segments and with these messages need a new approval.
 */
function buildExpressionStatements(
  ctx: Ctx,
  ids: Record<string, string>,
  { segments, messages, campaignIds }: NamingRows,
): Statement[] {
  const [changer, now] = [ctx.caller.id, ctx.now()]
  const replacements = campaignIds.length === 0 ? [] : Object.entries(ids)
  const storedConditions = replacements.map(
    ([former, id]) => sql`update campaign_conditions set expression = replace(expression, ${former}, ${id})
      where ${inList(sql`campaign_id`, campaignIds)} and instr(expression, ${former})`,
  )
  return [
    ...replaceTexts(
      sql`segments`,
      sql`expression`,
      segments,
      sql`content_version = content_version + 1, content_changed_by = ${changer}, content_changed_at = ${now}`,
    ),
    ...replaceTexts(
      sql`email_messages`,
      sql`blocks`,
      messages,
      sql`version = version + 1, modified_by = ${changer}, modified_at = ${now}`,
    ),
    ...storedConditions,
  ]
}

/** Warns about scheduled campaigns that lose their approval, as far as the caller may see them. */
async function listApprovalWarnings(ctx: Ctx, { segments, messages }: NamingRows): Promise<FieldError[]> {
  if (segments.length + messages.length === 0) return []
  const isOneOf = (column: SQL, rows: readonly ChangedRow[]) =>
    inList(
      column,
      rows.map(({ id }) => id),
    )
  const isSeen = isVisibleTo(ctx.caller, buildVisibility(sql`c.organization_id`, sql`c.edition_id`))
  const isChanged = sql`(${isOneOf(sql`c.segment_id`, segments)} or ${isOneOf(sql`c.email_message_id`, messages)})`
  return warnAboutLostApprovals(await countApprovedCampaigns(ctx.db, sql`${isChanged} and ${isSeen}`))
}

async function findSource(ctx: Ctx, product: LoadedProduct, id: string): Promise<ProductRow> {
  if (id === product.id)
    throw invalid(fieldError(['product_id'], 'invalid_choice', 'A product cannot be merged into itself.'))
  const source = await ctx.db.first(
    select(selectProduct)
      .from(products)
      .where(and(eq(products.id, id), eq(products.edition_id, product.edition_id), isNull(products.merged_into_id))),
  )
  if (!source) throw doesNotExist('product_id')
  if (product.is_merging || source.is_merging) throw productMerging()
  return source
}

/**
 * Merges another product of the edition into this one. The transaction moves the first orders too, which are all orders
 * of most editions. A sweep moves the others.
 */
export async function mergeProducts(
  ctx: Ctx,
  product: LoadedProduct,
  input: MergeProductsInput,
): Promise<ProductRow & { warnings: readonly FieldError[] }> {
  const source = await findSource(ctx, product, input.product_id)
  const plan = planMerge(ctx, product, source)
  const { merge, unpairedVariants, unpairedOptions } = plan
  const end = await findStepEnd(ctx.db, merge, ordersPerStep)
  const rows = await findNamingRows(ctx, product, merge.ids)
  const warnings = await listApprovalWarnings(ctx, rows)
  return commit(ctx, { ...plan.result, is_merging: end !== null, warnings }, [
    ...openEditions(product.edition_id),
    requireSameParts(product),
    requireSameParts(source),
    ...buildProductStatements(product, source, plan),
    ...moveParts('variants', unpairedVariants, product.id),
    ...moveParts('options', unpairedOptions, product.id),
    insert(productMerges, merge),
    ...buildDesignStatements(merge),
    ...buildReferenceStatements(merge),
    ...buildExpressionStatements(ctx, merge.ids, rows),
    ...buildStep(merge, end, merge.merged_at),
  ])
}
