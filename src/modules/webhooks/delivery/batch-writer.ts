interface BatchWriterOptions<Item> {
  /** Writes one batch; called again only when it is done. Never rejects. */
  write: (items: Item[]) => Promise<void>
  /** How long to wait for more items from now on; 0 writes at once. */
  gatherMs: () => number
}

/** Writes items in batches, one batch at a time: items that are added meanwhile are the next batch. */
export class BatchWriter<Item> {
  readonly #options: BatchWriterOptions<Item>
  #items: Item[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #isWriting = false

  constructor(options: BatchWriterOptions<Item>) {
    this.#options = options
  }

  /** Nothing is being written, and nothing waits for it. */
  get isIdle(): boolean {
    return !this.#isWriting && this.#items.length === 0
  }

  add(item: Item): void {
    this.#items.push(item)
    if (!this.#isWriting) this.#writeIn(this.#options.gatherMs())
  }

  #writeIn(ms: number): void {
    if (ms === 0) return void this.#write()
    const dueAt = performance.now() + ms
    if (dueAt >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = dueAt
    this.#timer = setTimeout(() => void this.#write(), ms)
  }

  /** A batch may bring new work, so how long to wait is asked again when it is written. */
  async #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#isWriting = true
    await this.#options.write(this.#items.splice(0))
    this.#isWriting = false
    if (this.#items.length > 0) this.#writeIn(this.#options.gatherMs())
  }
}
