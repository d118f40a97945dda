import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, requireOneChange } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { isShowable, requireShowable } from '../../../db/images.ts'
import { products } from '../../../db/schema/catalog.ts'
import { files } from '../../../db/schema/files.ts'
import { passDesigns } from '../../../db/schema/wallet.ts'
import { select } from '../../../db/select.ts'
import { isEmpty, pickChanges, updateVersion } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import { doesNotExist, invalid } from '../../../domain/errors.ts'
import { readPassDesign } from '../../../domain/wallet/wallet-pass.ts'
import { checkTenant, openEditions } from '../../editions/index.ts'
import { buildFirstVersion, insertIntoEdition } from '../rows.ts'
import type { CreatePassDesignInput, UpdatePassDesignInput } from './contract.ts'
import type { PassDesignRow } from './queries.ts'

interface References {
  product_id?: string | null | undefined
  logo_image_id?: string | null | undefined
}

/** Throws if the product is not in the edition or the file is no image to show. Returns the access key of the file. */
async function checkReferences(
  ctx: Ctx,
  owner: Pick<PassDesignRow, 'organization_id' | 'edition_id'>,
  { product_id, logo_image_id }: References,
): Promise<string | null> {
  if (!product_id && !logo_image_id) return null
  const [[product], [image]] = await ctx.db.batch([
    select({ id: products.id })
      .from(products)
      .where(
        and(
          eq(products.id, product_id ?? ''),
          eq(products.edition_id, owner.edition_id),
          eq(products.organization_id, owner.organization_id),
          isNull(products.merged_into_id),
        ),
      ),
    select({ access_key: files.access_key })
      .from(files)
      .where(and(eq(files.id, logo_image_id ?? ''), isShowable(ctx.caller, owner))),
  ])
  const errors = [
    ...(product_id && !product ? doesNotExist('product_id').errors : []),
    ...(logo_image_id && !image ? doesNotExist('logo_image_id').errors : []),
  ]
  if (errors.length) throw invalid(...errors)
  return image?.access_key ?? null
}

/** The image may stop being one to show after it was checked. A foreign key guards the product. */
const guardLogo = (ctx: Ctx, row: PassDesignRow): Statement[] =>
  row.logo_image_id === null ? [] : [requireShowable(ctx.caller, row, row.logo_image_id)]

export async function createPassDesign(ctx: Ctx, input: CreatePassDesignInput): Promise<PassDesignRow> {
  const { organization_id, edition_id, product_id, logo_image_id, name, ...design } = input
  await checkTenant(ctx, organization_id, edition_id)
  const logo_key = await checkReferences(ctx, input, input)
  const columns = {
    id: ctx.newId('pass_design'),
    organization_id,
    edition_id,
    product_id,
    ...buildNameColumns(name),
    design,
    logo_image_id,
    ...buildFirstVersion(ctx.now()),
  }
  const row = { ...columns, logo_key }
  return commit(ctx, row, [...insertIntoEdition(passDesigns, columns), ...guardLogo(ctx, row)])
}

export async function updatePassDesign(
  ctx: Ctx,
  row: PassDesignRow,
  input: UpdatePassDesignInput,
): Promise<PassDesignRow> {
  const { product_id, logo_image_id, name, ...designChanges } = input
  const storedDesign = readPassDesign(row.design)
  const requestedDesign = pickChanges(storedDesign, designChanges)
  const requestedChanges = pickChanges<PassDesignRow>(row, {
    product_id,
    logo_image_id,
    ...(name && buildNameColumns(name)),
    ...(isEmpty(requestedDesign) ? {} : { design: { ...storedDesign, ...requestedDesign } }),
  })
  const newKey = await checkReferences(ctx, row, requestedChanges)
  if (isEmpty(requestedChanges)) return commit(ctx, row, openEditions(row.edition_id))
  const changes = { ...requestedChanges, modified_at: ctx.now() }
  const logo_key = changes.logo_image_id === undefined ? row.logo_key : newKey
  const result = { ...row, ...changes, logo_key, version: row.version + 1 }
  return commit(ctx, result, [
    ...openEditions(row.edition_id),
    ...(changes.logo_image_id ? guardLogo(ctx, result) : []),
    ...updateVersion(passDesigns, row, changes),
  ])
}

export const deletePassDesign = (ctx: Ctx, { id, edition_id, version }: PassDesignRow): Promise<null> =>
  commit(ctx, null, [
    ...openEditions(edition_id),
    sql`delete from pass_designs where id = ${id} and version = ${version}`,
    requireOneChange(),
  ])
