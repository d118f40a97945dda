import type { RecipientEngagement } from '../../domain/campaigns/sender.ts'
import { readMembers } from './chunk-store.ts'

const columns = [
  'user_id',
  'state',
  'reason',
  'sent_at',
  'delivered_at',
  'opened_at',
  'clicked_at',
  'bounced_at',
  'complained_at',
  'unsubscribed_at',
] as const satisfies (keyof RecipientEngagement)[]

/** The alarm writes the recipients of several changes with one statement, so a change has as many as a chunk. */
const changeSize = 100

/** Remembers recipients whose row in `campaign_receipts` is out of date. */
export class EngagementStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  mark(numbers: readonly number[]): void {
    for (let start = 0; start < numbers.length; start += changeSize)
      this.#sql.exec(
        'insert into engagement_changes (members) values (?)',
        JSON.stringify(numbers.slice(start, start + changeSize)),
      )
  }

  /** Marks everybody in place of what was marked before. */
  markAll(): void {
    this.#sql.exec('delete from engagement_changes')
    this.mark(
      this.#sql
        .exec<{ n: number }>('select n from recipients order by n')
        .toArray()
        .map(({ n }) => n),
    )
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
        `select ${columns.join(', ')}, case when clicked_at is not null then (select nullif(json_group_array(link order by link), '[]')
            from link_clicks where link_clicks.n = recipients.n and times <> '[]') end as clicked_links
         from recipients where n in (select value from json_each(?)) order by n`,
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
