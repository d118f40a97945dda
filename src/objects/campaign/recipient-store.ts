import { type RecipientEvent, stamped, type Stamps } from '../../domain/campaigns/recipient-events.ts'
import type { RecipientRow, Told } from '../../domain/campaigns/sender.ts'
import type { RecipientState } from '../../domain/campaigns/sending-policy.ts'
import type { Counters } from '../../domain/campaigns/counters.ts'
import {
  type CampaignRecord,
  type NewRecipient,
  schema,
  type Settled,
  sharedAddresses,
  type Storage,
} from './schema.ts'

const counted: Record<RecipientState, readonly (keyof Counters)[]> = {
  pending: ['total'],
  sent: ['total', 'sent'],
  failed: ['total', 'failed'],
  skipped: ['skipped'],
}

const counterOf: Partial<Record<keyof Stamps, keyof Counters>> = {
  delivered_at: 'delivered',
  opened_at: 'opened',
  machine_opened_at: 'machine_opened',
  clicked_at: 'clicked',
  bounced_at: 'bounced',
  complained_at: 'complained',
  unsubscribed_at: 'unsubscribed',
}

/**
 * The books of a campaign in its object's own database. A recipient's row and the counters change in the same
 * synchronous block, so they agree at every moment.
 */
export class Ledger {
  readonly storage: Storage
  readonly #sql: SqlStorage

  constructor(storage: Storage) {
    this.storage = storage
    this.#sql = storage.sql
    this.lay()
  }

  lay(): void {
    this.#sql.exec(schema)
  }

  /** Runs what belongs together: all of it takes effect, or none. */
  together<T>(block: () => T): T {
    return this.storage.transactionSync(block)
  }

  record(): CampaignRecord | null {
    return (this.#sql.exec('select * from record').toArray()[0] as unknown as CampaignRecord | undefined) ?? null
  }

  open(campaignId: string): CampaignRecord {
    this.#sql.exec('insert into record (one, campaign_id) values (1, ?) on conflict do nothing', campaignId)
    const record = this.record()
    if (!record) throw new Error('the record is not there')
    return record
  }

  /** Changes the record; `shown` tells whether the campaign's row has to show it. */
  change(changes: Partial<CampaignRecord>, shown = true): void {
    const names = Object.keys(changes)
    const sets = names.map((name) => `${name} = ?`)
    if (shown) sets.push('revision = revision + 1')
    if (sets.length)
      this.#sql.exec(`update record set ${sets.join(', ')}`, ...(Object.values(changes) as SqlStorageValue[]))
  }

  shareAddresses(): void {
    this.#sql.exec(sharedAddresses)
  }

  /** Adds people; of those who are known already nothing changes. Who has the address of another is skipped. */
  admit(people: readonly NewRecipient[]): void {
    const rows = people.map((one) => [one.n, one.user_id, one.address, one.language, one.person, one.reason])
    const columns = '(n, user_id, address, language, person, reason, state)'
    const fields = [0, 1, 2, 3, 4].map((at) => `value ->> ${at}`).join(', ')
    const data = JSON.stringify(rows)
    const added = this.#sql
      .exec<{ n: number; state: RecipientState }>(
        `insert into recipients ${columns}
         select ${fields}, value ->> 5, iif(value ->> 5 is null, 'pending', 'skipped') from json_each(?) where true
         on conflict do nothing returning n, state`,
        data,
      )
      .toArray()
    const shared =
      added.length === people.length
        ? []
        : this.#sql
            .exec<{ n: number; state: RecipientState }>(
              `insert into recipients ${columns} select ${fields}, 'duplicate_address', 'skipped' from json_each(?)
               where value ->> 0 not in (select n from recipients) returning n, state`,
              data,
            )
            .toArray()
    const counts = new Map<keyof Counters, number>()
    for (const { state } of [...added, ...shared]) tally(counts, counted[state], 1)
    this.#count(counts)
  }

  /** Forgets those of an earlier run who are to be chosen anew: all who were not tried, or failed for a passing reason. */
  dismiss(reasons: readonly string[]): void {
    const gone = this.#sql
      .exec<{ state: RecipientState; n: number }>(
        `delete from recipients where (state in ('pending', 'skipped')
            or state = 'failed' and reason in (select value from json_each(?)))
          and n not in (select value from chunks, json_each(chunks.members)) returning state, n`,
        JSON.stringify(reasons),
      )
      .toArray()
    this.#recount(gone, null)
  }

  /** Puts those who failed for one of these reasons back to the pending ones. */
  reopen(reasons: readonly string[]): void {
    const reopened = this.#sql
      .exec<{ n: number }>(
        `update recipients set state = 'pending', reason = null where state = 'failed'
          and reason in (select value from json_each(?)) returning n`,
        JSON.stringify(reasons),
      )
      .toArray()
    this.#recount(
      reopened.map(({ n }) => ({ n, state: 'failed' })),
      'pending',
    )
  }

  people(members: readonly number[]): RecipientRow[] {
    return this.#sql
      .exec('select * from recipients where n in (select value from json_each(?)) order by n', JSON.stringify(members))
      .toArray() as unknown as RecipientRow[]
  }

