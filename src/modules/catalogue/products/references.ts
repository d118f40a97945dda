import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Ctx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { isShowable } from '../../../db/images.ts'
import { categories } from '../../../db/schema/catalog.ts'
import { files } from '../../../db/schema/files.ts'
import { fromFlag, select, selectValues } from '../../../db/select.ts'
import { doesNotExist, type FieldError, fieldError, invalid } from '../../../domain/errors.ts'
import { fold } from '../../../domain/text/fold.ts'
import type { ProductRow } from './queries.ts'

/** What a body refers to. A field is left out when it does not change. */
interface ProductReferences {
  name?: string | undefined
  aliases?: readonly string[] | undefined
  category_id?: string | null | undefined
  image_ids?: readonly string[] | undefined
}

interface Place {
  /** Null for a new product. */
  id: string | null
  organization_id: string
  edition_id: string
}

/** Reads the names of other products, including their aliases. */
const selectNamesakes = ({ id, edition_id }: Place, names: readonly string[]) =>
  sql<{ name_folded: string }>`select name_folded from products
      where edition_id = ${edition_id} and ${inList(sql`name_folded`, names)} and id is not ${id}
    union select name_folded from product_aliases
      where edition_id = ${edition_id} and ${inList(sql`name_folded`, names)} and product_id is not ${id}`

const describeNamesake = (path: readonly (string | number)[]): FieldError =>
  fieldError([...path], 'unique', 'Another product of the edition has this name or alias.')

function listNameFaults(
  { name, aliases = [] }: ProductReferences,
  ownName: string,
  otherNames: ReadonlySet<string>,
): FieldError[] {
  const usedNames = new Set([fold(ownName)])
  const faults = name !== undefined && otherNames.has(fold(name)) ? [describeNamesake(['name'])] : []
  for (const [index, alias] of aliases.entries()) {
    const key = fold(alias)
    if (usedNames.has(key))
      faults.push(fieldError(['aliases', index], 'duplicate', 'The product has this name already.'))
    else if (otherNames.has(key)) faults.push(describeNamesake(['aliases', index]))
    usedNames.add(key)
  }
  return faults
}

/** True if the product was sold, so that imports may know its name. */
const selectSale = ({ id, edition_id }: Place) =>
  selectValues({
    is_sold: fromFlag(sql`exists (select 1 from purchases indexed by purchases_edition_created
      where edition_id = ${edition_id} and product_id = ${id})`),
  })

/**
 * Checks the names, the category and the images of a product in one round trip. Returns the images with their access
 * keys, in their order; null when they do not change. `is_sold` is false when the name does not change.
 */
export async function checkReferences(
  ctx: Ctx,
  place: Place,
  references: ProductReferences,
  ownName: string,
): Promise<{ images: ProductRow['images'] | null; is_sold: boolean }> {
  const { name, aliases = [], category_id, image_ids } = references
  const names = [...(name === undefined ? [] : [name]), ...aliases].map(fold)
  const {
    sales: [sale] = [],
    namesakes = [],
    category = [],
    images = [],
  } = await ctx.db.batchNamed({
    ...(name === undefined ? {} : { sales: selectSale(place) }),
    namesakes: selectNamesakes(place, names),
    category: select({ id: categories.id })
      .from(categories)
      .where(and(eq(categories.id, category_id ?? ''), eq(categories.edition_id, place.edition_id))),
    images: select({ id: files.id, access_key: files.access_key })
      .from(files)
      .where(and(inArray(files.id, [...(image_ids ?? [''])]), isShowable(ctx.caller, place))),
  })
  const imagesById = new Map(images.map((image) => [image.id, image]))
  const missingImages = (image_ids ?? []).flatMap((id, index) =>
    imagesById.has(id) ? [] : doesNotExist('image_ids', String(index)).errors,
  )
  const faults = [
    ...listNameFaults(references, ownName, new Set(namesakes.map(({ name_folded }) => name_folded))),
    ...(category_id && category.length === 0 ? doesNotExist('category_id').errors : []),
    ...missingImages,
  ]
  if (faults.length) throw invalid(...faults)
  return {
    images: image_ids ? image_ids.flatMap((id) => imagesById.get(id) ?? []) : null,
    is_sold: sale?.is_sold ?? false,
  }
}
