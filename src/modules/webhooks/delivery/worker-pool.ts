interface Item<Task> {
  task: Task
  /** Looks of the pool since the task was added or begun. */
  looks: number
}

interface WorkerPoolOptions<Task> {
  size: number
  /** Tasks of one owner may all hang together. */
  ownerOf: (task: Task) => string
  /** Never rejects. */
  run: (task: Task) => Promise<void>
  /** Takes the tasks that the pool gives away, and those that kept them waiting. */
  giveAway: (tasks: Task[], heldUpBy: Task[]) => void
  lookEveryMs: number
}

/** A running task hangs after so many looks. One would not do, because a look may come late. */
const looksUntilHeld = 2
/** A waiting task is given away after so many looks, if a running task was there for as many. */
const looksUntilLate = 5

/**
 * Runs tasks, `size` at once, in the order in which they came. A task whose owner has fewer tasks running goes first, so
 * that an owner whose tasks hang takes no more than one slot while others wait. The pool looks at its tasks at intervals. All waiting tasks are
 * given away when every running task was there at two looks, or when a waiting and a running task were there at five.
 * While tasks end quickly, nothing is given away, so that a busy machine does not get busier.
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
      const item = this.#takeNext()
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

  #takeNext(): Item<Task> | undefined {
    const { ownerOf } = this.#options
    const busy = [...this.#running].map(({ task }) => ownerOf(task))
    let [next, fewest] = [0, Number.POSITIVE_INFINITY]
    for (const [at, { task }] of this.#waiting.entries()) {
      const owner = ownerOf(task)
      const running = busy.filter((one) => one === owner).length
      if (running < fewest) [next, fewest] = [at, running]
      if (fewest === 0) break
    }
    return this.#waiting.splice(next, 1)[0]
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
