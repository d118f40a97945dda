interface Item<Task> {
  task: Task
  /** Looks since it was added or begun. */
  looks: number
}

interface WorkerPoolOptions<Task> {
  size: number
  /** Never rejects. */
  run: (task: Task) => Promise<void>
  /** Takes tasks that the pool does not run any more, and those that held them up. */
  giveAway: (tasks: Task[], heldUpBy: Task[]) => void
  lookEveryMs: number
}

/** All slots are held when each task in them was there at so many looks. One look may itself come late. */
const looksUntilHeld = 2
/** A task waits for at most so many checks while another one has run for as long. */
const looksUntilLate = 5

/**
 * Runs tasks in the order in which they came, `size` at once. All that wait are given away when every slot has been
 * held for two checks, or when one of them has waited for five checks while a task has run as long. While tasks end
 * quickly, others wait as long as the line is, so that a busy machine does not get busier.
 */
export class WorkerPool<Task> {
  readonly #options: WorkerPoolOptions<Task>
  readonly #running = new Set<Item<Task>>()
  readonly #waiting: Item<Task>[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #changes = 0

  constructor(options: WorkerPoolOptions<Task>) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Grows with every task that is added or ends. */
  get changes(): number {
    return this.#changes
  }

  add(tasks: readonly Task[]): void {
    this.#changes += tasks.length
    this.#waiting.push(...tasks.map((task) => ({ task, looks: 0 })))
    this.#fill()
  }

  #fill(): void {
    while (this.#running.size < this.#options.size) {
      const item = this.#waiting.shift()
      if (!item) break
      void this.#run(item)
    }
    if (this.#waiting.length > 0) {
      this.#timer ??= setTimeout(() => this.#checkProgress(), this.#options.lookEveryMs)
    } else {
      clearTimeout(this.#timer)
      this.#timer = undefined
    }
  }

  async #run({ task }: Item<Task>): Promise<void> {
    const item = { task, looks: 0 }
    this.#running.add(item)
    await this.#options.run(task)
    this.#running.delete(item)
    this.#changes++
    this.#fill()
  }

  #checkProgress(): void {
    this.#timer = undefined
    for (const item of [...this.#running, ...this.#waiting]) item.looks++
    const heldUpBy = [...this.#running].filter(hasSeen(looksUntilHeld))
    const areAllHeld = heldUpBy.length === this.#options.size
    const isOneLate = this.#waiting.some(hasSeen(looksUntilLate)) && heldUpBy.some(hasSeen(looksUntilLate))
    if (areAllHeld || isOneLate) this.#options.giveAway(this.#waiting.splice(0).map(taskOf), heldUpBy.map(taskOf))
    this.#fill()
  }
}

const taskOf = <Task>({ task }: Item<Task>): Task => task

const hasSeen =
  (looks: number) =>
  (item: Item<unknown>): boolean =>
    item.looks >= looks
