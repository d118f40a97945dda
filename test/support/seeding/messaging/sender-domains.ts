import { sql } from 'drizzle-orm'
import { senderDomains } from '../../../../src/db/schema/sender-domains.ts'
import { insert, insertAll } from '../../../../src/db/write.ts'
import { create } from '../../api.ts'
import { givenAdmin } from '../members.ts'
import { freshId, next, seededAt, write } from '../rows.ts'

export const aDomain = () => `nordlys-${next()}.example`

/** The domains of an organisation, and a token of its admin. */
export async function givenDomains() {
  const { id, token } = await givenAdmin()
  return { id, token, path: `/v1/organizations/${id}/sender-domains` }
}

export type Domains = Awaited<ReturnType<typeof givenDomains>>

export const givenSenderDomain = ({ path, token }: Pick<Domains, 'path' | 'token'>, domain = aDomain()) =>
  create(path, { domain }, token)

type Row = typeof senderDomains.$inferSelect

const buildRow = (organization: string, columns: Partial<Row>): Row => {
  const times = { created_at: seededAt, modified_at: seededAt }
  const row: Row = {
    id: freshId('sender_domain'),
    organization_id: organization,
    domain: aDomain(),
    status: 'pending',
    token: freshId('request').slice(4).toLowerCase(),
    verified_at: null,
    verified_by: null,
    checked_at: null,
    check_outcome: null,
    provider_domain_id: null,
    provider_records: [],
    version: 1,
    ...times,
    ...columns,
  }
  return row.status === 'verified' ? { ...row, verified_by: row.verified_by ?? 'dns', verified_at: seededAt } : row
}

export async function seedSenderDomain(organization: string, columns: Partial<Row> = {}): Promise<Row> {
  const row = buildRow(organization, columns)
  await write(insert(senderDomains, row))
  return row
}

/** Gives the domain to the organisation, and takes it from organisations of earlier tests. */
export async function seedVerified(organization: string, domain: string): Promise<void> {
  await write(sql`delete from sender_domains where domain = ${domain}`)
  await seedSenderDomain(organization, { domain, status: 'verified' })
}

export const seedSenderDomains = (organization: string, count: number): Promise<void> =>
  write(
    ...insertAll(
      senderDomains,
      Array.from({ length: count }, () =>
        buildRow(organization, { created_at: seededAt + Math.floor(next() / 3) * 1000 }),
      ),
    ),
  )

export const dropSenderDomains = (organization: string): Promise<void> =>
  write(sql`delete from sender_domains where organization_id = ${organization}`)
