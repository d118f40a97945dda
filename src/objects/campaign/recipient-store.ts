import { buildSearchColumns } from '../../domain/accounts/users.ts'
import type { RecipientOutcome } from '../../domain/campaigns/chunk-report.ts'
import type { Counters } from '../../domain/campaigns/counters.ts'
import { skipDuplicates } from '../../domain/campaigns/duplicate-addresses.ts'
import {
  type RecipientEvent,
  computeStampChanges,
  isMachineEvent,
  stampNames,
  type Stamps,
} from '../../domain/campaigns/recipient-events.ts'
import {
  type AffectedRecipient,
  type EarlierRecipients,
  type ErasedRecipient,
  type NewRecipient,
  readPerson,
  type RecipientRow,
} from '../../domain/campaigns/sender.ts'
import {
  type FailReason,
  failReasons,
  type Reason,
  type RecipientState,
  retryableReasons,
} from '../../domain/campaigns/sending-policy.ts'
import { isTimelineName } from '../../domain/campaigns/timeline.ts'
import type { Channel } from '../../domain/messaging/messaging.ts'
import { quoteChunkState } from './chunk-store.ts'
import { EngagementStore } from './engagement-store.ts'
import { type LinkClick, LinkStore } from './link-store.ts'
import { type CampaignRecord, createTables, quoteRecipientState, type ObjectStorage } from './schema.ts'
import { addToMinute, type MinuteChanges, moveToMinute, TimelineStore } from './timeline-store.ts'

type SentOutcome = { n: number } & Extract<RecipientOutcome, { to: 'sent' }>
type UnsentOutcome = { n: number } & Exclude<RecipientOutcome, { to: 'sent' }>

type CounterChanges = Map<keyof Counters, number>

/** The counters that include a recipient of each state. */
const countersByState: Record<RecipientState, readonly (keyof Counters)[]> = {
  pending: ['total'],
  sent: ['total', 'sent'],
  failed: ['total', 'failed'],
  skipped: ['skipped'],
}

/** Holds for recipients who were not tried, or failed for one of the reasons, which are a JSON array. */
const buildIsUnsent = (reasons: string): string =>
  `((state in (${quoteRecipientState('pending')}, ${quoteRecipientState('skipped')})
      or state = ${quoteRecipientState('failed')} and reason in (select value from json_each(${reasons})))
    and n not in (select value from chunks, json_each(chunks.members)))`

const isFailReason = (reason: Reason | null): reason is FailReason => failReasons.some((one) => one === reason)

const listCounters = (state: RecipientState, reason: Reason | null): readonly (keyof Counters)[] =>
  state === 'failed' && isFailReason(reason) ? [...countersByState.failed, reason] : countersByState[state]

const counterByStamp: Partial<Record<keyof Stamps, keyof Counters>> = {
  delivered_at: 'delivered',
  opened_at: 'opened',
  machine_opened_at: 'machine_opened',
  clicked_at: 'clicked',
  bounced_at: 'bounced',
  complained_at: 'complained',
  unsubscribed_at: 'unsubscribed',
}

/** The stamps that `campaign_receipts` stores. */
const projectedStamps: readonly (keyof Stamps)[] = [
  'delivered_at',
  'opened_at',
  'clicked_at',
  'bounced_at',
  'complained_at',
  'unsubscribed_at',
]

function addToCounters(changes: CounterChanges, names: readonly (keyof Counters)[], by: number): void {
  for (const name of names) changes.set(name, (changes.get(name) ?? 0) + by)
}

/**
 * The recipients and counters of a campaign in the database of its object. Both change in the same synchronous block,
 * so they always agree.
 */
export class RecipientStore {
  readonly storage: ObjectStorage
  readonly engagement: EngagementStore
  readonly timeline: TimelineStore
  readonly links: LinkStore
  readonly #sql: SqlStorage

  constructor(storage: ObjectStorage) {
    this.storage = storage
    this.#sql = storage.sql
    this.engagement = new EngagementStore(storage.sql)
    this.timeline = new TimelineStore(storage.sql)
    this.links = new LinkStore(storage.sql)
    this.createTables()
  }

