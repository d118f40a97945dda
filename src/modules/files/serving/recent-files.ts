/** The row of a public file. */
interface RecentRow {
  id: string
}

interface Recent<Row extends RecentRow> {
  row: Row
  readAt: number
}

const keptMs = 60_000
const mostKept = 1000

/**
 * Rows of public files that this isolate read within the last minute: a range is read from the store alone. Copies in
 * our caches are served as long without a look at the database.
 */
export class RecentFiles<Row extends RecentRow> {
  readonly #files = new Map<string, Recent<Row>>()

  find(id: string, now: number): Recent<Row> | undefined {
    const found = this.#files.get(id)
    if (!found || (now >= found.readAt && now < found.readAt + keptMs)) return found
    this.forget(id)
    return undefined
  }

  keep(row: Row, readAt: number): void {
    this.forget(row.id)
    const [oldest] = this.#files.keys()
    if (this.#files.size >= mostKept && oldest !== undefined) this.forget(oldest)
    this.#files.set(row.id, { row, readAt })
  }

  forget(id: string): void {
    this.#files.delete(id)
  }
}
