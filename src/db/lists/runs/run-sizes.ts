export interface RunSizes {
  /** Organisations with fewer rows have no runs. */
  fewestRows: number
  /** Of a chunk. */
  rows: number
  /** Fewer rows that are due are read one by one. */
  fewestDue: number
  /** A delta of more rows than this, and than a sixteenth of its main run up to the most, asks for a new main run. */
  fewestInDelta: number
  mostInDelta: number
  /** Transactions. */
  stepsASweep: number
}

export const runSizes: RunSizes = {
  fewestRows: 20_000,
  rows: 16_384,
  fewestDue: 50,
  fewestInDelta: 1000,
  mostInDelta: 8192,
  stepsASweep: 40,
}
