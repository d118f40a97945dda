import { sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { commit, requireOneChange } from '../../../db/commit.ts'
import { locations } from '../../../db/schema/catalog.ts'
import { selectValues } from '../../../db/select.ts'
import { isEmpty, pickChanges, updateVersion } from '../../../db/write.ts'
import { buildNameColumns } from '../../../domain/catalogue.ts'
import { openEditions } from '../../editions/index.ts'
import { buildFirstVersion, createNameTaken, insertIntoEdition } from '../rows.ts'
import { countExpressions, requireNoUses, selectImports } from '../uses.ts'
import type { CreateLocationInput, UpdateLocationInput } from './contract.ts'
import type { LocationRow } from './queries.ts'

const uniqueName = { 'locations.edition_id, locations.name_folded': createNameTaken('location') }

export async function createLocation(ctx: Ctx, input: CreateLocationInput): Promise<LocationRow> {
  const row: LocationRow = {
    id: ctx.newId('location'),
    ...input,
    ...buildNameColumns(input.name),
    ...buildFirstVersion(ctx.now()),
  }
  return commit(ctx, row, insertIntoEdition(locations, row), uniqueName)
}

export async function updateLocation(ctx: Ctx, row: LocationRow, input: UpdateLocationInput): Promise<LocationRow> {
  const { name, ...others } = input
  const requestedChanges = pickChanges<LocationRow>(row, { ...others, ...(name && buildNameColumns(name)) })
  if (isEmpty(requestedChanges)) return commit(ctx, row, openEditions(row.edition_id))
  const changes = { ...requestedChanges, modified_at: ctx.now() }
  return commit(
    ctx,
    { ...row, ...changes, version: row.version + 1 },
    [...openEditions(row.edition_id), ...updateVersion(locations, row, changes)],
    uniqueName,
  )
}

const countUses = (ctx: Ctx, { id, organization_id, edition_id }: LocationRow) =>
  selectValues({
    purchases: sql<number>`(select count(*) from purchases where location_id = ${id})`,
    purchase_uses: sql<number>`(select count(*) from purchase_uses where location_id = ${id})`,
    data_imports: sql<number>`(select count(distinct import_id) from import_products where location_id = ${id}
      and import_id in ${selectImports(edition_id, { isFinal: false })})`,
    ...countExpressions(ctx.caller, organization_id, [id]),
  })

/**
 * The mappings of imports that no longer use them lose the location. Purchases, uses and other mappings have a foreign
 * key, so one that is stored at the same time aborts the deletion as a lost race.
 */
export async function deleteLocation(ctx: Ctx, row: LocationRow): Promise<null> {
  const { id, edition_id, version } = row
  const counts = await ctx.db.first(countUses(ctx, row))
  if (counts)
    requireNoUses(
      { code: 'location_in_use', detail: 'This location is in use. Set `is_draft` to true, or rename it.' },
      counts,
    )
  return commit(ctx, null, [
    ...openEditions(edition_id),
    sql`update import_products set location_id = null where location_id = ${id}
      and import_id in ${selectImports(edition_id, { isFinal: true })}`,
    sql`delete from locations where id = ${id} and version = ${version}`,
    requireOneChange(),
  ])
}
