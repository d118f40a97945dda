import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, requireOneChange } from '../../../db/commit.ts'
import { categories, products } from '../../../db/schema/catalog.ts'
import { isEmpty, pickChanges, update, updateVersion } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import { openEditions } from '../../editions/index.ts'
import { buildFirstVersion, createNameTaken, insertIntoEdition } from '../rows.ts'
import type { CreateCategoryInput, UpdateCategoryInput } from './contract.ts'
import type { CategoryRow } from './queries.ts'

const uniqueName = { 'categories.edition_id, categories.name_folded': createNameTaken('category') }

export async function createCategory(ctx: Ctx, input: CreateCategoryInput): Promise<CategoryRow> {
  const row: CategoryRow = {
    id: ctx.newId('category'),
    ...input,
    ...buildNameColumns(input.name),
    ...buildFirstVersion(ctx.now()),
  }
  return commit(ctx, row, insertIntoEdition(categories, row), uniqueName)
}

export async function updateCategory(ctx: Ctx, row: CategoryRow, input: UpdateCategoryInput): Promise<CategoryRow> {
  const { name, ...others } = input
  const requestedChanges = pickChanges<CategoryRow>(row, { ...others, ...(name && buildNameColumns(name)) })
  if (isEmpty(requestedChanges)) return commit(ctx, row, openEditions(row.edition_id))
  const changes = { ...requestedChanges, modified_at: ctx.now() }
  return commit(
    ctx,
    { ...row, ...changes, version: row.version + 1 },
    [...openEditions(row.edition_id), ...updateVersion(categories, row, changes)],
    uniqueName,
  )
}

export const deleteCategory = (ctx: Ctx, { id, edition_id, version }: CategoryRow): Promise<null> =>
  commit(ctx, null, [
    ...openEditions(edition_id),
    update(
      products,
      { category_id: null, version: sql`version + 1`, modified_at: ctx.now() },
      eq(products.category_id, id),
    ),
    sql`delete from categories where id = ${id} and version = ${version}`,
    requireOneChange(),
  ])
