import { type SQL, sql } from 'drizzle-orm'
import { buildEditionColumn, selectLatestSeq, type CustomerColumn } from '../customers.ts'
import { type ExpressionScope, userColumns } from './columns.ts'
import type { Value } from './values.ts'

/** Fields that editions know by their own imports, with the column of each. Others are the same for all callers. */
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
const seen = sql`seen`

/** The person `u` as the scope of an expression shows them. */
export class Person {
  readonly #editions: readonly string[] | null
  readonly #used = new Set<CustomerColumn>()

  constructor({ editions }: ExpressionScope) {
    this.#editions = editions
  }

  field(name: string): Value | undefined {
    return userColumns[name]?.(this.#rowWith(name))
  }

  metadata(): SQL {
    return sql`${this.#rowWith('metadata')}.metadata`
  }

  /** The row that has the field. */
  #rowWith(name: string): SQL {
    const column = editionFields[name]
    if (this.#editions === null || column === undefined) return user
    this.#used.add(column)
    return seen
  }

  /**
   * What an expression that used these fields is selected from: each is made once for a person, who is a row also where
   * no edition of the scope knows them. The offset keeps SQLite from putting the columns into the expression, once for each
   * time that it names them.
   */
  sources(): SQL[] {
    const editions = this.#editions
    if (editions === null || this.#used.size === 0) return []
    const columns = [...this.#used].map(
      (name) => sql`${buildEditionColumn(name, sql`known`, user)} as ${sql.raw(name)}`,
    )
    return [
      sql`(select ${sql.join(columns, sql`, `)}
        from (select ${selectLatestSeq(sql`u.seq`, editions)} as seq) as latest
          left join edition_customers as known on known.seq = latest.seq limit 1 offset 0) ${seen}`,
    ]
  }
}
