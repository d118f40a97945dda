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
  #isDue = false
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
    if (this.#options.isUrgent()) void this.#flush()
    else this.#timer ??= setTimeout(() => void this.#flush(), this.#options.gatherMs)
  }

  async #flush(): Promise<void> {
    this.#isDue = true
    if (this.#isWriting) return
    this.#isWriting = true
    while (this.#isDue && this.#items.length > 0) {
      this.#isDue = false
      clearTimeout(this.#timer)
      this.#timer = undefined
      await this.#options.write(this.#items.splice(0))
    }
    this.#isWriting = false
  }
}
