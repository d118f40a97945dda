interface BatchWriterOptions<Item> {
  /** Writes one batch; called again only when it is done. Never rejects. */
  write: (items: Item[]) => Promise<void>
  /** Whether to write at once instead of waiting for more items. */
  isUrgent: () => boolean
  gatherMs: number
}

/** Writes items in batches, one batch at a time: items that are added meanwhile are the next batch. */
export class BatchWriter<Item> {
  readonly #options: BatchWriterOptions<Item>
  #items: Item[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
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
    if (this.#isWriting) return
    if (this.#options.isUrgent()) void this.#writeAll()
    else this.#timer ??= setTimeout(() => void this.#writeAll(), this.#options.gatherMs)
  }

  /** A batch may bring new work, so whether the next one is urgent is asked when it is written. */
  async #writeAll(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isWriting = true
    do await this.#options.write(this.#items.splice(0))
    while (this.#items.length > 0 && this.#options.isUrgent())
    this.#isWriting = false
    if (this.#items.length > 0) this.#timer = setTimeout(() => void this.#writeAll(), this.#options.gatherMs)
  }
}
