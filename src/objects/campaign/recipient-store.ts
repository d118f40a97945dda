import { type RecipientEvent, stamped, type Stamps } from '../../domain/campaigns/recipient-events.ts'
import type { AffectedRecipient, NewRecipient, RecipientRow } from '../../domain/campaigns/sender.ts'
import type { RecipientState } from '../../domain/campaigns/sending-policy.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import type { Counters } from '../../domain/campaigns/counters.ts'
import { EngagementStore } from './engagement-store.ts'
import { type CampaignRecord, recipientState, schema, type RecipientOutcome, type ObjectStorage } from './schema.ts'
import { counted, counterOf, tally } from './recipient-counts.ts'

type SentOutcome = { n: number } & Extract<RecipientOutcome, { to: 'sent' }>
type UnsentOutcome = { n: number } & Exclude<RecipientOutcome, { to: 'sent' }>

/**
 * The recipients and counters of a campaign in the database of its object. Both change in the same synchronous block,
 * so they always agree.
 */
export class RecipientStore {
  readonly storage: ObjectStorage
  readonly engagement: EngagementStore
  readonly #sql: SqlStorage

  constructor(storage: ObjectStorage) {
    this.storage = storage
    this.#sql = storage.sql
    this.engagement = new EngagementStore(storage.sql)
    this.createTables()
  }

  createTables(): void {
    this.#sql.exec(schema)
  }

  /** All of the block takes effect, or nothing. */
  transaction<T>(block: () => T): T {
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

  /** Changes the record; `shown` is whether the change has to reach the campaign's row. */
  change(changes: Partial<CampaignRecord>, shown = true): void {
    const names = Object.keys(changes)
    const sets = names.map((name) => `${name} = ?`)
    if (shown) sets.push('revision = revision + 1')
    if (sets.length)
      this.#sql.exec(`update record set ${sets.join(', ')}`, ...(Object.values(changes) as SqlStorageValue[]))
  }

  /** Known recipients stay as they are. A recipient of an SMS with the address of another is skipped. */
  addRecipients(people: readonly NewRecipient[], channel: Channel): void {
    const added = this.#sql.exec<{ state: RecipientState }>(
      `insert into recipients (n, user_id, address, language, person, state, reason)
       select value ->> 'n', value ->> 'user_id', value ->> 'address', value ->> 'language', value ->> 'person',
        iif(value ->> 'reason' is null, ${recipientState('pending')}, ${recipientState('skipped')}), value ->> 'reason'
       from json_each(?) where true on conflict (n) do nothing returning state`,
      JSON.stringify(channel === 'sms' ? this.#skipDuplicates(people) : people),
    )
    const counts = new Map<keyof Counters, number>()
    for (const { state } of added) tally(counts, counted[state], 1)
    this.#count(counts)
  }

  /** Several people may share a telephone number, which gets one SMS. */
  #skipDuplicates(people: readonly NewRecipient[]): NewRecipient[] {
    const takenAddresses = new Set(
      this.#sql
        .exec<{ address: string }>(
          `select address from recipients where address in (select value from json_each(?))
            and state <> ${recipientState('skipped')}`,
          JSON.stringify(people.filter(({ reason }) => reason === null).map(({ address }) => address)),
        )
        .toArray()
        .map(({ address }) => address),
    )
    const knownNumbers = new Set(this.recipients(people.map(({ n }) => n)).map(({ n }) => n))
    return people.map((one) => {
      // A known recipient keeps the address of an earlier run, so the new one stays free.
      if (one.reason !== null || knownNumbers.has(one.n)) return one
      if (takenAddresses.has(one.address)) return { ...one, reason: 'duplicate_address' }
      takenAddresses.add(one.address)
      return one
    })
  }

