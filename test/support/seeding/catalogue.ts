import { categories, locations } from '../../../src/db/schema/catalog.ts'
import { feeRules } from '../../../src/db/schema/editions.ts'
import { passDesigns } from '../../../src/db/schema/wallet.ts'
import { insertAll } from '../../../src/db/write.ts'
import { buildNameColumns } from '../../../src/domain/catalogue.ts'
import { seedEdition } from './editions.ts'
import { givenAdmin } from './members.ts'
import { freshId, next, type Place, seededTimes, write } from './rows.ts'

/** Seeds an edition with an admin of its organisation. `owner` is its place in requests. */
export async function seedOwner() {
  const admin = await givenAdmin()
  const edition = await seedEdition(admin)
  return {
    token: admin.token,
    admin,
    place: { organization: admin.id, edition: edition.id },
    owner: { organization_id: admin.id, edition_id: edition.id },
  }
}

const makeRows = <Row>(count: number, make: (number: number) => Row): Row[] =>
  Array.from({ length: count }, () => make(next()))

const readIds = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

/** The columns of rows that an edition owns. Three successive rows share their times. */
const buildOwned = ({ organization, edition }: Place, number: number) => ({
  organization_id: organization,
  edition_id: edition,
  ...seededTimes(number),
})

type Columns<Table extends { $inferInsert: object }> = Partial<Table['$inferInsert']> & { name?: string }

export async function seedCategories(
  place: Place,
  count: number,
  { name, ...columns }: Columns<typeof categories> = {},
): Promise<string[]> {
  const rows = makeRows(count, (number) => ({
    id: freshId('category'),
    ...buildOwned(place, number),
    ...buildNameColumns(name ?? `Category ${number}`),
    position: Math.floor(number / 2),
    ...columns,
  }))
  await write(...insertAll(categories, rows))
  return readIds(rows)
}

export const seedCategory = async (place: Place, columns: Columns<typeof categories> = {}): Promise<string> =>
  (await seedCategories(place, 1, columns))[0] ?? ''

export async function seedLocations(
  place: Place,
  count: number,
  { name, ...columns }: Columns<typeof locations> = {},
): Promise<string[]> {
  const rows = makeRows(count, (number) => ({
    id: freshId('location'),
    ...buildOwned(place, number),
    ...buildNameColumns(name ?? `Gate ${number}`),
    ...columns,
  }))
  await write(...insertAll(locations, rows))
  return readIds(rows)
}

export const seedLocation = async (place: Place, columns: Columns<typeof locations> = {}): Promise<string> =>
  (await seedLocations(place, 1, columns))[0] ?? ''

export async function seedPassDesigns(
  place: Place,
  count: number,
  { name, ...columns }: Columns<typeof passDesigns> = {},
): Promise<string[]> {
  const rows = makeRows(count, (number) => ({
    id: freshId('pass_design'),
    ...buildOwned(place, number),
    ...buildNameColumns(name ?? `Design ${Math.floor(number / 2)}`),
    design: { background_color: '#102040' },
    ...columns,
  }))
  await write(...insertAll(passDesigns, rows))
  return readIds(rows)
}

export const seedPassDesign = async (place: Place, columns: Columns<typeof passDesigns> = {}): Promise<string> =>
  (await seedPassDesigns(place, 1, columns))[0] ?? ''

export async function seedFeeRules(
  organization: { id: string },
  count: number,
  { name, ...columns }: Columns<typeof feeRules> = {},
): Promise<string[]> {
  const rows = makeRows(count, (number) => ({
    id: freshId('fee_rule'),
    organization_id: organization.id,
    ...buildNameColumns(name ?? `Fee rule ${Math.floor(number / 2)}`),
    currency: 'dkk' as const,
    description: '3 %',
    rate: 3,
    ...seededTimes(number),
    ...columns,
  }))
  await write(...insertAll(feeRules, rows))
  return readIds(rows)
}

export const seedFeeRule = async (organization: { id: string }, columns: Columns<typeof feeRules> = {}) =>
  (await seedFeeRules(organization, 1, { name: 'Standard', ...columns }))[0] ?? ''
