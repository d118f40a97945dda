import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless, commit, requireChanges } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { productMerges, products } from '../../../db/schema/catalog.ts'
import { select } from '../../../db/select.ts'
import { insert, update, updateVersion } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import type { Block } from '../../../domain/email/blocks/blocks.ts'
import { mapConditions } from '../../../domain/email/blocks/conditions.ts'
import { doesNotExist, fieldError, invalid } from '../../../domain/errors.ts'
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

const namesOneOf = (text: SQL, ids: readonly string[]): SQL =>
  sql`exists (select 1 from json_each(${JSON.stringify(ids)}) as former where instr(${text}, former.value))`

/** Replaces texts with the changed ones. An edit at the same time aborts the batch. */
function replaceTexts(table: SQL, column: SQL, rows: readonly (NamingRow & { changedText: string })[]): Statement[] {
  const changes = rows.flatMap(({ id, text, changedText }) => (changedText === text ? [] : [[id, text, changedText]]))
  if (changes.length === 0) return []
  return [
    sql`update ${table} set ${column} = item.value ->> 2 from json_each(${JSON.stringify(changes)}) as item
      where ${table}.id = item.value ->> 0 and ${table}.${column} = item.value ->> 1`,
    requireChanges(changes.length),
  ]
}

/** Replaces the ids in expressions of segments, in conditions of blocks, and in those of campaigns that have begun. */
async function buildExpressionStatements(
  ctx: Ctx,
  { organization_id }: ProductRow,
  ids: Record<string, string>,
): Promise<Statement[]> {
  const formerIds = Object.keys(ids)
  const replaceIds = (text: string): string =>
    formerIds.reduce((result, former) => result.replaceAll(former, ids[former] ?? former), text)
  const [segments, messages] = await ctx.db.batch([
    sql<NamingRow>`select id, expression as text from segments
      where organization_id = ${organization_id} and deleted_at is null and ${namesOneOf(sql`expression`, formerIds)}`,
    sql<NamingRow>`select id, blocks as text from email_messages
      where organization_id = ${organization_id} and ${namesOneOf(sql`blocks`, formerIds)}`,
  ])
  const replaceInBlocks = (text: string): string => {
    const blocks = JSON.parse(text) as Block[]
    const changedBlocks = mapConditions(blocks, replaceIds)
    return JSON.stringify(changedBlocks) === JSON.stringify(blocks) ? text : JSON.stringify(changedBlocks)
  }
  const storedConditions = formerIds.map(
    (former) => sql`update campaign_conditions set expression = replace(expression, ${former}, ${ids[former] ?? former})
      where instr(expression, ${former})
        and campaign_id in (select id from campaigns where organization_id = ${organization_id})`,
  )
  return [
    ...replaceTexts(
      sql`segments`,
      sql`expression`,
      segments.map((row) => ({ ...row, changedText: replaceIds(row.text) })),
    ),
    ...replaceTexts(
      sql`email_messages`,
      sql`blocks`,
      messages.map((row) => ({ ...row, changedText: replaceInBlocks(row.text) })),
    ),
    ...storedConditions,
  ]
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
export async function mergeProducts(ctx: Ctx, product: LoadedProduct, input: MergeProductsInput): Promise<ProductRow> {
  const source = await findSource(ctx, product, input.product_id)
  const plan = planMerge(ctx, product, source)
  const { merge, unpairedVariants, unpairedOptions } = plan
  const end = await findStepEnd(ctx.db, merge, ordersPerStep)
  const expressionStatements = await buildExpressionStatements(ctx, product, merge.ids)
  return commit(ctx, { ...plan.result, is_merging: end !== null }, [
    ...openEditions(product.edition_id),
    requireSameParts(product),
    requireSameParts(source),
    ...buildProductStatements(product, source, plan),
    ...moveParts('variants', unpairedVariants, product.id),
    ...moveParts('options', unpairedOptions, product.id),
    insert(productMerges, merge),
    ...buildDesignStatements(merge),
    ...buildReferenceStatements(merge),
    ...expressionStatements,
    ...buildStep(merge, end, merge.merged_at),
  ])
}
