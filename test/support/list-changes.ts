import * as fc from 'fast-check'

const some = fc.record({ part: fc.constantFrom(3, 40, 700), rest: fc.nat({ max: 700 }) })

/** What may happen to the rows of an organisation of three editions, with what changes may set. Time passes, and sweeps run. */
export const changesOf = <Set extends string>(...sets: Set[]) =>
  fc.oneof(
    fc.record({
      act: fc.constant('insert' as const),
      many: fc.constantFrom(1, 6, 120),
      /** Before now. */
      age: fc.constantFrom(0, 0, 60_000, 86_400_000),
      edition: fc.nat({ max: 2 }),
    }),
    fc.record({ act: fc.constant('change' as const), some, set: fc.constantFrom(...sets), isLater: fc.boolean() }),
    fc.record({ act: fc.constant('delete' as const), some }),
    fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(60_000, 700_000) }),
    fc.record({ act: fc.constant('settle' as const), steps: fc.constantFrom(1, 3, 10_000) }),
  )
