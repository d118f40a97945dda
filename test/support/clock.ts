/** The time at which the clock of a run starts, and how many of its seconds pass in one second. */
export interface TestClock {
  startsAt: string
  rate: string
}

const isSet = Symbol.for('the clock of the tests is set')

/**
 * Runs all tests at another time, or as if the machine were this much slower. Both find tests that hold only today, or
 * only while the machine is fast. Timers stay real.
 */
export function setTestClock({ startsAt, rate }: TestClock): void {
  if ((!startsAt && !rate) || isSet in globalThis) return
  const realNow = Date.now.bind(Date)
  const began = realNow()
  const start = startsAt ? Date.parse(startsAt) : began
  const now = () => Math.floor(start + (realNow() - began) * Number(rate || 1))
  Date.now = now
  const construct = (target: DateConstructor, args: [], maker: DateConstructor) =>
    Reflect.construct(target, args.length ? args : [now()], maker)
  Object.assign(globalThis, { [isSet]: true, Date: new Proxy(Date, { construct }) })
}
