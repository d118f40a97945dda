import type { RetryChunk } from '../../domain/campaigns/chunk-report.ts'
import { isNumbers, readJson } from '../../domain/text/json.ts'
import type { CampaignRecord } from './schema.ts'

/**
 * ready: a consumer may claim the chunk. claimed: a consumer holds it. begun: its holder may have called the provider.
 */
type ChunkState = 'ready' | 'claimed' | 'begun'

/** Quotes a state for SQL. */
export const quoteChunkState = (state: ChunkState): string => `'${state}'`

/** `members` change only before the first call of a chunk, when excluded recipients are removed. */
export interface Chunk {
  number: number
  run: number
  content_run: number
  members: string
  state: ChunkState
  is_repeat: number
  tries: number
  first_tried_at: number | null
  not_before: number
  claim_id: string | null
  claimed_until: number | null
  /** The fault of the provider at the last try. Null: no fault is known. */
  fault: string | null
}

/** Who holds a chunk, from when and until when. */
export interface ChunkClaimTerms {
  claim_id: string
  now: number
  until: number
}

export const readMembers = ({ members }: { members: string }): number[] => readJson(members, isNumbers)

/** The unfinished chunks of a campaign. */
export class ChunkStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  #select(query: string, ...values: SqlStorageValue[]): Chunk[] {
    return this.#sql.exec(query, ...values).toArray() as unknown as Chunk[]
  }

  findHeld(number: number, claimId: string): Chunk | null {
    const [chunk] = this.#select('select * from chunks where number = ?', number)
    return chunk && chunk.state !== 'ready' && chunk.claim_id === claimId ? chunk : null
  }

  listExpired(now: number): Chunk[] {
    return this.#select(
      `select * from chunks where state <> ${quoteChunkState('ready')} and claimed_until <= ? order by number`,
      now,
    )
  }

  findReady(now: number): Chunk | undefined {
    return this.#select(
      `select * from chunks where state = ${quoteChunkState('ready')} and not_before <= ? order by number limit 1`,
      now,
    )[0]
  }

  /** Lists ready chunks whose calls may have been made and were first made up to this time. */
  listReadyRepeats(until: number): Chunk[] {
    return this.#select(
      `select * from chunks where state = ${quoteChunkState('ready')} and is_repeat = 1 and first_tried_at <= ?`,
      until,
    )
  }

  listReady(): Chunk[] {
    return this.#select(`select * from chunks where state = ${quoteChunkState('ready')}`)
  }

  countHeld(now: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `select count(*) as n from chunks where state <> ${quoteChunkState('ready')} and claimed_until > ?`,
        now,
      )
      .one().n
  }

  count(): number {
    return this.#sql.exec<{ n: number }>('select count(*) as n from chunks').one().n
  }

  /** True while a chunk waits because of its provider. */
  hasFault(): boolean {
    return this.#sql.exec('select 1 from chunks where fault is not null limit 1').toArray().length > 0
  }

  /** Adds a chunk that a consumer has already claimed. */
  addClaimed(
    record: CampaignRecord,
    members: readonly number[],
    { claim_id, now, until }: ChunkClaimTerms,
  ): Chunk | null {
    const [chunk] = this.#select(
      `insert into chunks (run, content_run, members, state, tries, first_tried_at, not_before, claim_id, claimed_until)
       values (?, ?, ?, ${quoteChunkState('claimed')}, 1, ?, ?, ?, ?) returning *`,
      record.run,
      record.content_run,
      JSON.stringify(members),
      now,
      now,
      claim_id,
      until,
    )
    return chunk ?? null
  }

  addRetry(chunk: Chunk, { members, is_repeat, tries, not_before, fault }: RetryChunk): void {
    this.#sql.exec(
      `insert into chunks (run, content_run, members, state, is_repeat, tries, first_tried_at, not_before, fault)
       values (?, ?, ?, ${quoteChunkState('ready')}, ?, ?, ?, ?, ?)`,
      chunk.run,
      chunk.content_run,
      JSON.stringify(members),
      Number(is_repeat),
      tries,
      chunk.first_tried_at,
      not_before,
      fault,
    )
  }

  claim(number: number, { claim_id, now, until }: ChunkClaimTerms): void {
    this.#sql.exec(
      `update chunks set state = ${quoteChunkState('claimed')}, claim_id = ?, claimed_until = ?, tries = tries + 1,
        first_tried_at = coalesce(first_tried_at, ?) where number = ?`,
      claim_id,
      until,
      now,
      number,
    )
  }

  begin(number: number, members: readonly number[]): void {
    this.#sql.exec(
      `update chunks set state = ${quoteChunkState('begun')}, members = ? where number = ?`,
      JSON.stringify(members),
      number,
    )
  }

  /** Counts the time in which ready chunks may be tried from a later time on. Repeated calls keep the time of their key. */
  postponeFirstTries(ms: number): void {
    this.#sql.exec(
      `update chunks set first_tried_at = first_tried_at + ? where state = ${quoteChunkState('ready')} and is_repeat = 0`,
      ms,
    )
  }

  setMembers(number: number, members: readonly number[]): void {
    this.#sql.exec('update chunks set members = ? where number = ?', JSON.stringify(members), number)
  }

  /** Lets another consumer claim a chunk whose claim expired. */
  returnToReady(number: number, isRepeat: boolean, now: number): void {
    this.#sql.exec(
      `update chunks set state = ${quoteChunkState('ready')}, claim_id = null, claimed_until = null, is_repeat = ?,
        not_before = ? where number = ?`,
      Number(isRepeat),
      now,
      number,
    )
  }

  remove(number: number): void {
    this.#sql.exec('delete from chunks where number = ?', number)
  }

  /** Deletes ready chunks of which no message can have been sent. Their recipients get into new chunks. */
  deleteUnsent(): void {
    this.#sql.exec(`delete from chunks where state = ${quoteChunkState('ready')} and is_repeat = 0`)
  }

  /** Finds the first end of a claim, the first time at which a ready chunk may be claimed, and the oldest call to repeat. */
  findNextTimes(): Record<'claimed_until' | 'not_before' | 'repeated_since', number | null> {
    return this.#sql
      .exec<Record<'claimed_until' | 'not_before' | 'repeated_since', number | null>>(
        `select min(iif(state = ${quoteChunkState('ready')}, null, claimed_until)) as claimed_until,
          min(iif(state = ${quoteChunkState('ready')}, not_before, null)) as not_before,
          min(iif(state = ${quoteChunkState('ready')} and is_repeat = 1, first_tried_at, null)) as repeated_since
         from chunks`,
      )
      .one()
  }
}
