import { type RecipientEvent, stamped, type Stamps } from '../../domain/campaigns/recipient-events.ts'
import type { AffectedRecipient, NewRecipient, RecipientRow } from '../../domain/campaigns/sender.ts'
import type { RecipientState } from '../../domain/campaigns/sending-policy.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import type { Counters } from '../../domain/campaigns/counters.ts'
import { AddressOrder } from './address-order.ts'
import { EngagementStore } from './engagement-store.ts'
import { ListStore } from './list-store.ts'
import { asRecipient, PackStore } from './pack-store.ts'
import { type CampaignRecord, recipientState, schema, type RecipientOutcome, type ObjectStorage } from './schema.ts'
import { counted, counterOf, tally } from './recipient-counts.ts'
import { UniqueAddresses } from './unique-addresses.ts'

/**
 * The recipients and counters of a campaign in the database of its object. Both change in the same synchronous block,
 * so they always agree.
 */
export class RecipientStore {
  readonly storage: ObjectStorage
  readonly engagement: EngagementStore
  readonly addresses: UniqueAddresses
  readonly lists: ListStore
  readonly addressOrder: AddressOrder
  readonly #sql: SqlStorage
  readonly #packs: PackStore

  constructor(storage: ObjectStorage) {
    this.storage = storage
    this.#sql = storage.sql
    this.#packs = new PackStore(storage.sql)
    this.engagement = new EngagementStore(storage.sql)
    this.addresses = new UniqueAddresses(storage.sql)
    this.lists = new ListStore(storage.sql, this.#packs)
    this.addressOrder = new AddressOrder(storage.sql)
    this.createTables()
  }

  createTables(): void {
    this.#packs.forget()
    this.#sql.exec(schema)
  }

  /** Makes what lists read, where nothing has it yet. */
  prepareLists(isByAddress: boolean): void {
    const isOrdered = !isByAddress || this.addressOrder.isMade()
    if (isOrdered && this.lists.isMade()) return
    this.transaction(() => {
      if (!this.lists.isMade()) this.lists.make()
      if (!isOrdered) this.addressOrder.make(this.lists.all())
    })
  }

  /** All of the block takes effect, or nothing. */
  transaction<T>(block: () => T): T {
    try {
      return this.storage.transactionSync(block)
    } catch (error) {
      this.addresses.forget()
      this.#packs.forget()
      throw error
    }
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
  addRecipients(given: readonly NewRecipient[], channel: Channel): void {
    const people = channel === 'sms' ? this.addresses.withReasons(given) : given
    const known = new Set(this.recipients(people.map(({ n }) => n)).map(({ n }) => n))
    const added = people.filter(({ n }) => !known.has(n))
    const rowsOf = (isSkipped: boolean) =>
      added.filter(({ reason }) => (reason !== null) === isSkipped).map((one) => asRecipient(one))
    const [skipped, waiting] = [rowsOf(true), rowsOf(false)]
    this.#packs.insert(skipped)
    this.#packs.add(waiting)
    this.lists.note([...skipped, ...waiting])
    this.addressOrder.drop()
    const counts = new Map<keyof Counters, number>()
    tally(counts, counted.skipped, skipped.length)
    tally(counts, counted.pending, waiting.length)
    this.#count(counts)
  }

  /** Deletes recipients of an earlier run who were not tried, or failed for one of the reasons. They may be added again. */
  removeUnsent(reasons: readonly string[]): void {
    this.addresses.forget()
    this.#packs.unpackChunks()
    this.#count(new Map([['total', -this.#packs.clear()]]))
    const gone = this.#sql
      .exec<{ state: RecipientState; n: number }>(
        `delete from recipients where (state in (${recipientState('pending')}, ${recipientState('skipped')})
            or state = ${recipientState('failed')} and reason in (select value from json_each(?)))
          and n not in (select value from chunks, json_each(chunks.members)) returning state, n`,
        JSON.stringify(reasons),
      )
      .toArray()
    this.lists.make()
    this.addressOrder.drop()
    this.#recount(gone, null)
  }

  /** Makes those pending who failed for one of these reasons. */
  reopen(reasons: readonly string[]): void {
    this.#packs.unpackChunks()
    const reopened = this.#sql
      .exec<{ n: number }>(
        `update recipients set state = ${recipientState('pending')}, reason = null where state = ${recipientState('failed')}
          and reason in (select value from json_each(?)) returning n`,
        JSON.stringify(reasons),
      )
      .toArray()
    this.lists.make()
    this.#recount(
      reopened.map(({ n }) => ({ n, state: 'failed' })),
      'pending',
    )
  }

  recipients(members: readonly number[]): RecipientRow[] {
    if (members.length === 0) return []
    const rows = this.#sql
      .exec('select * from recipients where n in (select value from json_each(?)) order by n', JSON.stringify(members))
      .toArray() as unknown as RecipientRow[]
    if (rows.length === members.length) return rows
    const found = new Set(rows.map(({ n }) => n))
    const packed = this.#packs.find(members.filter((n) => !found.has(n)))
    return [...rows, ...packed].toSorted((one, other) => one.n - other.n)
  }

  addressOf(n: number): string {
    return this.recipients([n])[0]?.address ?? ''
  }

  /** The next pending recipients of this run. Those in chunks of an earlier run are handed out by these chunks. */
  pendingAfter({ cut_after, run }: CampaignRecord, limit: number): number[] {
    const packed = this.#packs.after(cut_after, limit)
    const rows = this.#sql
      .exec<{ n: number }>(
        `select n from recipients where n > ? and n < ? and state = ${recipientState('pending')}
          and n not in (select value from chunks, json_each(chunks.members) where chunks.run < ?)
         order by n limit ?`,
        cut_after,
        packed.at(-1) ?? Number.MAX_SAFE_INTEGER,
        run,
        limit,
      )
      .toArray()
      .map(({ n }) => n)
    return [...rows, ...packed].toSorted((one, other) => one - other).slice(0, limit)
  }

  /** A sent recipient stays sent. Any other state gives way to a newer outcome. */
  recordOutcomes(outcomes: ReadonlyMap<number, RecipientOutcome>, delivered: boolean): void {
    if (outcomes.size === 0) return
    this.addresses.forget()
    const counts = new Map<keyof Counters, number>()
    // Almost all are pending, and need not be read.
    const isPending = `state = ${recipientState('pending')} and delivered_at is null`
    const sentFirst = this.#packs.unpack([...outcomes.keys()], outcomes, delivered)
    const sent = sentFirst.map(({ n }) => n)
    const unpacked = new Set(sent)
    const tried = new Map([...outcomes].filter(([n]) => !unpacked.has(n)))
    sent.push(...this.#recordSent(tried, delivered, isPending))
    tally(counts, ['sent', ...(delivered ? ['delivered' as const] : [])], sent.length)
    const known = new Set(sent)
    const unsent: number[] = []
    for (const { n, state, delivered_at } of this.recipients([...outcomes.keys()].filter((one) => !known.has(one)))) {
      const outcome = outcomes.get(n)
      if (!outcome || state === 'sent' || (outcome.to !== 'sent' && state === 'skipped')) continue
      if (outcome.to === 'sent') {
        if (delivered && delivered_at === null) tally(counts, ['delivered'], 1)
        sent.push(...this.#recordSent(new Map([[n, outcome]]), delivered, 'true'))
      } else {
        this.#recordUnsent(n, outcome)
        unsent.push(n)
      }
      tally(counts, counted[state], -1)
      tally(counts, counted[outcome.to], 1)
    }
    this.#count(counts)
    this.engagement.mark(sent)
    const others = [...sent.slice(sentFirst.length), ...unsent]
    this.lists.note([...sentFirst, ...this.recipients(others)])
  }

  /** Records the sent ones for which the condition holds, in one statement. Answers their numbers. */
  #recordSent(outcomes: ReadonlyMap<number, RecipientOutcome>, delivered: boolean, condition: string): number[] {
    const sent = [...outcomes].flatMap(([n, outcome]) =>
      outcome.to === 'sent' ? [[n, outcome.provider_id, outcome.at]] : [],
    )
    if (sent.length === 0) return []
    return this.#sql
      .exec<{ n: number }>(
        `update recipients set state = ${recipientState('sent')}, reason = null, code = '', detail = '', attempts = attempts + 1,
          provider_id = coalesce(one.value ->> 1, provider_id), sent_at = one.value ->> 2,
          delivered_at = coalesce(delivered_at, iif(?, one.value ->> 2, null))
         from json_each(?) one where n = one.value ->> 0 and ${condition} returning n`,
        Number(delivered),
        JSON.stringify(sent),
      )
      .toArray()
      .map(({ n }) => n)
  }

  #recordUnsent(n: number, { to, reason, code, detail }: Exclude<RecipientOutcome, { to: 'sent' }>): void {
    this.#sql.exec(
      'update recipients set state = ?, reason = ?, code = ?, detail = ?, attempts = attempts + ? where n = ?',
      to,
      reason,
      code,
      detail.slice(0, 500),
      Number(to === 'failed'),
      n,
    )
  }

  /** Stamps the events; answers the recipients of bounces and complaints. */
  stamp(events: readonly RecipientEvent[]): AffectedRecipient[] {
    const counts = new Map<keyof Counters, number>()
    const rows = new Map(this.recipients([...new Set(events.map(({ n }) => n))]).map((row) => [row.n, row]))
    const affected: AffectedRecipient[] = []
    const changed = new Set<number>()
    const stampedRows = new Set<RecipientRow>()
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
      stampedRows.add(row)
    }
    this.#count(counts)
    this.engagement.mark([...changed])
    this.lists.note([...stampedRows])
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
