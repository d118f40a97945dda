import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { abortUnless, requireChanges } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { options, variants } from '../../../db/schema/catalog.ts'
import { insertAll, remove } from '../../../db/write.ts'
import { planParts } from '../../../domain/catalogue-parts.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import { type FieldError, fieldError, invalid } from '../../../domain/errors.ts'
import { selectImports } from '../uses.ts'
import type { OptionInput, VariantInput } from './product-contract.ts'
import type { OptionRow, ProductRow, VariantRow } from './queries.ts'
import { selectPurchases, type CatalogueTarget, requireUnused } from './usage.ts'

type Owner = CatalogueTarget['product']

interface PartsPlan<Row> {
  /** The parts that the product is to have. */
  rows: Row[]
  additions: Row[]
  changes: Row[]
  renames: Row[]
  removals: Row[]
}

const faultDetails = {
  does_not_exist: 'The product has nothing with this id.',
  duplicate: 'This entry stands for the same one as an earlier entry.',
}

/** Plans the rows that the entries of a field stand for. `build` makes a row of an entry and the part that it changes. */
function planRows<Row extends VariantRow | OptionRow, Input extends VariantInput | OptionInput>(
  field: string,
  parts: readonly Row[],
  inputs: readonly Input[],
  build: (part: Row | null, input: Input) => Row,
): PartsPlan<Row> {
  const { faults, removals, ...plan } = planParts(parts, inputs)
  const errors = faults.map((fault): FieldError =>
    fieldError([field, fault.index, fault.field], fault.code, faultDetails[fault.code]),
  )
  if (errors.length) throw invalid(...errors)
  const pairs = plan.pairs.map(({ part, input }) => ({ part, row: build(part, input) }))
  const changes = pairs.filter(({ part, row }) => part && JSON.stringify(part) !== JSON.stringify(row))
  return {
    rows: pairs.map(({ row }) => row),
    additions: pairs.filter(({ part }) => part === null).map(({ row }) => row),
    changes: changes.map(({ row }) => row),
    renames: changes.filter(({ part, row }) => part?.name !== row.name).map(({ row }) => row),
    removals,
  }
}

export const planVariants = (
  ctx: Ctx,
  variantRows: readonly VariantRow[],
  inputs: readonly VariantInput[],
): PartsPlan<VariantRow> =>
  planRows('variants', variantRows, inputs, (part, input) => ({
    id: part?.id ?? ctx.newId('variant'),
    name: input.name,
    is_active: input.is_active ?? part?.is_active ?? true,
  }))

export const planOptions = (
  ctx: Ctx,
  optionRows: readonly OptionRow[],
  inputs: readonly OptionInput[],
): PartsPlan<OptionRow> =>
  planRows('options', optionRows, inputs, (part, input) => ({
    id: part?.id ?? ctx.newId('option'),
    name: input.name,
    price_mod_minor: input.price_mod ?? part?.price_mod_minor ?? 0,
    deposit_mod_minor: input.deposit_mod ?? part?.deposit_mod_minor ?? 0,
  }))

export interface RequestedParts {
  variants: PartsPlan<VariantRow> | null
  options: PartsPlan<OptionRow> | null
}

/** A field that the body leaves out changes nothing. */
export const planRequestedParts = (
  ctx: Ctx,
  product: Pick<ProductRow, 'variants' | 'options'>,
  input: { variants?: VariantInput[] | undefined; options?: OptionInput[] | undefined },
): RequestedParts => ({
  variants: input.variants ? planVariants(ctx, product.variants, input.variants) : null,
  options: input.options ? planOptions(ctx, product.options, input.options) : null,
})

const listIds = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

function describeParts(word: string, rows: readonly { name: string }[]): string {
  const names = rows.map(({ name }) => `"${name}"`)
  return names.length === 1 ? `The ${word} ${names[0]}` : `One of the ${word}s ${names.slice(0, 5).join(', ')}`
}

