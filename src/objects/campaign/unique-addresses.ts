import type { NewRecipient } from '../../domain/campaigns/sender.ts'
import { everyone } from './pack-store.ts'
import { recipientState } from './schema.ts'

/**
 * Several people may share a telephone number, which gets one SMS. Kept in memory while recipients are added: an index
 * would write a row for each of them.
 */
export class UniqueAddresses {
  readonly #sql: SqlStorage
  #taken: { addresses: Set<string>; numbers: Set<number> } | null = null

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  /** Has the recipients read again before the next are added: they have changed. */
  forget(): void {
    this.#taken = null
  }

  /** The same people, those who share the address of another one with that reason. */
  withReasons(people: readonly NewRecipient[]): NewRecipient[] {
    const { addresses, numbers } = (this.#taken ??= this.#read())
    return people.map((one) => {
      // Who is a recipient already stays as before, with the address of then.
      if (one.reason !== null || numbers.has(one.n)) return one
      if (addresses.has(one.address)) return { ...one, reason: 'duplicate_address' }
      addresses.add(one.address)
      return one
    })
  }

  #read(): { addresses: Set<string>; numbers: Set<number> } {
    const addresses = new Set<string>()
    const numbers = new Set<number>()
    const rows = this.#sql.exec<{ n: number; address: string; is_skipped: number }>(
      `select n, address, state = ${recipientState('skipped')} as is_skipped from ${everyone}`,
    )
    for (const { n, address, is_skipped } of rows) {
      numbers.add(n)
      if (!is_skipped) addresses.add(address)
    }
    return { addresses, numbers }
  }
}
