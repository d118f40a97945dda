export interface Lifecycle<State extends string> {
  initial: State
  states: readonly [State, ...State[]]
  targetsOf(state: State): readonly State[]
  sourcesOf(target: State): State[]
  allows(from: State, to: State): boolean
  isTerminal(state: State): boolean
}

/** Declares a state machine: for each state, the states that may follow. */
export function lifecycle<const State extends string>(
  initial: NoInfer<State>,
  edges: Record<State, readonly NoInfer<State>[]>,
): Lifecycle<State> {
  const states = Object.keys(edges) as [State, ...State[]]
  return {
    initial,
    states,
    targetsOf: (state) => edges[state],
    sourcesOf: (target) => states.filter((state) => edges[state].includes(target)),
    allows: (from, to) => edges[from].includes(to),
    isTerminal: (state) => edges[state].length === 0,
  }
}
