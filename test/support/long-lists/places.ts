import { seedEdition } from '../seeding/editions.ts'
import { givenEvent, givenOrganization } from '../seeding/organizations.ts'

export interface OrganizationPlace {
  id: string
  editions: readonly [string, string, string]
}

export interface Places {
  a: OrganizationPlace
  b: OrganizationPlace
}

async function makeOrganization(name: string): Promise<OrganizationPlace> {
  const { id } = await givenOrganization(name)
  const event = (await givenEvent({ id })).id
  const makeEdition = async () => (await seedEdition({ id, event })).id
  return { id, editions: [await makeEdition(), await makeEdition(), await makeEdition()] }
}

export const makePlaces = async (): Promise<Places> => ({
  a: await makeOrganization('Nordlys'),
  b: await makeOrganization('Kanaal'),
})
