import { maxCatalogueNameLength } from '../../domain/catalogue.ts'
import { Id, RequiredText, Timestamp, Translated } from '../../http/fields.ts'
import { IdFilter, TextFilter } from '../../http/requests/list-query.ts'

export const tag = 'Catalogue' as const

export const CatalogueName = RequiredText(maxCatalogueNameLength)

export const NameTranslations = Translated(maxCatalogueNameLength).openapi({
  description: 'The name in other languages. `name` is in the default language of the edition.',
  example: { da: 'Billetter' },
})

/** The owner of a row of the catalogue, in requests and in responses. */
export const owner = { organization_id: Id('org'), edition_id: Id('edt') }

export const times = { created: Timestamp, modified: Timestamp }

export const NameFilter = TextFilter.optional().openapi({ description: 'Searches the name.' })

/** The filters of lists of rows that an edition owns. */
export const editionFilters = {
  organization_id: IdFilter.optional(),
  edition_id: IdFilter.optional(),
  search: NameFilter,
}

/** Ids of the example bodies. */
export const exampleOwner = {
  organization_id: 'org_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
  edition_id: 'edt_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8',
}