  /** The next pending recipients of this run; those in chunks of an earlier one are seen to already. */
  pendingAfter({ cut_after, run }: CampaignRecord, limit: number): number[] {
    return this.#sql
      .exec<{ n: number }>(
        `select n from recipients where n > ? and state = 'pending'
          and n not in (select value from chunks, json_each(chunks.members) where chunks.run < ?)
         order by n limit ?`,
        cut_after,
        run,
        limit,
      )
      .toArray()
      .map(({ n }) => n)
  }

  /** Ends what becomes of these recipients. What is sent stays sent; all else gives way to what is known better. */
  settle(endings: ReadonlyMap<number, Settled>, delivered: boolean): void {
    const counts = new Map<keyof Counters, number>()
    const sent: number[] = []
    for (const { n, state, delivered_at } of this.people([...endings.keys()])) {
      const ending = endings.get(n)
      if (!ending || state === 'sent' || (ending.to !== 'sent' && state === 'skipped')) continue
      if (ending.to === 'sent') {
        this.#sql.exec(
          `update recipients set state = 'sent', reason = null, code = '', detail = '', attempts = attempts + 1,
            provider_id = coalesce(?, provider_id), sent_at = ?, delivered_at = coalesce(delivered_at, ?) where n = ?`,
          ending.provider_id,
          ending.at,
          delivered ? ending.at : null,
          n,
        )
        if (delivered && delivered_at === null) tally(counts, ['delivered'], 1)
        sent.push(n)
      } else
        this.#sql.exec(
          'update recipients set state = ?, reason = ?, code = ?, detail = ?, attempts = attempts + ? where n = ?',
          ending.to,
          ending.reason,
          ending.code,
          ending.detail.slice(0, 500),
          Number(ending.to === 'failed'),
          n,
        )
      tally(counts, counted[state], -1)
      tally(counts, counted[ending.to], 1)
    }
    this.#count(counts)
    this.#note(sent)
  }

  /** Stamps what was told; answers whom bounces and complaints are about. */
  stamp(events: readonly RecipientEvent[]): Told[] {
    const counts = new Map<keyof Counters, number>()
    const rows = new Map(this.people([...new Set(events.map(({ n }) => n))]).map((row) => [row.n, row]))
    const told: Told[] = []
    const changed = new Set<number>()
    for (const event of events) {
      const row = rows.get(event.n)
      if (!row) continue
      if (event.type === 'bounced' || event.type === 'complained')
        told.push({ event, user_id: row.user_id, address: row.address })
      const changes = stamped(row, event)
      const names = Object.keys(changes) as (keyof Stamps)[]
      if (names.length === 0) continue
      for (const name of names) {
        const counter = counterOf[name]
        if (row[name] === null && counter) tally(counts, [counter], 1)
        if (name === 'opened_at' || name === 'clicked_at') changed.add(row.n)
      }
      this.#sql.exec(
        `update recipients set ${names.map((name) => `${name} = ?`).join(', ')} where n = ?`,
        ...names.map((name) => changes[name] ?? null),
        row.n,
      )
      Object.assign(row, changes)
    }
    this.#count(counts)
    this.#note([...changed])
    return told
  }

  countFailed(reasons: readonly string[]): number {
    return this.#sql
      .exec<{ n: number }>(
        `select count(*) as n from recipients where state = 'failed' and reason in (select value from json_each(?))`,
        JSON.stringify(reasons),
      )
      .one().n
  }

  /** Whether the campaign's row or the receipts do not show everything yet. */
  isBehind(): boolean {
    const record = this.record()
    return record !== null && (record.projected < record.revision || this.changedReceipts(1).numbers.length > 0)
  }

  /** Some of those of whom the receipts have to tell. */
  changedReceipts(limit: number): { numbers: number[]; rows: RecipientRow[] } {
    const changed = this.#sql
      .exec<{ number: number; members: string }>('select * from changed order by number limit ?', limit)
      .toArray()
    const members = new Set(changed.flatMap((row) => JSON.parse(row.members) as number[]))
    return { numbers: changed.map(({ number }) => number), rows: this.people([...members]) }
  }

  forgetChanged(numbers: readonly number[]): void {
    this.#sql.exec('delete from changed where number in (select value from json_each(?))', JSON.stringify(numbers))
  }

  /** Remembers of whom the receipts have to tell. */
  #note(members: readonly number[]): void {
    if (members.length) this.#sql.exec('insert into changed (members) values (?)', JSON.stringify(members))
  }

  #recount(rows: readonly { state: RecipientState }[], to: RecipientState | null): void {
    const counts = new Map<keyof Counters, number>()
    for (const { state } of rows) {
      tally(counts, counted[state], -1)
      if (to) tally(counts, counted[to], 1)
    }
    this.#count(counts)
  }

  #count(counts: ReadonlyMap<keyof Counters, number>): void {
    const changes = [...counts].filter(([, by]) => by !== 0)
    if (changes.length === 0) return
    const sets = changes.map(([name]) => `${name} = ${name} + ?`)
    this.#sql.exec(`update record set ${sets.join(', ')}, revision = revision + 1`, ...changes.map(([, by]) => by))
  }
}

const tally = (counts: Map<keyof Counters, number>, names: readonly (keyof Counters)[], by: number): void => {
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + by)
}
