export interface RunSizes {
  /** Organisations with fewer orders have no runs. */
  fewestRows: number
  /** Of a chunk. */
  orders: number
  /** Fewer orders that are due are read one by one. */
  fewestDue: number
  /** A delta of more orders than this, and than a sixteenth of its main run up to the most, asks for a new main run. */
  fewestInDelta: number
  mostInDelta: number
  /** Transactions. */
  stepsASweep: number
}

export const runSizes: RunSizes = {
  fewestRows: 20_000,
  orders: 16_384,
  fewestDue: 50,
  fewestInDelta: 1000,
  mostInDelta: 8192,
  stepsASweep: 40,
}