  createTables(): void {
    createTables(this.#sql)
  }

  transaction<T>(block: () => T): T {
    return this.storage.transactionSync(block)
  }

  readRecord(): CampaignRecord | null {
    return (this.#sql.exec('select * from record').toArray()[0] as unknown as CampaignRecord | undefined) ?? null
  }

  /** Reads the record, which it creates when there is none. */
  ensureRecord(campaignId: string): CampaignRecord {
    this.#sql.exec('insert into record (singleton, campaign_id) values (1, ?) on conflict do nothing', campaignId)
    const record = this.readRecord()
    if (!record) throw new Error('the record is missing')
    return record
  }

  /** `isVisible` is false for a change that the campaign's row does not show. */
  changeRecord(changes: Partial<CampaignRecord>, { isVisible } = { isVisible: true }): void {
    const names = Object.keys(changes)
    const sets = names.map((name) => `${name} = ?`)
    if (isVisible) sets.push('revision = revision + 1')
    if (sets.length)
      this.#sql.exec(`update record set ${sets.join(', ')}`, ...(Object.values(changes) as SqlStorageValue[]))
  }

  /** Leaves known recipients as they are. Skips a recipient of an SMS whose number another recipient has. */
  addRecipients(people: readonly NewRecipient[], channel: Channel): void {
    const recipients = (channel === 'sms' ? this.#skipDuplicates(people) : people).map((recipient) => ({
      ...recipient,
      search_text: buildSearchColumns(readPerson(recipient)).search_text,
    }))
    const addedRows = this.#sql
      .exec<{ n: number; state: RecipientState }>(
        `insert into recipients (n, user_id, address, language, person, conditions, search_text, state, reason)
       select value ->> 'n', value ->> 'user_id', value ->> 'address', value ->> 'language', value ->> 'person',
        value ->> 'conditions', value ->> 'search_text',
        iif(value ->> 'reason' is null, ${quoteRecipientState('pending')}, ${quoteRecipientState('skipped')}),
        value ->> 'reason'
       from json_each(?) where true on conflict (n) do nothing returning n, state`,
        JSON.stringify(recipients),
      )
      .toArray()
    const counterChanges: CounterChanges = new Map()
    for (const { state } of addedRows) addToCounters(counterChanges, countersByState[state], 1)
    this.#changeCounters(counterChanges)
    this.engagement.mark(addedRows.filter(({ state }) => state === 'skipped').map(({ n }) => n))
  }