  /** Deletes recipients of an earlier run who were not tried, or failed for one of the reasons. They may be added again. */
  removeUnsent(reasons: readonly string[]): void {
    const removed = this.#sql.exec<{ state: RecipientState }>(
      `delete from recipients where (state in (${recipientState('pending')}, ${recipientState('skipped')})
          or state = ${recipientState('failed')} and reason in (select value from json_each(?)))
        and n not in (select value from chunks, json_each(chunks.members)) returning state`,
      JSON.stringify(reasons),
    )
    const counts = new Map<keyof Counters, number>()
    for (const { state } of removed) tally(counts, counted[state], -1)
    this.#count(counts)
  }

  /** Makes those pending who failed for one of these reasons. */
  reopen(reasons: readonly string[]): void {
    const reopened = this.#sql
      .exec(
        `update recipients set state = ${recipientState('pending')}, reason = null where state = ${recipientState('failed')}
          and reason in (select value from json_each(?)) returning n`,
        JSON.stringify(reasons),
      )
      .toArray()
    const counts = new Map<keyof Counters, number>()
    tally(counts, counted.failed, -reopened.length)
    tally(counts, counted.pending, reopened.length)
    this.#count(counts)
  }

  /** In the order of numbers. */
  recipients(members: readonly number[]): RecipientRow[] {
    return this.#sql
      .exec('select * from recipients where n in (select value from json_each(?)) order by n', JSON.stringify(members))
      .toArray() as unknown as RecipientRow[]
  }

  /**
   * The next pending recipients of this run. Those in chunks of an earlier run are handed out by these chunks. A pending
   * recipient has no reason: naming this too lets SQLite seek the number in the index.
   */
  pendingAfter({ cut_after, run }: CampaignRecord, limit: number): number[] {
    return this.#sql
      .exec<{ n: number }>(
        `select n from recipients where state = ${recipientState('pending')} and reason is null and n > ?
          and n not in (select value from chunks, json_each(chunks.members) where chunks.run < ?)
         order by n limit ?`,
        cut_after,
        run,
        limit,
      )
      .toArray()
      .map(({ n }) => n)
  }

  /** A sent recipient stays sent. Any other state gives way to a newer outcome, but a skipped one is never failed. */
  recordOutcomes(outcomes: ReadonlyMap<number, RecipientOutcome>, delivered: boolean): void {
    if (outcomes.size === 0) return
    const counts = new Map<keyof Counters, number>()
    const sent: SentOutcome[] = []
    const unsent: UnsentOutcome[] = []
    for (const { n, state, delivered_at } of this.recipients([...outcomes.keys()])) {
      const outcome = outcomes.get(n)
      if (!outcome || state === 'sent' || (outcome.to !== 'sent' && state === 'skipped')) continue
      if (outcome.to === 'sent') {
        sent.push({ n, ...outcome })
        if (delivered && delivered_at === null) tally(counts, ['delivered'], 1)
      } else unsent.push({ n, ...outcome })
      tally(counts, counted[state], -1)
      tally(counts, counted[outcome.to], 1)
    }
    if (sent.length) this.#recordSent(sent, delivered)
    if (unsent.length) this.#recordUnsent(unsent)
    this.#count(counts)
    this.engagement.mark(sent.map(({ n }) => n))
  }

  #recordSent(outcomes: readonly SentOutcome[], delivered: boolean): void {
    this.#sql.exec(
      `update recipients set state = ${recipientState('sent')}, reason = null, code = '', detail = '', attempts = attempts + 1,
        provider_id = coalesce(one.value ->> 'provider_id', provider_id), sent_at = one.value ->> 'at',
        delivered_at = coalesce(delivered_at, iif(?, one.value ->> 'at', null))
       from json_each(?) one where n = one.value ->> 'n'`,
      Number(delivered),
      JSON.stringify(outcomes),
    )
  }

  #recordUnsent(outcomes: readonly UnsentOutcome[]): void {
    this.#sql.exec(
      `update recipients set state = one.value ->> 'to', reason = one.value ->> 'reason', code = one.value ->> 'code',
        detail = substr(one.value ->> 'detail', 1, 500),
        attempts = attempts + (one.value ->> 'to' = ${recipientState('failed')})
       from json_each(?) one where n = one.value ->> 'n'`,
      JSON.stringify(outcomes),
    )
  }

  /** Stamps the events; answers the recipients of bounces and complaints. */
  stamp(events: readonly RecipientEvent[]): AffectedRecipient[] {
    const counts = new Map<keyof Counters, number>()
    const rows = new Map(this.recipients([...new Set(events.map(({ n }) => n))]).map((row) => [row.n, row]))
    const affected: AffectedRecipient[] = []
    const changed = new Set<number>()
    for (const event of events) {
      const row = rows.get(event.n)
      if (!row) continue
      if (event.type === 'bounced' || event.type === 'complained')
        affected.push({ event, user_id: row.user_id, address: row.address })
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
    this.engagement.mark([...changed])
    return affected
  }

  countFailed(reasons: readonly string[]): number {
    return this.#sql
      .exec<{ n: number }>(
        `select count(*) as n from recipients where state = ${recipientState('failed')} and reason in (select value from json_each(?))`,
        JSON.stringify(reasons),
      )
      .one().n
  }

  /** Whether the campaign's row or the engagement rows do not show everything yet. */
  isProjectionBehind(): boolean {
    const record = this.record()
    if (record === null || record.projected < record.revision) return record !== null
    return this.engagement.hasChanged()
  }

  #count(counts: ReadonlyMap<keyof Counters, number>): void {
    const changes = [...counts].filter(([, by]) => by !== 0)
    if (changes.length === 0) return
    const sets = changes.map(([name]) => `${name} = ${name} + ?`)
    this.#sql.exec(`update record set ${sets.join(', ')}, revision = revision + 1`, ...changes.map(([, by]) => by))
  }
}
