import { isNumbers, readJson } from '../../domain/text/json.ts'
import type { CampaignRecord } from './schema.ts'

/** ready: may be claimed. claimed: a consumer works on it. begun: the consumer is making calls. */
type ChunkState = 'ready' | 'claimed' | 'begun'

/** A state in SQL. */
export const chunkState = (state: ChunkState): string => `'${state}'`

/** The members of a chunk change only before its first call, when excluded ones are removed. */
export interface Chunk {
  number: number
  run: number
  content: number
  members: string
  state: ChunkState
  is_repeat: number
  tries: number
  first_tried_at: number | null
  not_before: number
  claim_id: string | null
  claimed_until: number | null
}

export interface RetryChunk {
  members: readonly number[]
  /** The same call has to be made again. */
  exact: boolean
  tries: number
  at: number
}

export interface ChunkClaim {
  claim_id: string
  claimed_until: number
  now: number
}

export const membersOf = ({ members }: { members: string }): number[] => readJson(members, isNumbers)

/** The unfinished chunks of a campaign. */
export class ChunkStore {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  #rows(query: string, ...values: SqlStorageValue[]): Chunk[] {
    return this.#sql.exec(query, ...values).toArray() as unknown as Chunk[]
  }

  findHeld(number: number, claimId: string): Chunk | null {
    const [chunk] = this.#rows('select * from chunks where number = ?', number)
    return chunk && chunk.state !== 'ready' && chunk.claim_id === claimId ? chunk : null
  }

  expired(now: number): Chunk[] {
    return this.#rows(
      `select * from chunks where state <> ${chunkState('ready')} and claimed_until <= ? order by number`,
      now,
    )
  }

  /** The next that may be claimed. */
  findReady(now: number): Chunk | undefined {
    return this.#rows(
      `select * from chunks where state = ${chunkState('ready')} and not_before <= ? order by number limit 1`,
      now,
    )[0]
  }

  listReady(): Chunk[] {
    return this.#rows(`select * from chunks where state = ${chunkState('ready')}`)
  }

  /** The number of claimed chunks. */
  countHeld(now: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `select count(*) as n from chunks where state <> ${chunkState('ready')} and claimed_until > ?`,
        now,
      )
      .one().n
  }

  count(): number {
    return this.#sql.exec<{ n: number }>('select count(*) as n from chunks').one().n
  }

  /** Adds a chunk that a consumer holds from the beginning. */
  addClaimed(record: CampaignRecord, members: readonly number[], claim: ChunkClaim): Chunk | null {
    const [chunk] = this.#rows(
      `insert into chunks (run, content, members, state, tries, first_tried_at, not_before, claim_id, claimed_until)
       values (?, ?, ?, ${chunkState('claimed')}, 1, ?, ?, ?, ?) returning *`,
      record.run,
      record.content,
      JSON.stringify(members),
      claim.now,
      claim.now,
      claim.claim_id,
      claim.claimed_until,
    )
    return chunk ?? null
  }

  addRetry(chunk: Chunk, { members, exact, tries, at }: RetryChunk): void {
    this.#sql.exec(
      `insert into chunks (run, content, members, state, is_repeat, tries, first_tried_at, not_before)
       values (?, ?, ?, ${chunkState('ready')}, ?, ?, ?, ?)`,
      chunk.run,
      chunk.content,
      JSON.stringify(members),
      Number(exact),
      tries,
      chunk.first_tried_at,
      at,
    )
  }

  claim(number: number, { claim_id, claimed_until, now }: ChunkClaim): void {
    this.#sql.exec(
      `update chunks set state = ${chunkState('claimed')}, claim_id = ?, claimed_until = ?, tries = tries + 1,
        first_tried_at = coalesce(first_tried_at, ?) where number = ?`,
      claim_id,
      claimed_until,
      now,
      number,
    )
  }

  begin(number: number, members: readonly number[]): void {
    this.#sql.exec(
      `update chunks set state = ${chunkState('begun')}, members = ? where number = ?`,
      JSON.stringify(members),
      number,
    )
  }

  setMembers(number: number, members: readonly number[]): void {
    this.#sql.exec('update chunks set members = ? where number = ?', JSON.stringify(members), number)
  }

  /** Makes a chunk claimable again after its claim has expired. */
  returnToReady(number: number, isRepeat: boolean, now: number): void {
    this.#sql.exec(
      `update chunks set state = ${chunkState('ready')}, claim_id = null, claimed_until = null, is_repeat = ?, not_before = ? where number = ?`,
      Number(isRepeat),
      now,
      number,
    )
  }

  remove(number: number): void {
    this.#sql.exec('delete from chunks where number = ?', number)
  }

  /** Deletes chunks that are not claimed and cannot have been sent. Their recipients get into new chunks. */
  deleteUnsent(): void {
    this.#sql.exec(`delete from chunks where state = ${chunkState('ready')} and is_repeat = 0`)
  }

  /** The first end of a claim, and the first time at which a chunk may be claimed. */
  nextTimes(): { claimed_until: number | null; not_before: number | null } {
    return this.#sql
      .exec<{ claimed_until: number | null; not_before: number | null }>(
        `select min(iif(state = ${chunkState('ready')}, null, claimed_until)) as claimed_until,
          min(iif(state = ${chunkState('ready')}, not_before, null)) as not_before from chunks`,
      )
      .one()
  }
}
