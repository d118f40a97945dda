import type { CampaignRecord } from './schema.ts'

/** A chunk that is out: its members never change, but for those that are left out before the first call. */
export interface Chunk {
  number: number
  run: number
  content: number
  members: string
  /** ready: may be claimed. leased: somebody holds it. begun: and says that calls are being made. */
  state: 'ready' | 'leased' | 'begun'
  is_repeat: number
  tries: number
  first_tried_at: number | null
  not_before: number
  lease: string | null
  lease_until: number | null
}

export interface Follower {
  members: readonly number[]
  /** The same call is made again. */
  exact: boolean
  tries: number
  at: number
}

export const membersOf = (chunk: Chunk): number[] => JSON.parse(chunk.members) as number[]

/** The chunks of a campaign that are not done. */
export class ChunkShelf {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  #rows(query: string, ...values: SqlStorageValue[]): Chunk[] {
    return this.#sql.exec(query, ...values).toArray() as unknown as Chunk[]
  }

  held(number: number, lease: string): Chunk | null {
    const [chunk] = this.#rows('select * from chunks where number = ?', number)
    return chunk && chunk.state !== 'ready' && chunk.lease === lease ? chunk : null
  }

  overdue(now: number): Chunk[] {
    return this.#rows("select * from chunks where state <> 'ready' and lease_until <= ? order by number", now)
  }

  /** The next that may be claimed. */
  ready(now: number): Chunk | undefined {
    return this.#rows("select * from chunks where state = 'ready' and not_before <= ? order by number limit 1", now)[0]
  }

  unclaimed(): Chunk[] {
    return this.#rows("select * from chunks where state = 'ready'")
  }

  /** How many are held. */
  out(now: number): number {
    return this.#sql
      .exec<{ n: number }>("select count(*) as n from chunks where state <> 'ready' and lease_until > ?", now)
      .one().n
  }

  count(): number {
    return this.#sql.exec<{ n: number }>('select count(*) as n from chunks').one().n
  }

  add(record: CampaignRecord, members: readonly number[], now: number): Chunk | null {
    const [chunk] = this.#rows(
      "insert into chunks (run, content, members, state, not_before) values (?, ?, ?, 'ready', ?) returning *",
      record.run,
      record.content,
      JSON.stringify(members),
      now,
    )
    return chunk ?? null
  }

  follow(chunk: Chunk, { members, exact, tries, at }: Follower): void {
    this.#sql.exec(
      `insert into chunks (run, content, members, state, is_repeat, tries, first_tried_at, not_before)
       values (?, ?, ?, 'ready', ?, ?, ?, ?)`,
      chunk.run,
      chunk.content,
      JSON.stringify(members),
      Number(exact),
      tries,
      chunk.first_tried_at,
      at,
    )
  }

  lease(number: number, lease: string, now: number, until: number): void {
    this.#sql.exec(
      `update chunks set state = 'leased', lease = ?, lease_until = ?, tries = tries + 1,
        first_tried_at = coalesce(first_tried_at, ?) where number = ?`,
      lease,
      until,
      now,
      number,
    )
  }

  begin(number: number, members: readonly number[]): void {
    this.#sql.exec("update chunks set state = 'begun', members = ? where number = ?", JSON.stringify(members), number)
  }

  trim(number: number, members: readonly number[]): void {
    this.#sql.exec('update chunks set members = ? where number = ?', JSON.stringify(members), number)
  }

  /** Puts a chunk back whose lease is over. */
  free(number: number, isRepeat: boolean, now: number): void {
    this.#sql.exec(
      "update chunks set state = 'ready', lease = null, lease_until = null, is_repeat = ?, not_before = ? where number = ?",
      Number(isRepeat),
      now,
      number,
    )
  }

  remove(number: number): void {
    this.#sql.exec('delete from chunks where number = ?', number)
  }

  /** Lets go of what nobody holds and cannot have been sent: its recipients are cut anew. */
  release(): void {
    this.#sql.exec("delete from chunks where state = 'ready' and is_repeat = 0")
  }

  /** The first end of a lease, and the first chunk that may be claimed. */
  next(): { lease_until: number | null; not_before: number | null } {
    return this.#sql
      .exec<{ lease_until: number | null; not_before: number | null }>(
        `select min(iif(state = 'ready', null, lease_until)) as lease_until,
          min(iif(state = 'ready', not_before, null)) as not_before from chunks`,
      )
      .one()
  }
}
