import { type RoleCode, roleCodes } from '../../src/domain/accounts/access.ts'
import { rootToken } from './api.ts'
import { type EditionRow, seedEditionMessages, seedEdition } from './seeding/editions.ts'
import { seedDataImports } from './seeding/imports/data-imports.ts'
import { seedAccount, seedMember, seedToken } from './seeding/members.ts'
import { seedCampaign } from './seeding/messaging/campaigns.ts'
import { seedMessage } from './seeding/messaging/email-messages.ts'
import { seedSegment } from './seeding/messaging/segments.ts'
import { givenOrganization, givenEvent } from './seeding/organizations.ts'
import { freshId, seededAt } from './seeding/rows.ts'
import { seedTrade, type Trade } from './seeding/sales/trades.ts'
import { seedDelivery, seedEndpoint } from './seeding/webhooks.ts'

/** The callers: one person for each role, one without any role, and the superuser of the platform. */
export type Who = RoleCode | 'nobody' | 'root'

export const everyone: readonly Who[] = [...roleCodes, 'nobody', 'root']

export interface Person {
  who: Who
  account: string
  member: string
  token: string
  tokenId: string
}

interface EditionWorld extends Trade {
  id: string
  dataImport: string
  webhook: string
  delivery: string
  segment: string
  message: string
  campaign: string
  draft: string
}

export interface OrganizationWorld {
  id: string
  event: string
  editions: [EditionWorld, EditionWorld]
  /** A viewer of the organisation who is not in `people`, with a token that is bound to the organisation. */
  member: string
  boundToken: string
  messages: Awaited<ReturnType<typeof seedEditionMessages>>
}

/**
 * Makes two organisations with two editions each. All people belong to the first; edition roles are in its first
 * edition.
 */
export interface World {
  a: OrganizationWorld
  b: OrganizationWorld
  people: Record<Who, Person>
  /** An admin of organisation B. */
  stranger: Person
}

const letters = { A: 'admin', M: 'manager', V: 'viewer' } as const

async function buildEdition(organization: { id: string; event: string }): Promise<EditionWorld> {
  const columns: Partial<EditionRow> = { enabled_languages: ['en', 'da'], created_at: seededAt, modified_at: seededAt }
  const { id } = await seedEdition(organization, columns)
  const place = { organization: organization.id, edition: id }
  const [dataImport = ''] = await seedDataImports(place, 1)
  const webhook = await seedEndpoint(place)
  const delivery = await seedDelivery(place, webhook.id)
  const segment = await seedSegment(place)
  const message = await seedMessage(place)
  const campaign = await seedCampaign(place, segment.id, { status: 'sent', run: 1 })
  const draft = await seedCampaign(place, segment.id)
  return {
    id,
    dataImport,
    message,
    campaign: campaign.id,
    draft: draft.id,
    webhook: webhook.id,
    delivery: delivery.id,
    segment: segment.id,
    ...(await seedTrade(place)),
  }
}

async function buildOrganization(name: string): Promise<OrganizationWorld> {
  const { id } = await givenOrganization(name)
  const organization = { id, event: (await givenEvent({ id })).id }
  const account = await seedAccount()
  return {
    ...organization,
    editions: [await buildEdition(organization), await buildEdition(organization)],
    member: await seedMember(account, { organization: organization.id, role: 'viewer' }),
    boundToken: (await seedToken(account, { organization: organization.id })).id,
    messages: await seedEditionMessages(organization),
  }
}

export async function seedPerson(role: RoleCode, organization: OrganizationWorld): Promise<Person> {
  const account = await seedAccount()
  const member = await seedMember(account, {
    organization: organization.id,
    edition: role.startsWith('E') ? organization.editions[0].id : undefined,
    role: letters[role.charAt(1) as keyof typeof letters],
  })
  const { id, token } = await seedToken(account)
  return { who: role, account, member, token, tokenId: id }
}

export async function buildWorld(): Promise<World> {
  const a = await buildOrganization('Nordlys')
  const b = await buildOrganization('Kanaal')
  const people: Partial<Record<Who, Person>> = {}
  for (const role of roleCodes) people[role] = await seedPerson(role, a)
  const account = await seedAccount()
  const { id, token } = await seedToken(account)
  people.nobody = { who: 'nobody', account, member: freshId('member'), token, tokenId: id }
  people.root = {
    who: 'root',
    account: 'root',
    member: freshId('member'),
    token: rootToken,
    tokenId: freshId('access_token'),
  }
  return { a, b, people: people as Record<Who, Person>, stranger: await seedPerson('OA', b) }
}
