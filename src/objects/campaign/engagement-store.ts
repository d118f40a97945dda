import type { RecipientEngagement } from '../../domain/campaigns/sender.ts'
import { readMembers } from './chunk-store.ts'

const columns = [
  'user_id',
  'state',
  'sent_at',
  'opened_at',
  'clicked_at',
] as const satisfies (keyof RecipientEngagement)[]

/** Remembers recipients whose row in `campaign_receipts` is out of date. */
export class EngagementStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  mark(numbers: readonly number[]): void {
    if (numbers.length) this.#sql.exec('insert into engagement_changes (members) values (?)', JSON.stringify(numbers))
  }

  hasChanged(): boolean {
    return this.#sql.exec('select 1 from engagement_changes limit 1').toArray().length > 0
  }

  /** Lists the oldest changes and their recipients. */
  listChanged(limit: number): { numbers: number[]; rows: RecipientEngagement[] } {
    const changes = this.#sql
      .exec<{ number: number; members: string }>('select * from engagement_changes order by number limit ?', limit)
      .toArray()
    const rows = this.#sql
      .exec(
        `select ${columns.join(', ')} from recipients where n in (select value from json_each(?)) order by n`,
        JSON.stringify([...new Set(changes.flatMap(readMembers))]),
      )
      .toArray()
    return { numbers: changes.map(({ number }) => number), rows: rows as unknown as RecipientEngagement[] }
  }

  /** SQLite reuses cleared numbers. That is safe, because only the alarm lists and clears, one alarm at a time. */
  clear(numbers: readonly number[]): void {
    this.#sql.exec(
      'delete from engagement_changes where number in (select value from json_each(?))',
      JSON.stringify(numbers),
    )
  }
}
