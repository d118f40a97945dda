import { type SQL, sql } from 'drizzle-orm'
import { buildEditionColumn, selectLatestSeq, type CustomerColumn } from '../customers.ts'
import { type ExpressionScope, userFields } from './columns.ts'
import type { Value } from './values.ts'

/** Fields whose values an edition has from its own imports, with the column of each. */
const editionFields: Record<string, CustomerColumn> = {
  email: 'email',
  has_email: 'email',
  phone_number: 'phone_number',
  has_phone: 'phone_number',
  first_name: 'first_name',
  last_name: 'last_name',
  locale: 'locale',
  is_verified: 'is_verified',
  is_active: 'is_active',
  date_joined: 'created_at',
  last_seen: 'last_seen_at',
  metadata: 'metadata',
}

const user = sql`u`
const visibleContact = sql`visible_contact`

/** The person `u` as the visible editions know them. */
export class Person {
  readonly #editions: readonly string[] | null
  readonly #usedColumns = new Set<CustomerColumn>()

  constructor({ editions }: ExpressionScope) {
    this.#editions = editions
  }

  lowerField(name: string): Value | undefined {
    return userFields[name]?.(this.#findRowWith(name))
  }

  selectMetadata(): SQL {
    return sql`${this.#findRowWith('metadata')}.metadata`
  }

  #findRowWith(name: string): SQL {
    const column = editionFields[name]
    if (this.#editions === null || column === undefined) return user
    this.#usedColumns.add(column)
    return visibleContact
  }

  /**
   * The `from` clause that the fields used so far need: one row, even when no visible edition knows the person.
   * `offset 0` stops SQLite from flattening the subquery, which would compute each column again at each use.
   */
  buildSources(): SQL[] {
    const editions = this.#editions
    if (editions === null || this.#usedColumns.size === 0) return []
    const columns = [...this.#usedColumns].map(
      (name) => sql`${buildEditionColumn(name, sql`edition_contact`, user)} as ${sql.raw(name)}`,
    )
    return [
      sql`(select ${sql.join(columns, sql`, `)}
        from (select ${selectLatestSeq(sql`u.seq`, editions)} as seq) as latest
          left join edition_customers as edition_contact on edition_contact.seq = latest.seq
          limit 1 offset 0) ${visibleContact}`,
    ]
  }
}
