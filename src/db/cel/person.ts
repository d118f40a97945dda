import { type SQL, sql } from 'drizzle-orm'
import { contactGivenIn, isKnownElsewhere } from '../shared-customers.ts'
import { type Scope, userColumns } from './columns.ts'
import type { Value } from './values.ts'

type Hidden =
  | 'email'
  | 'phone_number'
  | 'first_name'
  | 'last_name'
  | 'is_verified'
  | 'created_at'
  | 'last_seen_at'
  | 'metadata'

/** Fields that other editions may have filled, with the column each is made of. Others are the same to everybody. */
const hiddenFields: Record<string, Hidden> = {
  email: 'email',
  has_email: 'email',
  phone_number: 'phone_number',
  has_phone: 'phone_number',
  first_name: 'first_name',
  last_name: 'last_name',
  is_verified: 'is_verified',
  date_joined: 'created_at',
  last_seen: 'last_seen_at',
  metadata: 'metadata',
}

const user = sql`u`
const seen = sql`seen`

const joinedIn = (editions: readonly string[]): SQL =>
  sql`coalesce((select min(created_at) from user_editions as given where given.user_id = u.id
    and given.edition_id in (select value from json_each(${JSON.stringify(editions)}))), u.created_at)`

/** What the editions of the scope know of a person whom others know too. */
const knownIn: Record<Hidden, (editions: readonly string[]) => SQL> = {
  email: (editions) => contactGivenIn(user, 'email', editions),
  phone_number: (editions) => contactGivenIn(user, 'phone_number', editions),
  first_name: (editions) => contactGivenIn(user, 'first_name', editions),
  last_name: (editions) => contactGivenIn(user, 'last_name', editions),
  is_verified: () => sql`0`,
  created_at: joinedIn,
  last_seen_at: () => sql`null`,
  metadata: () => sql`'{}'`,
}

/** The person `u` as the scope of an expression sees them. */
export class Person {
  readonly #editions: readonly string[] | null
  readonly #used = new Set<Hidden>()

  constructor({ editions }: Scope) {
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
    const columns = [...this.#used].map((name) => {
      const column = sql.raw(name)
      return sql`iif(is_shared, ${knownIn[name](editions)}, u.${column}) as ${column}`
    })
    return [
      sql`(select ${sql.join(columns, sql`, `)}
        from (select ${isKnownElsewhere(user, editions)} as is_shared) limit 1 offset 0) ${seen}`,
    ]
  }
}
