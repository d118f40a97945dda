interface Item<Task> {
  task: Task
  /** Looks since it was added or begun. */
  looks: number
}

interface Options<Task> {
  size: number
  /** Never rejects. */
  run: (task: Task) => Promise<void>
  /** Takes tasks that the pool does not run any more, and those that held them up. */
  giveAway: (tasks: Task[], heldUpBy: Task[]) => void
  lookEveryMs: number
}

/** What was here at so many looks in a row is late. One look may come late itself, when the machine is busy. */
const looksUntilLate = 2

/**
 * Runs tasks in the order in which they came, `size` at once. While a task runs late, others wait no longer than three
 * looks: then all that wait are given away. While all run quickly, they wait as long as the line is.
 */
export class WorkerPool<Task> {
  readonly #options: Options<Task>
  readonly #running = new Set<Item<Task>>()
  readonly #waiting: Item<Task>[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #listeners: (() => void)[] = []

  constructor(options: Options<Task>) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.length
  }

  add(tasks: readonly Task[]): void {
    this.#waiting.push(...tasks.map((task) => ({ task, looks: 0 })))
    this.#fill()
  }

  /** Resolves as soon as no task waits: each has begun or was given away. */
  async noneWaits(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => this.#listeners.push(resolve))
  }

  #fill(): void {
    while (this.#running.size < this.#options.size) {
      const item = this.#waiting.shift()
      if (!item) break
      void this.#run(item)
    }
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.#look(), this.#options.lookEveryMs)
    else this.#rest()
  }

  async #run({ task }: Item<Task>): Promise<void> {
    const item = { task, looks: 0 }
    this.#running.add(item)
    await this.#options.run(task)
    this.#running.delete(item)
    this.#fill()
  }

  #look(): void {
    this.#timer = undefined
    for (const item of [...this.#running, ...this.#waiting]) item.looks++
    const heldUpBy = [...this.#running].filter(isLate)
    if (heldUpBy.length > 0 && this.#waiting.some(isLate))
      this.#options.giveAway(this.#waiting.splice(0).map(taskOf), heldUpBy.map(taskOf))
    this.#fill()
  }

  #rest(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const listener of this.#listeners.splice(0)) listener()
  }
}

const taskOf = <Task>({ task }: Item<Task>): Task => task

const isLate = ({ looks }: Item<unknown>): boolean => looks >= looksUntilLate
