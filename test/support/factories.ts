import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { Database } from '../../src/db/database.ts'
import { editions } from '../../src/db/schema/editions.ts'
import { insert } from '../../src/db/write.ts'
import type { MemberRole } from '../../src/domain/accounts/access.ts'
import { searchText } from '../../src/domain/text/fold.ts'
import { newId } from '../../src/domain/ids.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { slugify } from '../../src/domain/text/slug.ts'
import { post } from './api.ts'

/** The database behind the API, for what no operation writes and for looking at what was stored. */
export const db = new Database(env.DB, newMeter())

export type EditionRow = typeof editions.$inferSelect

export interface Organisation {
  id: string
  name: string
  slug: string
}

export interface Event {
  id: string
  name: string
}

let made = 0
const number = () => `${++made}-${crypto.randomUUID().slice(0, 8)}`

async function created<Resource>(path: string, body: unknown): Promise<Resource> {
  const reply = await post(path, body)
  expect(reply.status, `${path} answered ${reply.text}`).toBe(201)
  return reply.body as Resource
}

export const givenOrganisation = (name = `Nordlys ${number()}`): Promise<Organisation> =>
  created('/v1/organizations', { name })

export const givenEvent = (organisation: { id: string }, name = 'Nordlys Festival'): Promise<Event> =>
  created('/v1/events', { organization_id: organisation.id, name })

/** A row with the given columns, and an event of its own unless `event_id` names one. */
export async function givenEdition(
  organisation: { id: string },
  columns: Partial<EditionRow> = {},
): Promise<Pick<EditionRow, 'id' | 'event_id' | 'name' | 'full_name' | 'slug' | 'timezone' | 'organization_id'>> {
  const now = Date.now()
  const name = columns.name ?? `Edition ${number()}`
  const slug = slugify(name, 'edition')
  const row = {
    id: newId('edition', now, Math.random),
    organization_id: organisation.id,
    event_id: columns.event_id ?? (await givenEvent(organisation)).id,
    name,
    full_name: name,
    slug,
    timezone: 'Europe/Copenhagen',
    default_country_code: '+45' as const,
    default_language: 'en' as const,
    enabled_languages: ['en'] as const,
    tax_type: 'none' as const,
    currency: 'dkk' as const,
    search: searchText(name, slug),
    created_at: now,
    modified_at: now,
    ...columns,
  }
  await db.batch([insert(editions, row)])
  return row
}

export interface GivenMember {
  id: string
  account_id: string
  email: string
  token: string
}

/** A person with a role in the organisation, or with `editionId` in that edition only, and a token of theirs. */
export async function givenMember(
  organisation: { id: string },
  role: MemberRole,
  editionId?: string,
): Promise<GivenMember> {
  const email = `${role}-${number()}@example.dk`
  const member = await created<{ id: string }>(`/v1/organizations/${organisation.id}/members`, {
    email,
    role,
    ...(editionId ? { edition_id: editionId } : {}),
  })
  const { token } = await created<{ token: string }>('/v1/auth/tokens', { name: 'test', member_id: member.id })
  const [account] = await db.all(sql<{ id: string }>`select id from accounts where email = ${email}`)
  return { id: member.id, account_id: account?.id ?? '', email, token }
}
