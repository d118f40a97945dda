/** The cost of a request in the database. D1 bills rows read and written. */
export interface Meter {
  queries: number
  round_trips: number
  rows_read: number
  rows_written: number
}

export const newMeter = (): Meter => ({ queries: 0, round_trips: 0, rows_read: 0, rows_written: 0 })
