import type { RecipientEngagement } from '../../domain/campaigns/sender.ts'
import { membersOf } from './chunk-store.ts'

const columns = [
  'user_id',
  'state',
  'sent_at',
  'opened_at',
  'clicked_at',
] as const satisfies (keyof RecipientEngagement)[]

/** Which recipients have received, opened or clicked since the rows of segments were written. */
export class EngagementStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  mark(members: readonly number[]): void {
    if (members.length) this.#sql.exec('insert into changed (members) values (?)', JSON.stringify(members))
  }

  hasChanged(): boolean {
    return this.#sql.exec('select 1 from changed limit 1').toArray().length > 0
  }

  /** The first marks and their recipients. */
  listChanged(limit: number): { numbers: number[]; rows: RecipientEngagement[] } {
    const changed = this.#sql
      .exec<{ number: number; members: string }>('select * from changed order by number limit ?', limit)
      .toArray()
    const rows = this.#sql
      .exec(
        `select ${columns.join(', ')} from recipients where n in (select value from json_each(?)) order by n`,
        JSON.stringify([...new Set(changed.flatMap(membersOf))]),
      )
      .toArray()
    return { numbers: changed.map(({ number }) => number), rows: rows as unknown as RecipientEngagement[] }
  }

  /** Numbers of cleared marks come again. Only the alarm lists and clears, and no two alarms run at the same time. */
  clear(numbers: readonly number[]): void {
    this.#sql.exec('delete from changed where number in (select value from json_each(?))', JSON.stringify(numbers))
  }
}