  /** Several people may share a phone number, which gets one SMS. */
  #skipDuplicates(people: readonly NewRecipient[]): NewRecipient[] {
    const takenAddresses = new Set<string | null>(
      this.#sql
        .exec<{ address: string }>(
          `select address from recipients where address in (select value from json_each(?))
            and state <> ${quoteRecipientState('skipped')}`,
          JSON.stringify(people.filter(({ reason }) => reason === null).map(({ address }) => address)),
        )
        .toArray()
        .map(({ address }) => address),
    )
    const knownNumbers = new Set(
      this.listRecipients(
        people.map(({ n }) => n),
        ['n'],
      ).map(({ n }) => n),
    )
    return skipDuplicates(people, takenAddresses, knownNumbers)
  }

  /** Finds the recipients whom a further start leaves as they are, among these numbers and with these addresses. */
  findEarlier(numbers: readonly number[], addresses: readonly string[]): EarlierRecipients {
    const isKept = `not ${buildIsUnsent('?1')}`
    const reasons = JSON.stringify(retryableReasons)
    const recipients = this.#sql.exec<{ n: number; state: RecipientState }>(
      `select n, state from recipients where n in (select value from json_each(?2)) and ${isKept}`,
      reasons,
      JSON.stringify(numbers),
    )
    const holders = this.#sql.exec<{ address: string }>(
      `select address from recipients where address in (select value from json_each(?2))
        and state <> ${quoteRecipientState('skipped')} and ${isKept}`,
      reasons,
      JSON.stringify(addresses),
    )
    return { recipients: recipients.toArray(), addresses: holders.toArray().map(({ address }) => address) }
  }

  /** Deletes recipients who were not tried, or failed for one of the reasons, so that the next run adds them again. */
  removeUnsent(reasons: readonly string[]): void {
    const removedRows = this.#sql.exec<{ state: RecipientState; reason: Reason | null }>(
      `delete from recipients where ${buildIsUnsent('?')} returning state, reason`,
      JSON.stringify(reasons),
    )
    const counterChanges: CounterChanges = new Map()
    for (const { state, reason } of removedRows) addToCounters(counterChanges, listCounters(state, reason), -1)
    this.#changeCounters(counterChanges)
  }

  /** Makes recipients pending again who failed for one of the reasons. */
  reopen(reasons: readonly FailReason[]): void {
    const counterChanges: CounterChanges = new Map()
    for (const reason of reasons) {
      const reopenedRows = this.#sql
        .exec(
          `update recipients set state = ${quoteRecipientState('pending')}, reason = null
           where state = ${quoteRecipientState('failed')} and reason = ? returning n`,
          reason,
        )
        .toArray()
      addToCounters(counterChanges, listCounters('failed', reason), -reopenedRows.length)
      addToCounters(counterChanges, countersByState.pending, reopenedRows.length)
    }
    this.#changeCounters(counterChanges)
  }

  findRecipient(n: number): RecipientRow | null {
    const [row] = this.#sql.exec('select * from recipients where n = ?', n).toArray() as unknown as RecipientRow[]
    return row ?? null
  }

  /** Lists columns of recipients in the order of their numbers. */
  listRecipients<Name extends keyof RecipientRow>(
    numbers: readonly number[],
    columns: readonly Name[],
  ): Pick<RecipientRow, Name>[] {
    return this.#sql
      .exec(
        `select ${columns.join(', ')} from recipients where n in (select value from json_each(?)) order by n`,
        JSON.stringify(numbers),
      )
      .toArray() as unknown as Pick<RecipientRow, Name>[]
  }

  /**
   * Lists the next pending recipients that are in no chunk. `reason is null` holds for all of them and lets SQLite seek
   * the number in the index.
   */
  listPending({ chunked_up_to, run }: CampaignRecord, limit: number): number[] {
    return this.#sql
      .exec<{ n: number }>(
        `select n from recipients where state = ${quoteRecipientState('pending')} and reason is null and n > ?
          and n not in (select value from chunks, json_each(chunks.members) where chunks.run < ?)
         order by n limit ?`,
        chunked_up_to,
        run,
        limit,
      )
      .toArray()
      .map(({ n }) => n)
  }

  /**
   * Records the outcomes of recipients. A sent recipient stays sent, and a skipped one can only become sent.
   * `isDelivered` marks sent messages as delivered too, for providers that do not report deliveries.
   */
  recordOutcomes(outcomes: ReadonlyMap<number, RecipientOutcome>, isDelivered: boolean): void {
    if (outcomes.size === 0) return
    const counterChanges: CounterChanges = new Map()
    const minuteChanges: MinuteChanges = new Map()
    const sentOutcomes: SentOutcome[] = []
    const unsentOutcomes: UnsentOutcome[] = []
    for (const { n, state, reason, delivered_at } of this.listRecipients(
      [...outcomes.keys()],
      ['n', 'state', 'reason', 'delivered_at'],
    )) {
      const outcome = outcomes.get(n)
      if (!outcome || state === 'sent' || (outcome.to !== 'sent' && state === 'skipped')) continue
      if (outcome.to === 'sent') {
        sentOutcomes.push({ n, ...outcome })
        addToMinute(minuteChanges, outcome.at, 'sent', 1)
        if (isDelivered && delivered_at === null) {
          addToCounters(counterChanges, ['delivered'], 1)
          addToMinute(minuteChanges, outcome.at, 'delivered', 1)
        }
      } else unsentOutcomes.push({ n, ...outcome })
      addToCounters(counterChanges, listCounters(state, reason), -1)
      addToCounters(counterChanges, listCounters(outcome.to, outcome.to === 'sent' ? null : outcome.reason), 1)
    }
    if (sentOutcomes.length) this.#recordSent(sentOutcomes, isDelivered)
    if (unsentOutcomes.length) this.#recordUnsent(unsentOutcomes)
    this.#changeCounters(counterChanges)
    this.timeline.add(minuteChanges)
    this.engagement.mark([...sentOutcomes, ...unsentOutcomes].map(({ n }) => n))
  }

  #recordSent(outcomes: readonly SentOutcome[], isDelivered: boolean): void {
    this.#sql.exec(
      `update recipients set state = ${quoteRecipientState('sent')}, reason = null, code = '', detail = '',
        attempts = attempts + 1, provider_id = coalesce(item.value ->> 'provider_id', provider_id),
        sent_at = item.value ->> 'at', delivered_at = coalesce(delivered_at, iif(?, item.value ->> 'at', null))
       from json_each(?) as item where n = item.value ->> 'n'`,
      Number(isDelivered),
      JSON.stringify(outcomes),
    )
  }

  #recordUnsent(outcomes: readonly UnsentOutcome[]): void {
    this.#sql.exec(
      `update recipients set state = item.value ->> 'to', reason = item.value ->> 'reason', code = item.value ->> 'code',
        detail = substr(item.value ->> 'detail', 1, 500),
        attempts = attempts + (item.value ->> 'to' = ${quoteRecipientState('failed')})
       from json_each(?) as item where n = item.value ->> 'n'`,
      JSON.stringify(outcomes),
    )
  }

  /** Stamps the recipients of events. Returns those who bounced or complained and are not erased. */
  stampEvents(events: readonly RecipientEvent[]): AffectedRecipient[] {
    const counterChanges: CounterChanges = new Map()
    const minuteChanges: MinuteChanges = new Map()
    const clicks: LinkClick[] = []
    const numbers = new Set(events.map(({ n }) => n))
    const rows = new Map(
      this.listRecipients([...numbers], ['n', 'user_id', 'address', 'sent_at', ...stampNames]).map((row) => [
        row.n,
        row,
      ]),
    )
    const affectedRecipients: AffectedRecipient[] = []
    const engagedNumbers = new Set<number>()
    for (const event of events) {
      const row = rows.get(event.n)
      if (!row) continue
      if ((event.type === 'bounced' || event.type === 'complained') && row.address !== null)
        affectedRecipients.push({ event, user_id: row.user_id, address: row.address })
      if (event.link !== undefined)
        clicks.push({ link: event.link, n: event.n, at: isMachineEvent(row, event) ? null : event.at })
      const changes = computeStampChanges(row, event)
      const names = Object.keys(changes) as (keyof Stamps)[]
      if (names.length === 0) continue
      for (const name of names) {
        const counter = counterByStamp[name]
        if (row[name] === null && counter) addToCounters(counterChanges, [counter], 1)
        if (counter && isTimelineName(counter)) moveToMinute(minuteChanges, counter, row[name], changes[name] ?? null)
        if (projectedStamps.includes(name)) engagedNumbers.add(row.n)
      }
      this.#sql.exec(
        `update recipients set ${names.map((name) => `${name} = ?`).join(', ')} where n = ?`,
        ...names.map((name) => changes[name] ?? null),
        row.n,
      )
      Object.assign(row, changes)
    }
    this.#changeCounters(counterChanges)
    this.timeline.add(minuteChanges)
    for (const n of this.links.record(clicks)) engagedNumbers.add(n)
    this.engagement.mark([...engagedNumbers])
    return affectedRecipients
  }

  countFailed(reasons: readonly string[]): number {
    return this.#sql
      .exec<{ n: number }>(
        `select count(*) as n from recipients
         where state = ${quoteRecipientState('failed')} and reason in (select value from json_each(?))`,
        JSON.stringify(reasons),
      )
      .one().n
  }

  /** True if the campaign's row or its rows of `campaign_receipts` lack a change. */
  isProjectionBehind(): boolean {
    const record = this.readRecord()
    if (record === null) return false
    return record.projected_revision < record.revision || this.engagement.hasChanged()
  }

  /**
   * Blanks the recipient's personal data and skips a pending recipient. Returns `is_done: false` while a call is under
   * way or has to be repeated unchanged: without this recipient it would be another call, and others would get the message twice.
   */
  erase(n: number): ErasedRecipient {
    return this.transaction(() => {
      const row = this.findRecipient(n)
      if (!row) return { is_done: true, address: null }
      const { address } = row
      const emptyPerson = { id: row.user_id, email: null, phone_number: null, first_name: '', last_name: '' }
      const person = JSON.stringify(emptyPerson)
      if (address === null && row.person === person) return { is_done: true, address: null }
      const fixedChunks = this.#sql.exec(
        `select 1 from chunks, json_each(chunks.members) where json_each.value = ?
          and (state <> ${quoteChunkState('ready')} or is_repeat = 1)`,
        n,
      )
      if (fixedChunks.toArray().length) return { is_done: false, address }
      if (row.state === 'pending')
        this.recordOutcomes(new Map([[n, { to: 'skipped', reason: 'inactive', code: '', detail: '' }]]), false)
      this.#sql.exec(
        "update recipients set address = null, person = ?, conditions = 0, search_text = '', detail = '' where n = ?",
        person,
        n,
      )
      return { is_done: true, address }
    })
  }

  #changeCounters(changes: CounterChanges): void {
    const entries = [...changes].filter(([, by]) => by !== 0)
    if (entries.length === 0) return
    const sets = entries.map(([name]) => `${name} = ${name} + ?`)
    this.#sql.exec(`update record set ${sets.join(', ')}, revision = revision + 1`, ...entries.map(([, by]) => by))
  }
}
