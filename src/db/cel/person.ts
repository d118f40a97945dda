import { type SQL, sql } from 'drizzle-orm'
import { hiddenColumnsIn, isSharedOutside, type ShownColumn } from '../customer-visibility.ts'
import { type ExpressionScope, userColumns } from './columns.ts'
import type { Value } from './values.ts'

/** Fields that other editions may have filled, with the column of each. Others are the same for all callers. */
const hiddenFields: Record<string, ShownColumn> = {
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
  readonly #used = new Set<ShownColumn>()

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
    const column = hiddenFields[name]
    if (this.#editions === null || column === undefined) return user
    this.#used.add(column)
    return seen
  }

  /**
   * What an expression that used these fields is selected from: each is made once for a person. The offset keeps SQLite
   * from putting them into the expression, once for each time that it names them.
   */
  sources(): SQL[] {
    const editions = this.#editions
    if (editions === null || this.#used.size === 0) return []
    const hidden = hiddenColumnsIn(user, editions)
    const columns = [...this.#used].map((name) => {
      const column = sql.raw(name)
      // Only people of no edition of the scope, who are in none of its audiences, lack one of these.
      const known =
        name === 'locale' || name === 'created_at' ? sql`coalesce(${hidden[name]}, u.${column})` : hidden[name]
      return sql`iif(is_shared, ${known}, u.${column}) as ${column}`
    })
    return [
      sql`(select ${sql.join(columns, sql`, `)}
        from (select ${isSharedOutside(user, editions)} as is_shared) limit 1 offset 0) ${seen}`,
    ]
  }
}