/** Throws `product_in_use` if something uses a variant or an option that is to be removed. */
export async function requireRemovable(ctx: Ctx, product: Owner, parts: RequestedParts): Promise<void> {
  for (const [kind, plan] of [
    ['variant', parts.variants],
    ['option', parts.options],
  ] as const)
    if (plan?.removals.length)
      await requireUnused(ctx, { kind, ids: listIds(plan.removals), product }, describeParts(kind, plan.removals))
}

/**
 * Changes rows by their ids. Names that are exchanged would be equal for a moment, so every new name first makes way for
 * its id, which is no name.
 */
function buildChanges(
  table: typeof variants | typeof options,
  productId: string,
  { changes, renames }: { changes: readonly { id: string }[]; renames: readonly { id: string }[] },
  { values, assignments }: { values: readonly unknown[][]; assignments: SQL },
): Statement[] {
  if (changes.length === 0) return []
  return [
    sql`update ${table} set name_folded = id where ${inList(sql`id`, listIds(renames))}`,
    sql`update ${table} set ${assignments} from json_each(${JSON.stringify(values)}) as item
      where ${table}.id = item.value ->> 0 and +${table}.product_id = ${productId}`,
    requireChanges(changes.length),
  ]
}

function buildVariantStatements(product: Owner, plan: PartsPlan<VariantRow>, now: number): Statement[] {
  const removalIds = listIds(plan.removals)
  const removal = [
    sql`update import_products set variant_id = null
      where import_id in ${selectImports(product.edition_id, { isFinal: true })} and ${inList(sql`variant_id`, removalIds)}`,
    remove(variants, and(eq(variants.product_id, product.id), inList(sql`id`, removalIds))),
    requireChanges(removalIds.length),
  ]
  return [
    ...(removalIds.length ? removal : []),
    ...buildChanges(variants, product.id, plan, {
      values: plan.changes.map(({ id, name, is_active }) => [
        id,
        name,
        buildNameColumns(name).name_folded,
        is_active ? 1 : 0,
      ]),
      assignments: sql`name = item.value ->> 1, name_folded = item.value ->> 2, is_active = item.value ->> 3`,
    }),
    ...insertAll(
      variants,
      plan.additions.map(({ id, name, is_active }) => ({
        id,
        product_id: product.id,
        ...buildNameColumns(name),
        is_active,
        created_at: now,
      })),
    ),
  ]
}

function buildOptionStatements(product: Owner, plan: PartsPlan<OptionRow>, now: number): Statement[] {
  const ids = listIds(plan.removals)
  const removal = [
    abortUnless(sql`not exists (select 1 from ${selectPurchases({ kind: 'option', ids, product })})`),
    remove(options, and(eq(options.product_id, product.id), inList(sql`id`, ids))),
    requireChanges(ids.length),
  ]
  return [
    ...(ids.length ? removal : []),
    ...buildChanges(options, product.id, plan, {
      values: plan.changes.map(({ id, name, price_mod_minor, deposit_mod_minor }) => [
        id,
        name,
        buildNameColumns(name).name_folded,
        price_mod_minor,
        deposit_mod_minor,
      ]),
      assignments: sql`name = item.value ->> 1, name_folded = item.value ->> 2, price_mod_minor = item.value ->> 3,
        deposit_mod_minor = item.value ->> 4`,
    }),
    ...insertAll(
      options,
      plan.additions.map(({ id, name, price_mod_minor, deposit_mod_minor }) => ({
        id,
        product_id: product.id,
        ...buildNameColumns(name),
        price_mod_minor,
        deposit_mod_minor,
        created_at: now,
      })),
    ),
  ]
}

export const buildPartStatements = (product: Owner, parts: RequestedParts, now: number): Statement[] => [
  ...(parts.variants ? buildVariantStatements(product, parts.variants, now) : []),
  ...(parts.options ? buildOptionStatements(product, parts.options, now) : []),
]

export const removesParts = ({ variants: variantPlan, options: optionPlan }: RequestedParts): boolean =>
  [variantPlan, optionPlan].some((plan) => plan && plan.removals.length > 0)

export const changesParts = ({ variants: variantPlan, options: optionPlan }: RequestedParts): boolean =>
  [variantPlan, optionPlan].some(
    (plan) => plan && plan.additions.length + plan.changes.length + plan.removals.length > 0,
  )
