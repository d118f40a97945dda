import { sql } from 'drizzle-orm'
import { create, post, type Reply } from '../api.ts'
import { db, unique } from './rows.ts'
import type { Shop } from './sales/orders.ts'

/** Builds a customer with an address of its own; `change` replaces fields. */
export const aUser = (change: Record<string, unknown> = {}) => ({
  email: `reader-${unique()}@example.dk`,
  first_name: 'Ægir',
  last_name: 'Holm',
  ...change,
})

export const createUser = (shop: Shop, change: Record<string, unknown> = {}, token?: string): Promise<Reply> =>
  post('/v1/user', { ...shop, ...aUser(), ...change }, token)

export const importUsers = (
  shop: Shop,
  users: unknown[],
  options: Record<string, unknown> = {},
  token?: string,
): Promise<Reply> => post('/v1/data-imports/users', { ...shop, source: 'mailchimp', users, ...options }, token)

/** Makes a consent to marketing by e-mail, of the edition or of the whole organisation. */
export const givenNewsletter = (shop: Shop, key: string, isOfEdition = true): Promise<{ id: string }> =>
  create('/v1/consents', {
    organization_id: shop.organization_id,
    edition_id: isOfEdition ? shop.edition_id : null,
    key,
    name: key,
    text: { en: 'Write to me.', da: 'Skriv til mig.' },
    type: 'marketing',
    channels: ['email'],
  })

export interface StoredAnswer {
  key: string
  status: string
  occurred_at: number
  evidence: string | null
  import_id: string | null
}

/** Lists all answers of a customer, oldest first. */
export const listStoredAnswers = (organizationId: string, email: string): Promise<StoredAnswer[]> =>
  db.all(
    sql<StoredAnswer>`select c.key, r.status, r.occurred_at, r.evidence, r.import_id from consent_records r
      join users on users.id = r.user_id join consents c on c.id = r.consent_id
      where users.organization_id = ${organizationId} and users.email = ${email} order by c.key, r.number`,
  )

export interface StoredSuppression {
  address: string
  reason: string
  created_at: number
}

export const listStoredSuppressions = (organizationId: string): Promise<StoredSuppression[]> =>
  db.all(
    sql<StoredSuppression>`select address, reason, created_at from suppressions
      where organization_id = ${organizationId} order by address`,
  )
