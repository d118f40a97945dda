/** The platform's list prices in billionths of a dollar each, without what a plan includes. */
export const prices = {
  invocations: { label: 'Invocation of the Worker: request, cron, batch of a queue', price: 300 },
  rows_read: { label: 'Row read, of D1 or of an object', price: 1 },
  rows_written: { label: 'Row written, and each entry of an index with it', price: 1000 },
  queue_operations: { label: 'Queue operation (64 KB): a message is written, read and deleted', price: 400 },
  object_requests: { label: 'Request to an object', price: 150 },
  bucket_writes: { label: 'Write to the bucket', price: 4500 },
  bucket_reads: { label: 'Read from the bucket', price: 360 },
} as const

export type Unit = keyof typeof prices
export type Units = Record<Unit, number>

export const unitNames = Object.keys(prices) as Unit[]

export const noUnits = (): Units => Object.fromEntries(unitNames.map((name) => [name, 0])) as Units

/** Returns the dollars for a million acts. */
export const dollarsAMillion = (units: Partial<Units>): number =>
  unitNames.reduce((sum, name) => sum + (units[name] ?? 0) * prices[name].price, 0) / 1000
